/*
 * Idea:     no block waits for one of its threads: it clears and copies its bins together, 256 threads for 256 bins,
 *           and a code goes straight to its bin. The optimised kernel of Schoose 2021.
 * Changed:  the array of codes and the barrier behind it are gone; the two loops of thread 0 belong to all.
 * Expect:   kernel 10 times faster: two loops of 256 steps, one of them stores of 2 bytes to global memory, become one step
 *           each, and the stores of a warp one of 64 bytes. Their authors saw 10.8 to 8.2 ms, transfers included.
 * Result:   missed: 1.45 times v1.1, 92 us (results/h200/lbp/lbp_4032x3024.json). The loops of one thread were a third of
 *           the time, not nine tenths.
 */
/* Try: make bench-lbp VERSIONS=cuda */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
};

/* A pixel of the patch, 0 outside. */
static __device__ int sample(const unsigned char *pixels, int patch, int x, int y)
{
    return x < 0 || y < 0 || x >= patch || y >= patch ? 0 : pixels[y * patch + x];
}

static __device__ int texton(const unsigned char *pixels, int patch, int x, int y)
{
    const int pixel = pixels[y * patch + x];
    int code = 0;

    code = 2 * code + (sample(pixels, patch, x - 1, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y + 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x, y + 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x - 1, y + 1) >= pixel);
    return 2 * code + (sample(pixels, patch, x - 1, y) >= pixel);
}

static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    __shared__ unsigned char pixels[LBP_MAX_PATCH * LBP_MAX_PATCH];
    __shared__ unsigned bins[LBP_BINS];
    const int x = blockIdx.x * patch + threadIdx.x, y = blockIdx.y * patch + threadIdx.y;
    const int thread = threadIdx.y * patch + threadIdx.x;

    pixels[thread] = x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    for (int i = thread; i < LBP_BINS; i += patch * patch)
        bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[texton(pixels, patch, threadIdx.x, threadIdx.y)], 1);
    __syncthreads();
    for (int i = thread; i < LBP_BINS; i += patch * patch)
        lbp_bins(&out, blockIdx.y, blockIdx.x)[i] = (uint16_t)bins[i];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct lbp_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int patch = lbp_patch(params);

    (void)state;
    lbp_kernel<<<dim3(out->width, out->height), dim3(patch, patch), 0, stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp)
