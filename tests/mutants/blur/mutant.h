/*
 * mutant.h: what the mutants share: a right answer, sample by sample, that each of them spoils in its own way.
 *
 * A mutant is a version of blur with one fault of a kind that people make. `rungs check` must fail it, and its
 * diagnosis must hold the text after "Expect:" (one of the alternatives, which " | " separates: under AddressSanitizer
 * a memory error ends the version before its result can be looked at).
 */
#ifndef RUNGS_MUTANT_H
#define RUNGS_MUTANT_H

#include "common/algo/blur.h"

#ifdef __CUDACC__
#define MUTANT_SIDE static __host__ __device__ inline
#else
#define MUTANT_SIDE static inline
#endif

MUTANT_SIDE int mutant_clamp(int value, int maximum)
{
    return value < 0 ? 0 : value > maximum ? maximum : value;
}

/* The weighted sum of one sample, before rounding. */
MUTANT_SIDE uint32_t mutant_sum(const struct image *in, const uint16_t *weights, int ksize, int x, int y, int c)
{
    const int radius = (ksize - 1) / 2;
    uint32_t sum = 0;

    for (int j = 0; j < ksize; j++) {
        const uint8_t *row = (const uint8_t *)image_row(in, mutant_clamp(y + j - radius, in->height - 1));
        uint32_t row_sum = 0;

        for (int i = 0; i < ksize; i++)
            row_sum += (uint32_t)weights[i] * row[mutant_clamp(x + i - radius, in->width - 1) * in->channels + c];
        sum += weights[j] * row_sum;
    }
    return sum;
}

/* The sample, as the contract says. */
MUTANT_SIDE uint8_t mutant_sample(const struct image *in, const uint16_t *weights, int ksize, int x, int y, int c)
{
    return (uint8_t)((mutant_sum(in, weights, ksize, x, y, c) + (1 << (2 * BLUR_WEIGHT_BITS - 1))) >>
                     (2 * BLUR_WEIGHT_BITS));
}

/* Writes one sample of a u8 image. */
MUTANT_SIDE void mutant_put(const struct image *image, int x, int y, int c, uint8_t value)
{
    ((uint8_t *)image_row(image, y))[x * image->channels + c] = value;
}

#endif
