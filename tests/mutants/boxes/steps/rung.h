/*
 * rung.h: the rung that the CUDA mutants of boxes plant one fault each in: sums by atomics, then a scan over the
 * components that are large enough (cuda/boxes/v1.1).
 */
#ifndef RUNGS_MUTANT_BOXES_RUNG_H
#define RUNGS_MUTANT_BOXES_RUNG_H

#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum boxes_fault {
    PLAIN_AREA,       /* pixels are counted by += */
    NO_SCAN_BARRIER,  /* between reading and writing a place of the scan */
    CLEARED_IN_SETUP, /* the sums, not in each launch */
    CLEARED_ONCE      /* where they are allocated */
};

struct boxes_mutant {
    struct boxes_sums *table; /* device: width * height entries */
    int *counts;              /* device: of each stretch, then rows before it */
};

enum status boxes_mutant_setup(struct boxes_mutant *state, const struct image *in, enum boxes_fault fault);
enum status boxes_mutant_launch(struct boxes_mutant *state, const struct image *in, struct image *out, int min_area,
                                enum boxes_fault fault, cudaStream_t stream);
void boxes_mutant_teardown(struct boxes_mutant *state);

/* The functions of a version with that fault, whose own file registers it, since its name is the version's. */
#define BOXES_MUTANT(fault)                                                                                            \
    struct state {                                                                                                     \
        struct boxes_mutant mutant;                                                                                    \
    };                                                                                                                 \
    static enum status setup(struct state *state, const struct image in[], const struct boxes_params *)                \
    {                                                                                                                  \
        return boxes_mutant_setup(&state->mutant, in, fault);                                                          \
    }                                                                                                                  \
    static enum status launch(struct state *state, const struct image in[], struct image *out,                         \
                              const struct boxes_params *params, cudaStream_t stream)                                  \
    {                                                                                                                  \
        return boxes_mutant_launch(&state->mutant, in, out, params->min_area, fault, stream);                          \
    }                                                                                                                  \
    static void teardown(struct state *state)                                                                          \
    {                                                                                                                  \
        boxes_mutant_teardown(&state->mutant);                                                                         \
    }

#endif
