/*
 * Idea:     a point is loaded once for four rows, and from row to row its vote moves by y + x where u < 0 and by y - x from there
 *           on: a sum and a shift a vote, no product. Whole numbers make that exact, where the angles of hough would drift.
 * Changed:  a block counts for ROWS rows at a time; first_place() and the loop over k.
 * Expect:   votes half as long as v1.3's: 4 instructions each, add, shift, address and atomic, in place of 9 and a load; the
 *           shared atomic then is most of it. Rows of more than 56 KB no longer fit, pictures beyond 14,500 pixels a side.
 * Result:   298 us for all, 1.25 times v1.3, in the run of commit d2bf8ff
 *           (results/h200/pclines/pclines_1920x1080.json). With orientation as a parameter 395 us, slower than v1.3
 *           by 6 % (results/h200/pclines/pclines_1920x1080_groups.json), probably for the question of each vote.
 */
/* Try: make bench-pclines VERSIONS=cuda/v1.3,cuda/v2.0
 *      make tune-pclines V=cuda/v2.0 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct points_step points;
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
                                   const __grid_constant__ struct pclines_params params, struct points_step points)
{
    extern __shared__ int counters[];
    int n = blockIdx.x * ROWS, u = n - params.d + 1;

    for (int i = threadIdx.x; i < ROWS * space.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < *points.count; i += gridDim.y * blockDim.x) {
        int x = (int)(points.items[i].place & 0xffff) - in.width / 2;
        int y = (int)(points.items[i].place >> 16) - in.height / 2;
        int place = first_place(x, y, n, params), *row = counters + space.centre;
#pragma unroll
        for (int k = 0; k < ROWS; k++, row += space.cells) {
            if (pclines_votes_for(&params, (int)points.items[i].bin, n + k))
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
