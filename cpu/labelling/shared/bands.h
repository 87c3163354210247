/*
 * bands.h: the rows of an image cut into bands, four for each thread where there are several: components are not spread
 * evenly, and a thread that ends early takes another band.
 */
#ifndef RUNGS_LABELLING_BANDS_H
#define RUNGS_LABELLING_BANDS_H

#include <omp.h>
#include <stdint.h>

static inline int bands_count(int height)
{
    const int wanted = omp_get_max_threads() > 1 ? 4 * omp_get_max_threads() : 1, most = (height + 1) / 2;

    return wanted < most ? wanted : most;
}

/* The first row of a band; of the one behind the last, the height. */
static inline int bands_top(int height, int band, int bands)
{
    return (int)((int64_t)height * band / bands);
}

#endif
