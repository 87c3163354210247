/*
 * Idea:     a block lists the points of 2048 pixels, and reserves places for all of them with one atomic operation (cuda/v2.3 of
 *           hough).
 * Changed:  points_launch_blocks() in place of points_launch(); both are in cuda/hough/shared/points.cu.
 * Expect:   20 us less than v2.4 with any orientation, as in hough: every warp of 32 pixels that has a point adds to the same
 *           counter in global memory, some 40,000 times, one a nanosecond or two.
 * Result:   145 us, 16 less than v2.4 (results/h200/pclines/pclines_1920x1080_orientation_10.json).
 */
/* Try: make bench-pclines VERSIONS=cuda/v2.4,cuda/v2.5 P="edges=sobel orientation=10"
 *      make tune-pclines V=cuda/v2.5 P="edges=sobel orientation=10" */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/bins.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct points_step points;
    struct bins_step bins;
};

enum { ROWS = 4 /* at a time; of 2 d rows, d at least 16 */ };

static int slices = 4, threads = 256;
static const int slice_counts[] = {1, 2, 3, 4, 6, 8, 0}, thread_counts[] = {64, 128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"slices", &slices, slice_counts, "shares of the points"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

/* 2^shift times the place between two cells where a point's vote in row n lies, and half a cell. */
static __device__ int first_place(int x, int y, int n, const struct pclines_params &params)
{
    const int u = n - params.d + 1;

    return x * (params.d - abs(u)) + y * u + params.d / 2;
}

static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct points_step points,
                                   struct bins_step bins)
{
    extern __shared__ int counters[];
    int n = blockIdx.x * ROWS, u = n - params.d + 1, bin = u & (2 * params.d - 1);
    const struct points_item *items = bins.starts ? bins.items : points.items;
    struct stretches of = {{0, 0}, {*points.count, 0}};

    for (int i = threadIdx.x; i < ROWS * space.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    if (bins.starts)
        of = find_stretches(bins.starts, params.hough, bin, bin + ROWS - 1);
    for (int part = 0; part < 2; part++)
        for (unsigned i = of.begin[part] + blockIdx.y * blockDim.x + threadIdx.x; i < of.end[part];
             i += gridDim.y * blockDim.x) {
            int x = (int)(items[i].place & 0xffff) - in.width / 2;
            int y = (int)(items[i].place >> 16) - in.height / 2;
            int place = first_place(x, y, n, params), *row = counters + space.centre;
#pragma unroll
            for (int k = 0; k < ROWS; k++, row += space.cells) {
                if (pclines_votes_for(&params, (int)items[i].bin, n + k))
                    atomicAdd(&row[place >> params.shift], 1);
                place += u + k < 0 ? y + x : y - x;
            }
        }
    __syncthreads();
    for (int k = 0; k < ROWS; k++) {
        int *to = (int *)image_row(&accumulator, n + k);
        for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
            if (counters[k * space.cells + i] > 0)
                atomicAdd(&to[i], counters[k * space.cells + i]);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(points_setup(&state->points, in));
    TRY(bins_setup(&state->bins, in, &params->hough));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, PCLINES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    size_t shared = ROWS * lines->space.cells * sizeof(int);
    dim3 grid(lines->space.rows / ROWS, rows_slices(in, slices));

    TRY(points_launch_blocks(&state->points, in, NULL, &params->hough, stream));
    TRY(bins_launch(&state->bins, &state->points, &params->hough, stream));
    TRY(lines_clear(lines, out, stream));
    if (shared > PCLINES_MOST_SHARED)
        TRY(pclines_vote_globally(lines, in, &state->points, out, params, grid.y, stream));
    else
        vote_kernel<<<grid, threads, shared, stream>>>(*in, lines->space, lines_accumulator(lines, out), *params,
                                                       state->points, state->bins);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    points_teardown(&state->points);
    bins_teardown(&state->bins);
}

RUNGS_CUDA_VERSION(pclines, .tunables = tunables)
