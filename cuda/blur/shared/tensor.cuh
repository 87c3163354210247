/*
 * tensor.cuh: sums along rows as products of matrices, D = W * P, for the tensor cores (mma.cuh). A warp works on a
 * strip, 32 bytes of each row, band by band of 16 rows:
 *
 *     bytes of 8 rows, P           16 sums, W (banded)
 *                                  w0 w1 w2 ..  0  0
 *     16 px | strip | 16 px         0 w0 w1 w2 ..  0
 *     ------ 32 at a time --->      0  0 w0 w1 w2 ..
 *
 * P goes from 16 pixels left of the strip to 16 pixels right of it, 64 bytes a load of the warp; W has a weight for
 * each byte. Where a tap lies outside of the image, W adds its weight to that of the border pixel. So the first 2 and
 * the last 3 strips of a row have matrices of their own, and all others have the same.
 */
#ifndef RUNGS_BLUR_TENSOR_CUH
#define RUNGS_BLUR_TENSOR_CUH

#include "common/algo/blur.h"
#include "common/cuda/border.cuh"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

/* MATRICES: of a kind of strips, [tile of 16 results][step of 32 bytes]; gray uses the first half of them. */
static constexpr int STRIP = 32, BAND = 16, LEFT_STRIPS = 2, KINDS = 6, MATRICES = 8;

/* Rows y and y + 8: 16 bytes each, at from[k] in the image's first row; above and below the image its border rows. */
template <int LOADS>
static __device__ inline void blur_load_band(unsigned pixels[2][LOADS][4], const struct image &in, int y,
                                             const uint8_t *const from[LOADS])
{
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < LOADS; k++)
            *(uint4 *)pixels[half][k] =
                *(const uint4 *)device_row(from[k], in.stride, min(max(y + 8 * half, 0), in.height - 1));
}

/* The matrices W of a strip. The order of a product's rows and columns is free. Rows: thread `member` ends up with 8
 * neighbouring bytes of the result. Columns: in the order in which a lane that loads 16 bytes of a row has them. */
static inline void blur_matrices(uint8_t matrices[MATRICES][32][16], const struct image *in, const uint16_t *weights,
                                 int ksize, int strip)
{
    const int steps = (in->channels + 1) / 2 * 2, end = in->width * in->channels - strip * STRIP;

    for (int k = 0; k < ksize * (end < STRIP ? end : STRIP); k++) {
        const int column = k / ksize, tap = k % ksize, byte = strip * STRIP + column;
        int at = byte / in->channels + tap - ksize / 2;
        at = at < 0 ? 0 : at < in->width ? at : in->width - 1;
        at = (at + 16) * in->channels + byte % in->channels - strip * STRIP;
        /* All weights of an image 1 pixel wide count that pixel; their sum, 256, is no byte. It was loaded twice. */
        at -= in->width == 1 && tap % 2 ? 16 : 0;
        *mma_element_a(matrices[column / 4 % 2 * steps + at / 64 * 2 + at % 16 / 8],
                       column / 8 * 2 + column % 2 + column / 2 % 2 * 8, at % 8 / 4 * 16 + at % 64 / 16 * 4 + at % 4) +=
            weights[tap];
    }
}

static inline const char *blur_tensor_unavailable(void)
{
    return device_needs_capability(80);
}

#endif
