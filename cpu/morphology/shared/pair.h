/*
 * pair.h: two output rows that are computed at once, for cpu/simd and cpu/registers.
 */
#ifndef RUNGS_MORPHOLOGY_SHARED_PAIR_H
#define RUNGS_MORPHOLOGY_SHARED_PAIR_H

#include "cpu/morphology/shared/element.h"

enum { AHEAD = 4 /* rows below the last that a pair's first result reads: the pair after the next adds these */ };

struct pair {
    const uint8_t *rows[MORPHOLOGY_MAX_KSIZE + 1]; /* from `radius` rows above the first to `radius` below the second */
    const uint8_t *ahead[2], *after[2];            /* rows to prefetch: soon read; soon written */
    uint8_t *to[2];                                /* to[1] is NULL behind the last row */
    uint8_t *lines;                                /* this thread's memory for intermediate maxima */
};

/* The rows of output rows y and y + 1. `nothing` takes the place of rows outside the image. */
static inline void find_pair(const struct image *in, struct image *out, int radius, const uint8_t *nothing, int y,
                             struct pair *pair)
{
    for (int n = 0, v = y - radius; n < 2 * radius + 2; n++, v++)
        pair->rows[n] = v < 0 || v >= in->height ? nothing : image_row(in, v);
    for (int n = 0; n < 2; n++) {
        pair->ahead[n] = image_row(in, minimum(y + radius + AHEAD + n, in->height - 1));
        pair->after[n] = image_row(out, minimum(y + 4 + n, in->height - 1));
        pair->to[n] = y + n < in->height ? image_row(out, y + n) : NULL;
    }
}

#endif
