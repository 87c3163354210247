/*
 * Idea:     how many blocks share a row, and with how many threads, is found by search, not assumed.
 * Changed:  slices and threads are tunables.
 * Expect:   1 slice of 256 threads a fifth faster than 2 of 128: there are 1024 rows for 132 multiprocessors, so slices are not
 *           needed to fill them, and each adds 2 million atomics to global memory.
 * Result:   no difference (results/h200/pclines/pclines_1920x1080.json).
 */
/* Try: make bench-pclines VERSIONS=cuda
 *      make tune-pclines V=cuda/v1.3 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct points_step points;
};

static int slices = 2, threads = 128;
static const int slice_counts[] = {1, 2, 3, 4, 6, 8, 0}, thread_counts[] = {64, 128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"slices", &slices, slice_counts, "shares of the points"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct points_step points)
{
    extern __shared__ int counters[];
    int n = blockIdx.x, *to = (int *)image_row(&accumulator, n);

    for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < *points.count; i += gridDim.y * blockDim.x) {
        int x = points.items[i].place & 0xffff, y = points.items[i].place >> 16;
        if (pclines_votes_for(&params, (int)points.items[i].bin, n))
            atomicAdd(&counters[space.centre + pclines_offset(x - in.width / 2, y - in.height / 2, n, &params)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
        if (counters[i] > 0)
            atomicAdd(&to[i], counters[i]);
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(points_setup(&state->points, in));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, PCLINES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    size_t shared = lines->space.cells * sizeof(int);
    dim3 grid(lines->space.rows, rows_slices(in, slices));

    TRY(points_launch(&state->points, in, NULL, &params->hough, stream));
    TRY(lines_clear(lines, out, stream));
    if (shared > PCLINES_MOST_SHARED)
        TRY(pclines_vote_globally(lines, in, &state->points, out, params, grid.y, stream));
    else
        vote_kernel<<<grid, threads, shared, stream>>>(*in, lines->space, lines_accumulator(lines, out), *params,
                                                       state->points);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    points_teardown(&state->points);
}

RUNGS_CUDA_VERSION(pclines, .tunables = tunables)
