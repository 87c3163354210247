/*
 * statistics.h: what the bench says about repeated measurements of one thing.
 *
 * Centre   the median: one sample that a neighbour's compile stretched tenfold does not move it.
 * Spread   the interquartile range q3 - q1. Quantiles are interpolated linearly between the sorted samples
 *          (Hyndman and Fan 1996, type 7, what R and NumPy do by default).
 * Stable   1.57 * (q3 - q1) / sqrt(n) is about half of the 95 % confidence interval of a median (McGill, Tukey and
 *          Larsen, "Variations of Box Plots", 1978). Once that is within 1 % of the median, more samples would not
 *          change what the table prints.
 * Differ   two measurements differ when their interquartile ranges do not overlap; otherwise the table says that they
 *          are not different, whichever median is the smaller.
 */
#ifndef RUNGS_STATISTICS_H
#define RUNGS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statistics {
    double median, q1, q3; /* in the samples' unit */
    size_t count;          /* 0: nothing was measured, and the rest is 0 */
};

enum { STATISTICS_STABLE_SAMPLES = 15 }; /* fewer are never called stable: their quartiles are guesses */

/* The summary of `count` finite samples, which get sorted in place. */
struct statistics statistics_of(double *samples, size_t count);

/* Whether more samples would hardly move the median (see above). */
bool statistics_stable(const struct statistics *statistics);

/* Whether both were measured and their interquartile ranges do not overlap (touching counts as overlapping). */
bool statistics_differ(const struct statistics *a, const struct statistics *b);

/* Half of the interquartile range in units of the median: the 0.03 of "1.20 ms ± 3 %"; 0 when nothing was measured. */
double statistics_spread(const struct statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
