/*
 * Problem:  Blocks have 1024 threads: two fit a multiprocessor (2048), and a block's place is free
 *           only when its last thread ends.
 * Idea:     block_width and block_height are tunables, so that a search finds the fastest shape. By
 *           default blocks have 32x8 = 256 threads, so a place is free sooner.
 * Expect:   A few percent faster, no more: the kernel is bandwidth-bound, which no shape changes.
 * Result:   Kernel 1.02 times as fast as cuda/v1.2 with 32x8, 12.8 us
 *           (results/h100/grayscale/grayscale_3840x2160.json), as predicted.
 * Run:      make tune-grayscale V=cuda/v1.3 SVG=heat.svg
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
};

enum { PIXELS = 16 /* of a thread: 3 loads of 16 bytes, 1 store */ };

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

static __device__ uint8_t gray_pixel(unsigned r, unsigned g, unsigned b)
{
    return (uint8_t)((GRAYSCALE_RED * r + GRAYSCALE_GREEN * g + GRAYSCALE_BLUE * b + (1 << (GRAYSCALE_BITS - 1))) >>
                     GRAYSCALE_BITS);
}

static __global__ void grayscale_kernel(struct image in, struct image out)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    uint8_t *gray = (uint8_t *)image_row(&out, y) + x;
    __align__(16) uint8_t from[3 * PIXELS], to[PIXELS]; /* registers: every index below is a constant */
#pragma unroll
    for (int k = 0; k < 3; k++) /* what begins inside the row may be read whole (image.h) */
        if (3 * x + 16 * k < 3 * in.width)
            ((uint4 *)from)[k] = ((const uint4 *)rgb)[k];
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        to[i] = gray_pixel(from[3 * i], from[3 * i + 1], from[3 * i + 2]);
    if (x + PIXELS <= out.width)
        *(uint4 *)gray = *(const uint4 *)to;
    else
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            if (x + i < out.width)
                gray[i] = to[i];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(ceiling_divide(out->width, PIXELS), block.x), ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale, .tunables = tunables, .illegal = illegal)
