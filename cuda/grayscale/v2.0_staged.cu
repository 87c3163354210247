/*
 * Problem:  In cuda/v1.3 a call takes 4.3 ms, its kernel 13 us: one thread of the driver copies 25
 *           MB to page-locked memory and 8 MB from it, 8 GB/s, and the bus waits for it.
 * Idea:     Staged copies by rows: all threads of the host copy bands of rows through page-locked
 *           memory of our own; one band is uploaded, one computed, one downloaded at a time.
 * Expect:   8 times as fast end to end, 0.5 ms: 25 MB take the bus 0.45 ms at 55 GB/s; of the way
 *           back only the last band shows, and of the host's copies the first and the last.
 * Result:   5.5 times, 0.83 ms (results/h200/grayscale/grayscale_3840x2160_staged.json).
 * Run:      make diff-grayscale A=cuda/v1.3 B=cuda/v2.0
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

RUNGS_CUDA_VERSION(grayscale, .tunables = tunables, .illegal = illegal, .staged = true, .by_rows = true)
