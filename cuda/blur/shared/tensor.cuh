/*
 * tensor.cuh: what v1.10 to v1.13 and v2.1 of blur share: a banded matrix of weights as operands of mma_m16n8k32_u8 (mma.cuh).
 *
 * A warp gives a strip of 32 bytes, band by band of 16 rows. Along rows, 2 tiles of 16 bytes are a product each with all bytes
 * from 16 pixels left of the strip on, 64 bytes a load of the warp; down columns, a band is a product with 32 or 64 rows.
 */
#ifndef RUNGS_BLUR_TENSOR_CUH
#define RUNGS_BLUR_TENSOR_CUH

#include "common/algo/blur.h"
#include "common/cuda/border.cuh"
#include "common/cuda/bytes.cuh"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

static constexpr int STRIP = 32, BAND = 16;
/* Sums of the first 2 and last 3 strips may reach past the image: these have weights of their own, the others share. */
enum { LEFT_STRIPS = 2, STRIP_KINDS = 6 };

struct blur_operands {
    uint4 *weights; /* device, a uint4 a lane: for the columns [products], then for the rows [kind][tile][step] */
    int kinds, products;
    bool identity; /* the result is the image */
};

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

/* From where a lane loads its 16 bytes of a row, 64 bytes a load of the warp, from 16 pixels left of the strip on. */
template <int CHANNELS>
static __device__ inline void blur_sources(const uint8_t *from[(CHANNELS + 1) / 2], const struct image &in, int strip,
                                           int member, int row_bytes)
{
    for (int k = 0; k < (CHANNELS + 1) / 2; k++)
        from[k] = keep_pointer((const uint8_t *)in.data +
                               border_source(strip * STRIP - 16 * CHANNELS + 64 * k + 16 * member, row_bytes, 16));
}

/* Which of the operands for the rows are those of a strip. */
static __device__ inline int blur_strip_kind(int strip, int strips, int kinds)
{
    return strip < LEFT_STRIPS ? strip : max((int)LEFT_STRIPS, strip - (strips - kinds));
}

/* The lane's part of the operands for the rows of such a strip; `first` others come before them. */
template <int LOADS>
static __device__ inline void blur_load_along(unsigned along[2][2 * LOADS][4], const uint4 *weights, int first,
                                              int kind, int lane)
{
    for (int k = 0; k < 4 * LOADS; k++)
        *(uint4 *)along[k / (2 * LOADS)][k % (2 * LOADS)] = weights[32 * (first + kind * 4 * LOADS + k) + lane];
}

/* Sums along the rows of a band: sums[tile][row / 8] of 16 bytes by 8 rows. */
template <int LOADS>
static __device__ inline void blur_along(int sums[2][2][4], const unsigned along[2][2 * LOADS][4],
                                         const unsigned pixels[2][LOADS][4])
{
    for (int k = 0; k < 2 * LOADS; k++)
        for (int tile = 0; tile < 2; tile++)
            for (int half = 0; half < 2; half++)
                mma_m16n8k32_u8(sums[tile][half], along[tile][k], &pixels[half][k / 2][2 * (k % 2)], sums[tile][half]);
}

/* Sums down the columns of bands [band][tile][half], as low and high bytes: bytes[row / 8][tile] of the result. DOWN is how many
 * products of 32 rows a sum takes, 1 up to radius 8, else 2; the first band is 8 * DOWN rows above the result. */
template <int DOWN>
static __device__ inline void blur_down(unsigned bytes[2][2], const unsigned down[DOWN][4],
                                        const unsigned low[2 * DOWN][2][2], const unsigned high[2 * DOWN][2][2])
{
    for (int tile = 0; tile < 2; tile++) {
        int results[2][4];
        for (int half = 0; half < 2; half++) {
            int upper[4] = {}, lower[4] = {1 << 15, 1 << 15, 1 << 15, 1 << 15};
            for (int k = 0; k < DOWN; k++) {
                const unsigned highs[2] = {high[2 * k][tile][half], high[2 * k + 1][tile][half]};
                const unsigned lows[2] = {low[2 * k][tile][half], low[2 * k + 1][tile][half]};
                mma_m16n8k32_u8(upper, down[k], highs, upper);
                mma_m16n8k32_u8(lower, down[k], lows, lower);
            }
            for (int k = 0; k < 4; k++)
                results[half][k] = 256 * upper[k] + lower[k];
        }
        for (int k = 0; k < 2; k++)
            bytes[k][tile] =
                pack_byte2(results[0][2 * k], results[0][2 * k + 1], results[1][2 * k], results[1][2 * k + 1]);
    }
}

/* A band of the result, bytes[row / 8][4 bytes]: rows y and y + 8, 8 bytes from byte x on, those that the image has; none without
 * `given`. */
static __device__ inline void blur_store_band(const struct image &out, uint8_t *first, int y, int x, int row_bytes,
                                              const unsigned bytes[2][2], bool given)
{
    for (int k = 0; k < 2; k++) {
        const int line = y + 8 * k;
        uint8_t *to = device_row(first, out.stride, line);
        if (!given || line >= out.height)
            continue;
        if (x + 8 <= row_bytes)
            *(uint2 *)to = make_uint2(bytes[k][0], bytes[k][1]);
        else
#if !defined(RUNGS_EMULATED)
#pragma unroll 1 /* rare: unrolled, it would only part what is used */
#endif
            for (int b = 0; b < row_bytes - x; b++)
                to[b] = (uint8_t)((b < 4 ? bytes[k][0] : bytes[k][1]) >> 8 * (b % 4));
    }
}

/* The order of a product's rows and columns is free. Rows: thread `member` shall end up with 8 neighbouring bytes.
 * Columns: as a lane that loads 16 bytes of a row has them. Past the ends of the image, a weight counts the border pixel. */
static inline void weights_along(uint8_t matrices[][32][16], const struct image *in, const uint16_t *weights, int ksize,
                                 int strip)
{
    const int row_bytes = in->width * in->channels, steps = (in->channels + 1) / 2 * 2;

    for (int k = 0; k < 32 * ksize; k++) {
        const int column = k / ksize, tap = k % ksize, byte = strip * STRIP + column, c = byte % in->channels;
        int pixel = byte / in->channels + tap - ksize / 2, at;
        if (byte >= row_bytes)
            break;
        pixel = pixel < 0 ? 0 : pixel < in->width ? pixel : in->width - 1;
        at = pixel * in->channels + c - strip * STRIP + 16 * in->channels;
        /* All weights of an image 1 pixel wide count that pixel; their sum, 256, is no byte. It was loaded twice. */
        at -= in->width == 1 && tap % 2 ? 16 : 0;
        *mma_element_a(matrices[column / 4 % 2 * steps + at / 64 * 2 + at % 16 / 8],
                       column / 8 * 2 + column % 2 + column / 2 % 2 * 8, at % 8 / 4 * 16 + at % 64 / 16 * 4 + at % 4) +=
            weights[tap];
    }
}

/* Columns of operand A here: as the first product leaves the rows of two bands. */
static inline void weights_down(uint8_t matrices[][32][16], const uint16_t *weights, int ksize, int products)
{
    for (int k = 0; k < 16 * ksize; k++) {
        const int m = k / ksize, tap = k % ksize, row = m + tap - ksize / 2 + 8 * products;
        *mma_element_a(matrices[row / 32], m, row % 32 / 16 * 16 + row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2) =
            (uint8_t)weights[tap];
    }
}

/* Does nothing when they are there. */
static inline enum status blur_operands_create(struct blur_operands *operands, const struct image *in,
                                               const struct blur_params *params)
{
    enum status status = STATUS_OK;
    const int strips = (in->width * in->channels + STRIP - 1) / STRIP, rows = in->channels == 1 ? 4 : 8;
    uint16_t weights[BLUR_MAX_KSIZE];
    uint8_t matrices[2 + STRIP_KINDS * 8][32][16] = {};

    if (operands->weights)
        return STATUS_OK;
    blur_weights(params, weights);
    operands->identity =
        weights[params->ksize / 2] == 256; /* the others are 0; 256 is the one weight that is no byte */
    operands->products = params->ksize > 17 ? 2 : 1;
    operands->kinds = strips < STRIP_KINDS ? strips : STRIP_KINDS;
    weights_down(matrices, weights, params->ksize, operands->products);
    for (int k = 0; k < operands->kinds; k++)
        weights_along(&matrices[operands->products + k * rows], in, weights, params->ksize,
                      k <= LEFT_STRIPS ? k : k + strips - operands->kinds);
    TRY(device_allocate((void **)&operands->weights, sizeof matrices));
    TRY(device_upload_bytes(operands->weights, matrices, sizeof matrices));
out:
    return status;
}

/* The result where operands->identity is true. */
static inline enum status blur_copy(const struct image *in, struct image *out, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, in->data, in->stride, image_row_bytes(in), in->height,
                               cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

static inline const char *blur_tensor_unavailable(void)
{
    return device_needs_capability(80);
}

#endif
