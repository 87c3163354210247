/* expect: right 2..2 | two barriers 0..0 | bins in shared memory 0..0 | says busiest reads */
/*
 * Idea:     no bins: each thread looks at all codes of the patch and counts those of its own bin, 16 at a time.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
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

/* The first barrier is for neighbours' pixels and for bins that others cleared, the second for increments of others. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    __shared__ unsigned char pixels[LBP_MAX_PATCH * LBP_MAX_PATCH];
    __shared__ __align__(16) unsigned char codes[LBP_MAX_PATCH * LBP_MAX_PATCH];
    const int x = blockIdx.x * patch + threadIdx.x, y = blockIdx.y * patch + threadIdx.y;
    const int thread = threadIdx.y * patch + threadIdx.x, threads = patch * patch;
    uint16_t *to = lbp_bins(&out, blockIdx.y, blockIdx.x);

    pixels[thread] = x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    __syncthreads();
    codes[thread] = (unsigned char)texton(pixels, patch, threadIdx.x, threadIdx.y);
    __syncthreads();
    for (int bin = thread; bin < LBP_BINS; bin += threads)
    {
        int count = 0;
        for (int first = 0; first < threads; first += 16) {
            const uint4 v = *(const uint4 *)(codes + first);
            const unsigned w[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 16; i++)
                count += (int)(w[i / 4] >> 8 * (i % 4) & 255) == bin;
        }
        to[bin] = (uint16_t)count;
    }
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
