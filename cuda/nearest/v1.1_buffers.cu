/*
 * Problem:  cuda/v1.0 allocates and frees device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state.
 * Expect:   Allocation vanishes from every call but the first; the kernel and the copies, which
 *           take most of the time, do not change.
 * Result:   Kernel as in cuda/v1.0, 3.27 ms; end to end the gain is less than calls vary
 *           (results/h100/nearest/nearest_252x189.json).
 * Run:      make diff-nearest A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
    struct image in[2], out;
};

static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ unsigned long long distances[NEAREST_MAX_K];
    const int bin = threadIdx.x, count = NEAREST_SCALE * lbp_bins(&histograms, blockIdx.y, blockIdx.x)[bin];

    for (int j = bin; j < centroids.height; j += LBP_BINS)
        distances[j] = 0;
    __syncthreads();
    for (int j = 0; j < centroids.height; j++) {
        const long long difference = count - nearest_fixed(nearest_centroid(&centroids, j)[bin]);
        atomicAdd(&distances[j], (unsigned long long)(difference * difference));
    }
    __syncthreads();
    if (bin == 0) {
        int label = 0;
        for (int j = 1; j < centroids.height; j++)
            if (distances[j] < distances[label])
                label = j;
        ((uint8_t *)image_row(&out, blockIdx.y))[blockIdx.x] = (uint8_t)label;
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<dim3(out->width, out->height), LBP_BINS, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in[0]);
    device_image_free(&state->in[1]);
    device_image_free(&state->out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct nearest_params *params)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < 2; i++) {
        if (!state->in[i].data)
            TRY(device_image_create(&state->in[i], &in[i]));
        TRY(device_upload(&state->in[i], &in[i]));
    }
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(nearest)
