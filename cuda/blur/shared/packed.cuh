/*
 * packed.cuh: what v1.8, v1.9 and v2.0 of blur share: weights as operands of dp4a and dp2a, and how sums become bytes.
 */
#ifndef RUNGS_BLUR_PACKED_CUH
#define RUNGS_BLUR_PACKED_CUH

#include <cuda_runtime.h>

#include "common/algo/blur.h"
#include "common/cuda/bytes.cuh"

/* The bytes of a word start at a row that is a multiple of 4 (a pixel, of 2), and sums start anywhere: so each weight
 * is there at 4 (2) displacements, with zeros around. */
struct packed_weights {
    unsigned down[4][9];         /* [row % 4][k]: for 4 rows, a byte each */
    unsigned along[2][17];       /* [pixel % 2][k]: for 2 pixels, a byte each */
    uint16_t at[BLUR_MAX_KSIZE]; /* one by one, for v1.8: zeros beside them up to radius 3, 7, 11 or 15 */
};

/* True where the one weight that is not 0 is 256, which is no byte: the result is the image, and *packed means nothing. */
static inline bool blur_pack_weights(struct packed_weights *packed, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];
    const int radius = params->ksize / 2, halo = (radius / 4 + 1) * 4;

    blur_weights(params, weights);
    *packed = {};
    for (int k = 0; k < params->ksize; k++) {
        packed->at[k + halo - 1 - radius] = weights[k];
        for (int i = 0; i < 4; i++)
            packed->down[i][(k + halo - radius + i) / 4] |= weights[k] << 8 * ((k + halo - radius + i) % 4);
        for (int i = 0; i < 2; i++)
            packed->along[i][(k + halo - radius + i) / 2] |= weights[k] << 8 * ((k + halo - radius + i) % 2);
    }
    return weights[radius] == 256;
}

/* Sums of 8 pixels, a channel each, to the bytes of these pixels: byte 2 of a sum is the result. */
template <int CHANNELS>
static __device__ inline void blur_pack(const unsigned sums[CHANNELS][8], unsigned bytes[2 * CHANNELS])
{
    for (int k = 0; k < 8 * CHANNELS; k += 4)
        bytes[k / 4] =
            pack_byte2(sums[k % CHANNELS][k / CHANNELS], sums[(k + 1) % CHANNELS][(k + 1) / CHANNELS],
                       sums[(k + 2) % CHANNELS][(k + 2) / CHANNELS], sums[(k + 3) % CHANNELS][(k + 3) / CHANNELS]);
}

#endif
