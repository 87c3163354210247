/*
 * Idea:     orientation bins (Jošth 2014, section 4.2), which apply as they are, for the direction of a line depends on u alone:
 *           counted, summed up and scattered by the rows that their gradients point to, the points that vote for a block's
 *           rows are one stretch of the list, or two where u goes round.
 * Changed:  bins_launch() (cuda/hough/shared/bins.cu); the loop over points goes through the stretches that find_stretches()
 *           names.
 * Expect:   nothing with orientation=90. With 10 a block visits 118 of 1024 bins: votes in a sixth of v2.0's time, not a
 *           ninth, for the blocks that have the rows along the edges of a building have most of the points; less 6 us of sorting.
 * Result:   161 us for all, 2.0 times v2.0 and 2.1 times v2.3 (results/h200/pclines/pclines_1920x1080_orientation_10.json).
 * From:     cuda/v2.0
 */
/* Try: make bench-pclines VERSIONS=cuda/v2.0,cuda/v2.3,cuda/v2.4 P="edges=sobel orientation=10"
 *      make tune-pclines V=cuda/v2.4 P="edges=sobel orientation=10" */
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

    TRY(points_launch(&state->points, in, NULL, &params->hough, stream));
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
