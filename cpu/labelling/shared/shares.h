/*
 * shares.h: what is numbered, cleared and written for components, by all threads.
 */
#ifndef RUNGS_LABELLING_STEPS_SHARES_H
#define RUNGS_LABELLING_STEPS_SHARES_H

#include <string.h>

#include "cpu/labelling/shared/early.h"
#include "cpu/labelling/shared/sums.h"

/* How many runs of row y are roots. */
SIMD_INLINE void shares_count(struct runs *runs, int y)
{
    int32_t roots = 0;

    for (int32_t i = runs->first[y]; i < runs->first[y] + runs->count[y]; i++)
        roots += (runs->parent[i] == i) & (runs->hung[i] == i);
    runs->roots[y] = roots;
}

/* early_numbers() for row y, when the roots of all rows are counted; those of `before` come first. */
static inline void shares_number(struct runs *runs, struct image out[], const struct labelling_params *params, int y,
                                 int32_t before)
{
    for (int32_t i = runs->first[y]; i < runs->first[y] + runs->count[y]; i++) {
        if (runs->parent[i] != i || runs->hung[i] != i)
            continue;
        runs->number[i] = ++before;
        if (params->consecutive)
            runs->label[i] = before;
        if (params->statistics && before <= params->max_components)
            *(int32_t *)image_row(&out[1], before) = runs->label[i];
    }
}

/* Roots before each row in place of those in it. Returns how many there are. */
static inline int32_t shares_before(struct runs *runs, int height)
{
    int32_t before = 0;

    for (int y = 0; y < height; y++) {
        const int32_t own = runs->roots[y];
        runs->roots[y] = before;
        before += own;
    }
    return before;
}

/* early_numbers() by all threads, each of which calls it. */
static inline void shares_numbers(struct runs *runs, struct image out[], const struct labelling_params *params,
                                  int32_t *count)
{
#pragma omp for schedule(static) nowait
    for (int i = 0; i < (params->statistics ? out[1].height : 0); i++)
        memset(image_row(&out[1], i), 0, 8 * sizeof(int32_t));
#pragma omp for schedule(dynamic, 64)
    for (int y = 0; y < out->height; y++)
        shares_count(runs, y);
#pragma omp single
    *count = shares_before(runs, out->height);
#pragma omp for schedule(dynamic, 64)
    for (int y = 0; y < out->height; y++)
        shares_number(runs, out, params, y, runs->roots[y]);
}

#endif
