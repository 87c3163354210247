/* expect: right 2..2 | two barriers 0..0 | says barrier waits */
/*
 * Idea:     all four barriers, in blocks of four patches, so that they are fewer in all.
 */
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
    const int dx[8] = {-1, 0, 1, 1, 1, 0, -1, -1}, dy[8] = {-1, -1, -1, 0, 1, 1, 1, 0};
    const int pixel = pixels[y * patch + x];
    int code = 0;

    for (int i = 0; i < 8; i++)
        code = 2 * code + (sample(pixels, patch, x + dx[i], y + dy[i]) >= pixel);
    return code;
}

/* All barriers are still there; a block has several patches, so that there are fewer in all. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    __shared__ unsigned char all_pixels[4][LBP_MAX_PATCH * LBP_MAX_PATCH], all_codes[4][LBP_MAX_PATCH * LBP_MAX_PATCH];
    __shared__ unsigned all_bins[4][LBP_BINS];
    const int column = blockIdx.x * blockDim.z + threadIdx.z;
    const int x = column * patch + threadIdx.x, y = blockIdx.y * patch + threadIdx.y;
    const int thread = threadIdx.y * patch + threadIdx.x, threads = patch * patch;
    unsigned char *pixels = all_pixels[threadIdx.z], *codes = all_codes[threadIdx.z];
    unsigned *bins = all_bins[threadIdx.z];

    pixels[thread] = x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    __syncthreads();
    codes[thread] = (unsigned char)texton(pixels, patch, threadIdx.x, threadIdx.y);
    __syncthreads();
    for (int i = thread; i < LBP_BINS; i += threads)
        bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[codes[thread]], 1);
    __syncthreads();
    if (column < out.width)
        for (int i = thread; i < LBP_BINS; i += threads)
            lbp_bins(&out, blockIdx.y, column)[i] = (uint16_t)bins[i];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct lbp_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int patch = lbp_patch(params), several = patch <= 16 ? 4 : 1;

    (void)state;
    lbp_kernel<<<dim3(ceiling_divide(out->width, several), out->height), dim3(patch, patch, several), 0, stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp)
