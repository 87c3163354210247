/*
 * Idea:     a block loads its pixels to shared memory, in steps that do not fit it.
 * Changed:  128 threads load every 256th sample, so that samples 128 to 255 are loaded by none.
 * Expect:   reads shared memory that no thread wrote
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
};

enum { THREADS = 128, STEP = 256 };

static __global__ void grayscale_kernel(struct image in, struct image out)
{
    __shared__ uint8_t tile[3 * THREADS];
    const int first = blockIdx.x * THREADS, x = first + threadIdx.x, y = blockIdx.y;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * first;

    for (int k = threadIdx.x; k < 3 * THREADS && 3 * first + k < 3 * in.width; k += STEP)
        tile[k] = rgb[k];
    __syncthreads();
    if (x < out.width)
        ((uint8_t *)image_row(&out, y))[x] =
            (uint8_t)((GRAYSCALE_RED * tile[3 * threadIdx.x] + GRAYSCALE_GREEN * tile[3 * threadIdx.x + 1] +
                       GRAYSCALE_BLUE * tile[3 * threadIdx.x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                      GRAYSCALE_BITS);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 grid(ceiling_divide(out->width, THREADS), out->height);

    (void)state, (void)params;
    grayscale_kernel<<<grid, THREADS, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale)
