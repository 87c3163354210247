/*
 * Idea:     the pixels are shared out over all multiprocessors: a block has 16x16 pairs as before, and of the picture's runs
 *           every 512th; what a thread has added up it adds to its pair's total by one atomic addition.
 * Changed:  from one thread for a pair of the whole picture: the grid has a third dimension; run() is the harness's own.
 * Expect:   as many times faster as there are runs to share out, up to a hundred. Each product still costs two loads and two
 *           conversions of samples; those of a warp are neighbours or the same, so that the first-level cache has them.
 * Result:   for 256x256 pixels of 31 bands 0.234 ms where v1.1 takes 35.2, 150 times faster
 *           (results/h200/correlation/correlation_strips_256x256.json).
 * From:     cuda/v1.1
 */
/* Try: make bench-correlation VERSIONS=cuda/v1.1,cuda/v1.4,cuda/v1.2 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
};

enum { STRIPS = 512 /* at most */ };

/* Runs of products are added in f32, and the runs in f64. */
static __global__ void sum_kernel(struct image in, struct correlation_params params, double *totals)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int planes = correlation_planes(&in, &params);
    const int across = (in.width + CORRELATION_RUN - 1) / CORRELATION_RUN;
    const float *shift = correlation_shift(&in, &params);

    if (j >= planes || i > j)
        return;
    double total = 0;
    for (int64_t run = blockIdx.z; run < (int64_t)across * in.height; run += gridDim.z) {
        const int y = (int)(run / across), first = (int)(run % across) * CORRELATION_RUN;
        float sum = 0;
        for (int x = first; x < min(first + CORRELATION_RUN, in.width); x++) {
            const void *pixel = correlation_pixel(&in, (int64_t)y * in.width + x);
            sum += correlation_plane(&in, pixel, shift, i) * correlation_plane(&in, pixel, shift, j);
        }
        total += sum;
    }
    atomicAdd(&totals[i * planes + j], total);
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
    const int64_t runs = (int64_t)ceiling_divide(in->width, CORRELATION_RUN) * in->height;
    const int strips = runs < STRIPS ? (int)runs : STRIPS;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<dim3(grid.x, grid.y, strips), block, 0, stream>>>(*in, *params, state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
