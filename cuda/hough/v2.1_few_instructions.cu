/*
 * Idea:     fewer instructions a vote. The number of rows is known to the compiler, which then keeps their angles in
 *           registers; where all points vote for all rows nothing is asked; and rounding is adding 1.5 * 2^23, which
 *           leaves the whole number in the lower bits of the float. The same trick makes floats of coordinates.
 * Changed:  the template arguments ROWS and ALL; offset_bits(); coordinate().
 * Expect:   votes twice as fast as v2.0: two multiplications, two additions, an address and an atomic are 6 instructions
 *           where there were 14 and two conversions, of which a multiprocessor starts 16 a cycle and no more. 17 million
 *           votes at 32 a cycle for each multiprocessor are 2.3 us at best, 10 us if one cycle in four is one of theirs.
 * Result:   127 us, 1.13 times v2.0 (results/h200/hough/hough_1920x1080_sobel.json): it is not the instructions either.
 *           What they have in common are the atomics in shared memory.
 */
/* Try: make bench-hough VERSIONS=cuda/v2.0,cuda/v2.1
 *      make tune-hough V=cuda/v2.1 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/rows.h"

struct state {
    struct lines_step lines;
    struct points_step points;
};

static int rows = 4, slices = 8, threads = 256;
static const int row_counts[] = {1, 2, 4, 8, 0}, slice_counts[] = {1, 2, 4, 6, 8, 12, 16, 24, 0};
static const int thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"rows", &rows, row_counts, "rows that a block counts for at a time"},
                                    {"slices", &slices, slice_counts, "shares of the points"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

enum { ROUNDER_BITS = 0x4b400000 /* of 1.5 * 2^23 */ };

/* A whole number below 2^16 as a float. */
static __device__ float coordinate(unsigned value)
{
    return __uint_as_float(0x4b000000 | value) - 0x1p23F;
}

/* hough_offset() + ROUNDER_BITS, in 4 instructions. */
static __device__ int offset_bits(float x, float y, struct hough_angle angle)
{
    return __float_as_int(__fadd_rn(__fadd_rn(__fmul_rn(x, angle.cosine), __fmul_rn(y, angle.sine)), 0x1.8p23F));
}

template <int ROWS, bool ALL>
static __global__ void vote_kernel(int width, int height, const __grid_constant__ struct lines_step lines,
                                   struct points_step points, struct image accumulator,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int length = lines.space.reach + 2, first = blockIdx.x * ROWS;
    const int own_rows = min(ROWS, params.theta_steps - first);
    const unsigned count = *points.count;
    struct hough_angle angles[ROWS];
    int zero[ROWS]; /* of a row: the counter of offset 0, less the bits of the rounder */

    for (int i = threadIdx.x; i < ROWS * length; i += blockDim.x)
        counters[i] = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        angles[k] = lines.angles[first + min(k, own_rows - 1)];
        zero[k] = k * length - rows_least_offset(angles[k], width, height) - ROUNDER_BITS;
    }
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < count; i += gridDim.y * blockDim.x) {
        const struct points_item item = points.items[i];
        const float x = coordinate(item.place & 0xffff), y = coordinate(item.place >> 16);
#pragma unroll
        for (int k = 0; k < ROWS; k++) /* rows beyond the last are counted, and not looked at */
            if (ALL || (k < own_rows && hough_votes_for(&params, item.bin, first + k)))
                atomicAdd(&counters[zero[k] + offset_bits(x, y, angles[k])], 1);
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

typedef void vote_function(int width, int height, struct lines_step lines, struct points_step points,
                           struct image accumulator, struct hough_params params);

/* The kernel for so many rows, a power of two. */
template <bool ALL> static vote_function *kernel_for(int count)
{
    return count == 1   ? vote_kernel<1, ALL>
           : count == 2 ? vote_kernel<2, ALL>
           : count == 4 ? vote_kernel<4, ALL>
                        : vote_kernel<8, ALL>;
}

static vote_function *kernel_for(const struct hough_params *params, int count)
{
    return params->half_width == HOUGH_ALL_ROWS ? kernel_for<true>(count) : kernel_for<false>(count);
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(points_setup(&state->points, in));
    for (int count = 1; count <= 8; count *= 2)
        CUDA_TRY(cudaFuncSetAttribute(kernel_for(params, count), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      ROWS_MOST_SHARED));
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
        fitting /= 2;
    if (fitting > 0) {
        const dim3 grid(ceiling_divide(params->theta_steps, fitting), used_slices);
        vote_function *const kernel = kernel_for(params, fitting);
        kernel<<<grid, threads, rows_counter_bytes(lines, fitting), stream>>>(in->width, in->height, *lines,
                                                                              state->points, accumulator, *params);
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
