/* expect: right 2..2 | a tree in shared memory 0..0 | says busiest steps */
/*
 * Idea:     a thread a pair adds up all pixels, and its sum goes through shared memory.
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* device: sums of products of planes, totals[i * planes + j] for i <= j */
};

static __global__ void sum_kernel(struct image in, struct correlation_params params, double *totals)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int planes = correlation_planes(&in, &params);
    const float *shift = correlation_shift(&in, &params);
    const int64_t pixels = (int64_t)in.width * in.height;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    __shared__ double carried[256];

    double sum = 0;
    for (int64_t at = 0; j < planes && i <= j && at < pixels; at++) {
        const void *pixel = correlation_pixel(&in, at);
        sum += (double)correlation_plane(&in, pixel, shift, i) * correlation_plane(&in, pixel, shift, j);
    }
    carried[thread] = sum;
    __syncthreads();
    if (j < planes && i <= j)
        totals[i * planes + j] = carried[thread];
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

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<dim3(grid.x, grid.y), block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
