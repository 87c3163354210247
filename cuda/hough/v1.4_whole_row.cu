/*
 * Idea:     no row is computed twice. A block counts for one row, in shared memory, what a slice of the points votes for, and
 *           adds what is not 0 to the accumulator in global memory, which stays in second-level cache; a second kernel
 *           searches it.
 * Changed:  rows times slices of blocks in place of runs with overlap; a row's counters begin at the least rho that it has,
 *           so that they are half as many. Pictures whose rows do not fit in shared memory vote in global memory.
 * Expect:   4 times as fast as v1.3: 17 million votes in place of 26 million, and 720 blocks that are all equally long in
 *           place of 45. Slices add up to 0.4 million atomics in global memory each, 2 us.
 * Result:   10 times as fast as v1.3, 145 us in place of 1.44 ms (results/h200/hough/hough_1920x1080_sobel.json).
 */
/* Try: make bench-hough VERSIONS=cuda/v1.3,cuda/v1.4
 *      make tune-hough V=cuda/v1.4 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/rows.h"

struct state {
    struct lines_step lines;
    struct points_step points;
};

static int slices = 4, threads = 256;
static const int slice_counts[] = {1, 2, 4, 6, 8, 12, 16, 24, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"slices", &slices, slice_counts, "shares of the points"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

static __global__ void vote_kernel(int width, int height, const __grid_constant__ struct lines_step lines,
                                   struct points_step points, struct image accumulator,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int length = lines.space.reach + 2, n = blockIdx.x;
    const unsigned count = *points.count;
    const struct hough_angle angle = lines.angles[n];
    const int least = rows_least_offset(angle, width, height);
    int *row = counters - least; /* where offset 0 is */

    for (int i = threadIdx.x; i < length; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < count; i += gridDim.y * blockDim.x) {
        const struct points_item item = points.items[i];
        if (hough_votes_for(&params, item.bin, n))
            atomicAdd(&row[hough_offset(item.place & 0xffff, item.place >> 16, angle)], 1);
    }
    __syncthreads();
    int *to = (int *)image_row(&accumulator, n) + lines.space.centre + least;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        if (counters[i] > 0)
            atomicAdd(&to[i], counters[i]);
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
    const size_t shared = rows_counter_bytes(lines, 1);

    TRY(points_launch(&state->points, in, lines->directions, params, stream));
    TRY(lines_clear(&state->lines, out, stream));
    if (shared <= ROWS_MOST_SHARED) {
        const dim3 grid(params->theta_steps, used_slices);
        vote_kernel<<<grid, threads, shared, stream>>>(in->width, in->height, *lines, state->points, accumulator,
                                                       *params);
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
