/*
 * otsu.h: Otsu's threshold, the contract of every version in cpu/otsu, cuda/otsu and peers/otsu.
 *
 * Input    one u8 image, 1 channel, any size from 1x1 to 2^29 pixels (23170x23170; the limit keeps the comparison below
 *          within 192 bits).
 * Output   an i32 image of 1x1 pixel, 1 channel: the threshold t, 0..254. Pixels <= t are one class, pixels > t the
 *          other, which is how `threshold` applies it.
 *
 * Formula  With h(v) pixels of value v, N in all:
 *
 *              w0(t) = SUM h(v), v <= t        S0(t) = SUM v * h(v), v <= t
 *              w1(t) = N - w0(t)               S1(t) = SUM v * h(v), v > t
 *
 *          t is the one with the largest variance between the classes,
 *
 *              w0 w1 / N^2 * (S1/w1 - S0/w0)^2  =  D^2 / (w0 w1) / N^2,     D = w0 * S1 - w1 * S0,
 *
 *          and 0 where a class is empty. All of it is integers: D < 2^64, D^2 < 2^128, w0 w1 <= 2^56, and two
 *          thresholds a and b are compared as the fractions they are, D_a^2 * w_b against D_b^2 * w_a, without any
 *          rounding. So all versions agree to the bit.
 * Ties     the smallest such t. An image of one value only has no two classes, and t is 0 (as OpenCV says).
 *
 * OpenCV   threshold(THRESH_OTSU) finds the largest of the same expression in doubles, the mean of class 0 updated from
 *          one t to the next, and keeps the first of equals. It may differ from the exact answer where two thresholds
 *          are equal or all but equal (relative difference near 1e-15; its rounding then decides which is larger), and
 *          it leaves out those that split off less than 1.2e-7 (FLT_EPSILON) of all pixels, which takes an image of
 *          more than 8.4 million.
 *
 * Source   N. Otsu, A threshold selection method from gray-level histograms, IEEE Transactions on Systems, Man and
 *          Cybernetics 9(1), 1979, equations 2 to 18.
 */
#ifndef RUNGS_OTSU_H
#define RUNGS_OTSU_H

#include <stdbool.h>
#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OTSU_BINS = 256, OTSU_MAX_PIXELS = 1 << 29 };

struct otsu_params; /* there is nothing to choose */

/* What one threshold is worth: D^2 / weight, the variance between the classes times N^2. */
struct otsu_score {
    uint64_t difference; /* D */
    uint64_t weight;     /* w0 * w1, never 0 */
};

static HOST_DEVICE inline struct otsu_score otsu_score_of(uint32_t w0, uint64_t s0, uint32_t w1, uint64_t s1)
{
    struct otsu_score score = {0, 1};

    if (w0 && w1) {
        score.difference = w0 * s1 - w1 * s0;
        score.weight = (uint64_t)w0 * w1;
    }
    return score;
}

/* Whether a is worth more than b, exactly: a.difference^2 * b.weight > b.difference^2 * a.weight, in 192 bits. */
static HOST_DEVICE inline bool otsu_greater(struct otsu_score a, struct otsu_score b)
{
    typedef unsigned __int128 wide;
    const wide a_square = (wide)a.difference * a.difference, b_square = (wide)b.difference * b.difference;
    const wide a_low = (wide)(uint64_t)a_square * b.weight, b_low = (wide)(uint64_t)b_square * a.weight;
    const wide a_high = (a_square >> 64) * b.weight + (a_low >> 64),
               b_high = (b_square >> 64) * a.weight + (b_low >> 64);

    return a_high != b_high ? a_high > b_high : (uint64_t)a_low > (uint64_t)b_low;
}

/* The threshold of a histogram; what is left when the counting is done, the same for every CPU version. */
int otsu_threshold(const uint32_t histogram[OTSU_BINS]);

#ifdef __cplusplus
}
#endif
#endif
