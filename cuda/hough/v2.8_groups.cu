/*
 * Idea:     a point is loaded once for 64 rows. What a load hands to a warp is 16 bytes a lane, though all lanes ask for
 *           the same 16, and that takes four cycles of the path that atomics take as well.
 * Changed:  a lane counts for two rows, 32 apart, each in counters of its own; tiles of 64 pixels, for the counters are
 *           twice as many.
 * Expect:   votes in three quarters of v2.7's time: a vote was two cycles of loading and two of its atomic, and now the
 *           first is one.
 * Result:   57.9 us, 1.08 times v2.7, and a sixteenth of the time of NPP in the same run
 *           (results/h200/hough/hough_1920x1080.json). At 3840x2160 it takes 78.6 us and v2.7 71.0, a ninth of NPP's
 *           658 (hough_3840x2160.json).
 */
/* Try: make bench-hough VERSIONS=cuda/v2.7,cuda/v2.8
 *      make tune-hough V=cuda/v2.8 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"

struct state {
    struct lines_step lines;
    struct tiles_step tiles;
};

static int side = 64, threads = 256;
static const int sides[] = {64, 128, 256, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {
    {"side", &side, sides, "of a tile, in pixels"}, {"threads", &threads, thread_counts, "threads of a block"}, {}};

enum {
    ROUNDER_BITS = 0x4b400000, /* of 1.5 * 2^23 */
    CELL_BYTES = TILES_LANES * sizeof(int),
    POINTS = 8, /* that a warp loads at a time */
    GROUPS = 2  /* of rows */
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

/* Of 8 lanes in a row and their 8 values each: lane r gets value r of each. */
static __device__ void transpose(int values[8])
{
#pragma unroll
    for (int s = 1; s < 8; s *= 2)
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!(k & s)) {
                const bool upper = threadIdx.x & s;
                const int other = __shfl_xor_sync(0xffffffff, upper ? values[k] : values[k | s], s);
                values[k] = upper ? other : values[k];
                values[k | s] = upper ? values[k | s] : other;
            }
}

template <bool ALL>
static __global__ void vote_kernel(const __grid_constant__ struct lines_step lines, struct tiles_step tiles,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int count = tiles.groups * TILES_LANES, first = blockIdx.x * count;
    const int last = min(first + count, params.theta_steps) - 1;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int group = tiles.cells * TILES_LANES; /* counters of one */
    struct hough_angle angles[GROUPS];
    int rows[GROUPS], least[GROUPS];
    unsigned zero[GROUPS];

#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        rows[g] = min(first + g * TILES_LANES + lane, last); /* more lanes than rows count, and nobody looks */
        angles[g] = lines.angles[rows[g]];
        least[g] = tiles_least_offset(tiles, angles[g]);
        zero[g] = (unsigned)(g * group + lane) * 4 - (unsigned)(least[g] + ROUNDER_BITS) * CELL_BYTES;
    }
    for (int i = threadIdx.x; i < GROUPS * group; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < tiles.parts; part++) {
        const struct tiles_list list = tiles_own_list(tiles, part);
        const int whole = ALL ? list.count / POINTS * POINTS : 0;
        for (int i = warp * POINTS; i < whole; i += warps * POINTS) {
            float4 pairs[POINTS / 2];
            for (int k = 0; k < POINTS / 2; k++)
                pairs[k] = ((const float4 *)&list.points[i])[k];
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                for (int k = 0; k < POINTS / 2; k++) {
                    atomicAdd(counter_at(counters, offset_bits(pairs[k].x, pairs[k].y, angles[g]), zero[g]), 1);
                    atomicAdd(counter_at(counters, offset_bits(pairs[k].z, pairs[k].w, angles[g]), zero[g]), 1);
                }
        }
        for (int i = whole + warp; i < list.count; i += warps)
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                if (ALL || hough_votes_for(&params, list.bins[i], rows[g]))
                    atomicAdd(counter_at(counters, offset_bits(list.points[i].x, list.points[i].y, angles[g]), zero[g]),
                              1);
    }
    __syncthreads();
    const unsigned cells = (unsigned)(accumulator.stride / sizeof *counters);
    int *const to = (int *)accumulator.data + lane % 8;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const unsigned own = (unsigned)rows[g] * cells + (unsigned)(lines.space.centre + least[g]);
        const bool counts = first + g * TILES_LANES + lane <= last;
        unsigned places[8]; /* of the least offset of the rows that this lane gets a counter of */
        for (int k = 0; k < 8; k++)
            places[k] = __shfl_sync(0xffffffff, own, lane / 8 * 8 + k);
        for (int cell = warp * 8; cell < tiles.cells; cell += warps * 8) {
            int votes[8];
            for (int k = 0; k < 8; k++)
                votes[k] = cell + k < tiles.cells && counts ? counters[g * group + (cell + k) * TILES_LANES + lane] : 0;
            transpose(votes);
            for (int k = 0; k < 8; k++)
                if (votes[k] > 0)
                    atomicAdd(&to[places[k] + (unsigned)cell], votes[k]);
        }
    }
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(lines_finish_setup(&state->lines));
    TRY(tiles_setup(&state->tiles, in, params, side, GROUPS));
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
