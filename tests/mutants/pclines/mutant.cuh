/*
 * mutant.cuh: what the mutants of pclines on a device share: a block a row, and outputs=accumulator alone.
 */
#ifndef RUNGS_PCLINES_MUTANT_CUH
#define RUNGS_PCLINES_MUTANT_CUH

#include "common/algo/pclines.h"
#include "common/cuda/device.h"

enum { MUTANT_THREADS = 64 };

struct state {
    int unused;
};

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct pclines_params *params = (const struct pclines_params *)params_erased;

    if (params->hough.outputs != HOUGH_ACCUMULATOR || params->hough.edges != HOUGH_NONZERO)
        return "the accumulator of pixels that are not 0 alone";
    return in->width > 2048 || in->height > 2048 ? "its counters hold small pictures" : NULL;
}

#endif
