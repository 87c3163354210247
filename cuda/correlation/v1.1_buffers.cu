/*
 * Problem:  cuda/v1.0 allocates and frees its device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state. The kernels of the correlation matrix stay as they are.
 * Expect:   0.2 ms less end to end, which is little beside a kernel of only 496 threads.
 * Result:   587 ms end to end instead of 589, of which the kernel takes 568
 *           (results/h100/correlation/correlation_1024x1024.json).
 * Run:      make diff-correlation A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    struct image in, out;
};

/* Runs of products are added in f32, and the runs in f64. */
static __global__ void sum_kernel(struct image in, struct correlation_params params, double *totals)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int planes = correlation_planes(&in, &params);
    const float *shift = correlation_shift(&in, &params);

    if (j >= planes || i > j)
        return;
    double total = 0;
    for (int y = 0; y < in.height; y++)
        for (int first = 0; first < in.width; first += CORRELATION_RUN) {
            float sum = 0;
            for (int x = first; x < min(first + CORRELATION_RUN, in.width); x++) {
                const void *pixel = correlation_pixel(&in, (int64_t)y * in.width + x);
                sum += correlation_plane(&in, pixel, shift, i) * correlation_plane(&in, pixel, shift, j);
            }
            total += sum;
        }
    totals[i * planes + j] = total;
}

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params);

    if (state->totals)
        return STATUS_OK;
    return device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params);
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    sum_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct correlation_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
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

RUNGS_CUDA_VERSION_WITH_RUN(correlation)
