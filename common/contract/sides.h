/*
 * sides.h: the sides of a ladder. The first part of a version's id names its side: cuda/v1.2 is a rung of side cuda.
 *
 * What the program asks of a side stands in one table (sides.c): its place in lists, whether its versions are rungs
 * that climb from one another or stand beside the ladder, what they need and how they are started. A new side is a line
 * there.
 */
#ifndef RUNGS_SIDES_H
#define RUNGS_SIDES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum side_limit { SIDE_LIMIT_CPU, SIDE_LIMIT_GPU, SIDE_LIMIT_NONE };

struct side {
    const char *name;       /* "cuda" */
    int order;              /* place in lists */
    bool ladder;            /* its versions are rungs: each has a rung below and Expect is asked of it */
    bool yardstick;         /* a library: what the ladder is measured against */
    bool cuda;              /* its versions need a CUDA device, or the emulator */
    enum side_limit limits; /* whose ceilings limit it: of a peer, that depends on the version (version_is_cuda()) */
};

/* The side of an id ("cuda/v1.2"). An unknown one stands beside the ladder, behind all others. */
const struct side *side_of(const char *id);

#ifdef __cplusplus
}
#endif
#endif
