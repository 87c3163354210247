/*
 * bands.h: the rows of an image cut into bands, four for each thread: components are not spread evenly, and a thread
 * that ends early takes another one.
 */
#ifndef RUNGS_LABELLING_STEPS_BANDS_H
#define RUNGS_LABELLING_STEPS_BANDS_H

#include <omp.h>
#include <stdint.h>

static inline int bands_count(int height)
{
    const int wanted = 4 * omp_get_max_threads();

    return wanted < height ? wanted : height;
}

/* The first row of a band; of the one behind the last, the height. */
static inline int bands_top(int height, int band, int bands)
{
    return (int)((int64_t)height * band / bands);
}

#endif
