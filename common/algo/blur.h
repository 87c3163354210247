/*
 * blur.h: Gaussian blur, the contract of every version in cpu/blur, cuda/blur and peers/blur.
 *
 * Input    one u8 image, 1 or 3 channels (interleaved), any size from 1x1.
 * Output   an u8 image of the same shape.
 *
 * Formula  With r = (ksize-1)/2 and 1-D integer weights w[0..ksize-1], sum 256 (8 fractional bits):
 *
 *              out(x,y) = ( SUM_j SUM_i  w[j] * w[i] * in(clamp(x+i-r), clamp(y+j-r))  +  2^15 ) >> 16
 *
 *          for each channel by itself; i and j run from 0 to ksize-1, clamp() replicates the border pixel. The sums
 *          are exact (at most 255 * 65536 < 2^24), so the order of summation, and whether the two sums are nested or
 *          done one after the other, changes nothing: all versions agree to the bit. There is one rounding, at the
 *          end, half up.
 *
 * Weights  blur_weights() below: the Gaussian exp(-(i-r)^2 / (2 sigma^2)), normalised to 256, rounded (half to even)
 *          from the tails to the centre with the rounding error carried along, the centre taking what is left of 256:
 *          symmetric, sum exactly 256. They may reach 256 (sigma 0.1: 0 256 0), so they need 9 bits.
 *
 * OpenCV   rounds its 8-bit weights the same way and sums as exactly. Its GaussianBlur with BORDER_REPLICATE and the
 *          sigma given is met to the bit (the contract asks for 1 grey level): no sample of 43 million differed from
 *          4.6's, over all ksize, 35 sigmas, images from 1x1 to 70x37, random and extreme, 1 and 3 channels, nor of
 *          45000 random rows over all ksize and 3000 sigmas.
 *
 * Accuracy Against the same kernel in real numbers, unrounded: on random images 0.32 grey levels away on average at
 *          most (0.25 is the share of the final rounding alone), 1.43 at worst, over all ksize with the derived sigma.
 *          An adversarial image, black and white along the sign of the weights' errors, can reach
 *          255 * SUM_ji |w[j]w[i]/65536 - g[j]g[i]| / 2 + 0.5: 3.6 levels at ksize 15, 8.8 at the worst ksize, 25; for
 *          any legal sigma 11.6 (ksize 29, sigma 12).
 *
 * Parameters   ksize  odd, 3..31, default 15, in pixels
 *              sigma  0.1..100 pixels; 0 (the default) = 0.3*((ksize-1)*0.5 - 1) + 0.8, as OpenCV derives it.
 *                     (OpenCV itself uses a fixed table in place of that formula when ksize <= 7 and no sigma is
 *                     given; Rungs always uses the formula, and hands OpenCV the derived sigma.)
 *
 * Source   separable Gaussian filtering: Gonzalez and Woods, Digital Image Processing, 4th edition, section 3.5.
 */
#ifndef RUNGS_BLUR_H
#define RUNGS_BLUR_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLUR_MAX_KSIZE = 31, BLUR_WEIGHT_BITS = 8 };

struct blur_params {
    int ksize;
    double sigma; /* never 0 after parsing: the derived value stands here */
};

/* Writes the ksize weights. Deterministic: the same on every machine whose exp() is within 1 ulp. */
void blur_weights(const struct blur_params *params, uint16_t weights[BLUR_MAX_KSIZE]);

#ifdef __cplusplus
}
#endif
#endif
