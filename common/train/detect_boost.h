/*
 * detect_boost.h: one round of AdaBoost over tables: the feature, and its table, that separates weighted samples best.
 */
#ifndef RUNGS_DETECT_BOOST_H
#define RUNGS_DETECT_BOOST_H

#include "common/train/detect_samples.h"

/* Tries `features` random ones (of `seed`) and fills in the best: feature and table of `stage`; *z gets its normaliser,
 * the bound on the factor by which this round lowers the training error. Weights are whole numbers, so that their sums,
 * and with them the choice, are the same whatever the threads. */
enum status boost_choose(const struct samples *positives, const struct samples *negatives, int feature, int features,
                         uint64_t seed, int threads, struct detect_stage *stage, float *table, double *z);

#endif
