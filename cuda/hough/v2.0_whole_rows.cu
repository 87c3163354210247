/*
 * Idea:     a point is loaded once for several rows: a block counts for some rows at a time, each in counters of its own,
 *           what a slice of the points votes for.
 * Changed:  the loop over k, unrolled to the most rows; angles and counters of each in an array.
 * Expect:   votes half as long as v1.4's: a vote no longer waits for a load of its own, and votes of one point do not
 *           depend on each other. With 4 rows and 8 slices there are 360 blocks of up to 64 KB, 3 to a multiprocessor.
 * Result:   143 us, 2 % less than v1.4 (results/h200/hough/hough_1920x1080_sobel.json): it is not the load of the point
 *           that votes wait for.
 */
/* Try: make bench-hough VERSIONS=cuda/v1.4,cuda/v2.0
 *      make tune-hough V=cuda/v2.0 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/rows.h"

struct state {
    struct lines_step lines;
    struct points_step points;
};

static int rows = 4, slices = 8, threads = 256;
static const int row_counts[] = {1, 2, 3, 4, 6, 8, 0}, slice_counts[] = {1, 2, 4, 6, 8, 12, 16, 24, 0};
static const int thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"rows", &rows, row_counts, "rows that a block counts for at a time"},
                                    {"slices", &slices, slice_counts, "shares of the points"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

enum { MOST_ROWS = 8 };

static __global__ void vote_kernel(int width, int height, int rows_at_once,
                                   const __grid_constant__ struct lines_step lines, struct points_step points,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int length = lines.space.reach + 2, first = blockIdx.x * rows_at_once;
    const int own_rows = min(rows_at_once, params.theta_steps - first);
    const unsigned count = *points.count;
    struct hough_angle angles[MOST_ROWS];
    int *row[MOST_ROWS]; /* where offset 0 is */

    for (int i = threadIdx.x; i < rows_at_once * length; i += blockDim.x)
        counters[i] = 0;
#pragma unroll
    for (int k = 0; k < MOST_ROWS; k++) {
        angles[k] = lines.angles[first + min(k, own_rows - 1)];
        row[k] = counters + k * length - rows_least_offset(angles[k], width, height);
    }
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < count; i += gridDim.y * blockDim.x) {
        const struct points_item item = points.items[i];
#pragma unroll
        for (int k = 0; k < MOST_ROWS; k++)
            if (k < own_rows && hough_votes_for(&params, item.bin, first + k))
                atomicAdd(&row[k][hough_offset(item.place & 0xffff, item.place >> 16, angles[k])], 1);
    }
    __syncthreads();
    for (int k = 0; k < own_rows; k++) {
        const int least = rows_least_offset(lines.angles[first + k], width, height);
        int *to = (int *)image_row(&accumulator, first + k) + lines.space.centre + least;
        for (int i = threadIdx.x; i < length; i += blockDim.x)
            if (counters[k * length + i] > 0)
                atomicAdd(&to[i], counters[k * length + i]);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(points_setup(&state->points, in));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ROWS_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct lines_step *lines = &state->lines;
    const struct image accumulator = lines_accumulator(lines, out);
    const unsigned used_slices = rows_slices(in, slices);
    int fitting = rows;

    TRY(points_launch(&state->points, in, lines->directions, params, stream));
    TRY(lines_clear(&state->lines, out, stream));
    while (fitting > 0 && rows_counter_bytes(lines, fitting) > ROWS_MOST_SHARED)
        fitting--;
    if (fitting > 0) {
        const dim3 grid(ceiling_divide(params->theta_steps, fitting), used_slices);
        vote_kernel<<<grid, threads, rows_counter_bytes(lines, fitting), stream>>>(
            in->width, in->height, fitting, *lines, state->points, accumulator, *params);
        CUDA_TRY(cudaGetLastError());
    } else {
        TRY(rows_vote_globally(lines, &state->points, &accumulator, params, used_slices, stream));
    }
    TRY(lines_launch(&state->lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    points_teardown(&state->points);
}

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
