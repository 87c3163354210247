/*
 * Idea:     four launches instead of eight: each costs a microsecond and more, in which the GPU idles.
 * Changed:  the kernel that lists the points clears the accumulator as well (tiles_launch_and_clear()); the search
 *           reserves places for all lines of a block at once, and one kernel does what scan, sort and write did (both in
 *           shared/finish.cu).
 * Expect:   12 us less than v2.5.
 * Result:   63.5 us, 34 less and not 12 (results/h200/hough/hough_1920x1080.json): two thirds of the call had been what
 *           follows the votes.
 */
/* Try: make bench-hough VERSIONS=cuda/v2.5,cuda/v2.6
 *      make tune-hough V=cuda/v2.6 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"

struct state {
    struct lines_step lines;
    struct tiles_step tiles;
};

static int side = 128, threads = 512;
static const int sides[] = {64, 128, 256, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {
    {"side", &side, sides, "of a tile, in pixels"}, {"threads", &threads, thread_counts, "threads of a block"}, {}};

enum {
    ROUNDER_BITS = 0x4b400000, /* of 1.5 * 2^23 */
    CELL_BYTES = TILES_LANES * sizeof(int),
    POINTS = 8 /* that a warp loads at a time */
};

/* hough_offset() + ROUNDER_BITS, in 4 instructions. */
static __device__ unsigned offset_bits(float x, float y, struct hough_angle angle)
{
    return __float_as_uint(__fadd_rn(__fadd_rn(__fmul_rn(x, angle.cosine), __fmul_rn(y, angle.sine)), 0x1.8p23F));
}

/* Places in bytes, so that one instruction makes an address of an offset. */
static __device__ int *counter_at(int *counters, unsigned bits, unsigned zero)
{
    return (int *)((char *)counters + (bits * CELL_BYTES + zero));
}

template <bool ALL>
static __global__ void vote_kernel(const __grid_constant__ struct lines_step lines, struct tiles_step tiles,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int first = blockIdx.x * TILES_LANES, last = min(first + TILES_LANES, params.theta_steps) - 1;
    const int lane = threadIdx.x % 32, n = min(first + lane, last); /* more lanes than rows count, and nobody looks */
    const struct hough_angle angle = lines.angles[n];
    const int least = tiles_least_offset(tiles, angle);
    const unsigned zero = (unsigned)lane * 4 - (unsigned)(least + ROUNDER_BITS) * CELL_BYTES;
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;

    for (int i = threadIdx.x; i < tiles.cells * TILES_LANES; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < tiles.parts; part++) {
        const struct tiles_list list = tiles_own_list(tiles, part);
        const int whole = ALL ? list.count / POINTS * POINTS : 0;
        for (int i = warp * POINTS; i < whole; i += warps * POINTS) {
            float4 pairs[POINTS / 2];
            for (int k = 0; k < POINTS / 2; k++)
                pairs[k] = ((const float4 *)&list.points[i])[k];
            for (int k = 0; k < POINTS / 2; k++) {
                atomicAdd(counter_at(counters, offset_bits(pairs[k].x, pairs[k].y, angle), zero), 1);
                atomicAdd(counter_at(counters, offset_bits(pairs[k].z, pairs[k].w, angle), zero), 1);
            }
        }
        for (int i = whole + warp; i < list.count; i += warps)
            if (ALL || hough_votes_for(&params, list.bins[i], n))
                atomicAdd(counter_at(counters, offset_bits(list.points[i].x, list.points[i].y, angle), zero), 1);
    }
    __syncthreads();
    for (int k = first + threadIdx.x / 8; k <= last; k += blockDim.x / 8) {
        int *to = (int *)image_row(&accumulator, k) + lines.space.centre + tiles_least_offset(tiles, lines.angles[k]);
        for (int cell = threadIdx.x % 8; cell < tiles.cells; cell += 8)
            if (counters[cell * TILES_LANES + k - first] > 0)
                atomicAdd(&to[cell], counters[cell * TILES_LANES + k - first]);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(lines_finish_setup(&state->lines));
    TRY(tiles_setup(&state->tiles, in, params, side, 1));
    for (const auto kernel : {vote_kernel<true>, vote_kernel<false>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct lines_step *lines = &state->lines;
    const struct image accumulator = lines_accumulator(lines, out);
    const auto kernel = params->half_width == HOUGH_ALL_ROWS ? vote_kernel<true> : vote_kernel<false>;

    TRY(tiles_launch_and_clear(&state->tiles, in, lines, accumulator, params, stream));
    kernel<<<tiles_grid(&state->tiles, params), threads, tiles_counter_bytes(&state->tiles), stream>>>(
        *lines, state->tiles, accumulator, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_finish(&state->lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    tiles_teardown(&state->tiles);
}

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
