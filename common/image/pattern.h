/*
 * pattern.h: inputs that bring faults to light, for any pixel type and channel count.
 */
#ifndef RUNGS_PATTERN_H
#define RUNGS_PATTERN_H

#include <stdint.h>

#include "common/image/image.h"

enum pattern {
    PATTERN_ZERO,         /* every sample 0 */
    PATTERN_MAXIMUM,      /* every sample the largest of its type (f32: 1) */
    PATTERN_CHECKERBOARD, /* 0 and the maximum, pixel by pixel: the worst case for sums and saturation */
    PATTERN_GRADIENT,     /* rises along x, y and the channels, all different: transposed or shifted reads show */
    PATTERN_RANDOM,       /* uniform over the whole range, from a seed */
    PATTERN_BLOCKS, /* blocks of 32 x 32 pixels, each of one random value in all channels: ties, long runs, carries */
    PATTERN_COUNT
};

const char *pattern_name(enum pattern pattern);
void pattern_fill(struct image *image, enum pattern pattern, uint64_t seed);

/* The generator behind PATTERN_RANDOM (splitmix64): the next number from *state. Same on every machine. */
uint64_t pattern_random(uint64_t *state);

#endif
