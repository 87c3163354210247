#include "cuda/motion/shared/bit_mask.h"

/* Bit i: byte i is larger than `value`. */
static __device__ unsigned larger(unsigned bytes, unsigned value)
{
    return (__vcmpgtu4(bytes, value * 0x01010101) & 0x01010101) * 0x01020408 >> 24 & 15;
}

/* 16 pixels from x on, as half a word of the mask. */
static __device__ void write_bits(const struct bit_mask &mask, int x, int y, const unsigned words[4], unsigned value)
{
    unsigned bits = larger(words[0], value) | larger(words[1], value) << 4 | larger(words[2], value) << 8 |
                    larger(words[3], value) << 12;

    if (mask.width - x < 16)
        bits &= (1u << max(mask.width - x, 0)) - 1;
    ((uint16_t *)(mask.words + y * mask.pitch))[x / 16] = (uint16_t)bits;
}

/* The running mean's rounded value, four pixels a word; the mean moves on towards `blurred`. */
static __device__ void take_mean(const struct image &mean, int x, int y, const unsigned blurred[4], int rate,
                                 unsigned background[4])
{
    uint4 *at = (uint4 *)((uint16_t *)image_row(&mean, y) + x);
    unsigned pairs[8];

    *(uint4 *)pairs = at[0];
    *(uint4 *)(pairs + 4) = at[1];
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int shift = 16 * (i % 2), old = pairs[i / 2] >> shift & 0xffff,
                  pixel = blurred[i / 4] >> 8 * (i % 4) & 255;
        const int moved = old + (((pixel << 8) - old) >> rate);
        background[i / 4] = (i % 4 ? background[i / 4] : 0) | (unsigned)((old + 128) >> 8) << 8 * (i % 4);
        pairs[i / 2] = (pairs[i / 2] & 0xffffu << (16 - shift)) | (unsigned)moved << shift;
    }
    at[0] = *(uint4 *)pairs;
    at[1] = *(uint4 *)(pairs + 4);
}

/* A thread has 16 pixels: it writes their difference, if there is an image for it, else their bits. It may touch 32
 * pixels a word of the mask, past the last one too: all images are our own, with rows of a multiple of 64 bytes. */
static __global__ void difference_kernel(struct image blurred, struct image background, struct image mean, int rate,
                                         struct image difference, int value, struct bit_mask mask)
{
    int x = 16 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned now[4], before[4], words[4];

    if (x >= 32 * mask.pitch || y >= mask.height)
        return;
    *(uint4 *)now = *(const uint4 *)((const uint8_t *)image_row(&blurred, y) + x);
    if (mean.data)
        take_mean(mean, x, y, now, rate, before);
    else
        *(uint4 *)before = *(const uint4 *)((const uint8_t *)image_row(&background, y) + x);
#pragma unroll
    for (int i = 0; i < 4; i++)
        words[i] = __vabsdiffu4(now[i], before[i]);
    if (difference.data)
        *(uint4 *)((uint8_t *)image_row(&difference, y) + x) = *(uint4 *)words;
    else
        write_bits(mask, x, y, words, value);
}

/* For otsu, which left its threshold in *found. */
static __global__ void threshold_kernel(struct image difference, const int *found, struct bit_mask mask)
{
    int x = 16 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned words[4];

    if (x >= 32 * mask.pitch || y >= mask.height)
        return;
    *(uint4 *)words = *(const uint4 *)((const uint8_t *)image_row(&difference, y) + x);
    write_bits(mask, x, y, words, *found);
}

static const dim3 block(32, 8);

/* A thread for each half word. */
static dim3 grid_for(int pitch, int height)
{
    return dim3(ceiling_divide(2 * pitch, block.x), ceiling_divide(height, block.y));
}

enum status bit_mask_difference(const struct image *blurred, const struct bit_background *background,
                                const struct image *difference, cudaStream_t stream)
{
    const struct bit_mask shape = {NULL, blurred->width, blurred->height, (blurred->width + 31) / 32};
    enum status status = STATUS_OK;

    difference_kernel<<<grid_for(shape.pitch, shape.height), block, 0, stream>>>(
        *blurred, background->image, background->mean, background->rate, *difference, 0, shape);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status bit_mask_threshold(const struct image *difference, const int *found, const struct bit_mask *mask,
                               cudaStream_t stream)
{
    enum status status = STATUS_OK;

    threshold_kernel<<<grid_for(mask->pitch, mask->height), block, 0, stream>>>(*difference, found, *mask);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status bit_mask_moving(const struct image *blurred, const struct bit_background *background, int value,
                            const struct bit_mask *mask, cudaStream_t stream)
{
    const struct image none = {};
    enum status status = STATUS_OK;

    difference_kernel<<<grid_for(mask->pitch, mask->height), block, 0, stream>>>(
        *blurred, background->image, background->mean, background->rate, none, value, *mask);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
