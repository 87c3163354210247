/*
 * Problem:  cuda/v1.0 allocates and frees 36 MB in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state.
 * Expect:   Allocation vanishes from every call but the first (Schoose 2021: 142 of its 152 ms).
 * Result:   1.07 times as fast as cuda/v1.0 end to end, 0.3 ms less
 *           (results/h100/lbp/lbp_4032x3024_climb.json), less than calls vary.
 * Run:      make diff-lbp A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
    struct image in, out;
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
    __shared__ unsigned char pixels[LBP_MAX_PATCH * LBP_MAX_PATCH], codes[LBP_MAX_PATCH * LBP_MAX_PATCH];
    __shared__ unsigned bins[LBP_BINS];
    const int x = blockIdx.x * patch + threadIdx.x, y = blockIdx.y * patch + threadIdx.y;
    const int thread = threadIdx.y * patch + threadIdx.x;

    pixels[thread] = x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    __syncthreads();
    codes[thread] = (unsigned char)texton(pixels, patch, threadIdx.x, threadIdx.y);
    if (thread == 0)
        for (int i = 0; i < LBP_BINS; i++)
            bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[codes[thread]], 1);
    __syncthreads();
    if (thread == 0)
        for (int i = 0; i < LBP_BINS; i++)
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

static void teardown(struct state *state)
{
    device_image_free(&state->in);
    device_image_free(&state->out);
}

static enum status run(struct state *state, const struct image in[], struct image *out, const struct lbp_params *params)
{
    enum status status = STATUS_OK;

    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(lbp)
