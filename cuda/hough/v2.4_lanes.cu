/*
 * Idea:     a lane a row, where it was a lane a point: a warp takes one point at a time, and each of its lanes votes for
 *           another of 32 rows. Counters lie in shared memory as cells of 32 lanes, so that every lane has a bank to
 *           itself and no two votes of a warp ever meet.
 * Changed:  32 rows of a picture do not fit in shared memory, those of a tile do: its points lie in 1.42 times its side of
 *           cells. Points are listed by tile (shared/tiles.cu), a block counts for a tile and 32 rows, and adds 8 cells of
 *           4 rows, which are neighbours in global memory, to the accumulator at a time.
 * Expect:   votes in a fifth of v2.3's time. A vote is one cycle of the banks where it was three or four, but rounding
 *           takes its old 14 instructions again.
 * Result:   missed: 132 us (results/h200/hough/hough_1920x1080.json), slower than v2.3, which takes 98.9. Probably the
 *           conversions, of which a multiprocessor does 16 a cycle.
 * From:     cuda/v1.4
 */
/* Try: make bench-hough VERSIONS=cuda/v1.4,cuda/v2.3,cuda/v2.4
 *      make tune-hough V=cuda/v2.4 */
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

static __global__ void vote_kernel(const __grid_constant__ struct lines_step lines, struct tiles_step tiles,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int first = blockIdx.x * TILES_LANES, last = min(first + TILES_LANES, params.theta_steps) - 1;
    const int lane = threadIdx.x % 32, n = min(first + lane, last); /* more lanes than rows count, and nobody looks */
    const struct hough_angle angle = lines.angles[n];
    const int least = tiles_least_offset(tiles, angle);

    for (int i = threadIdx.x; i < tiles.cells * TILES_LANES; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < tiles.parts; part++) {
        const struct tiles_list list = tiles_own_list(tiles, part);
        for (int i = threadIdx.x / 32; i < list.count; i += blockDim.x / 32) {
            const int x = (int)list.points[i].x, y = (int)list.points[i].y;
            if (hough_votes_for(&params, list.bins ? list.bins[i] : 0, n))
                atomicAdd(&counters[(hough_offset(x, y, angle) - least) * TILES_LANES + lane], 1);
        }
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
    TRY(tiles_setup(&state->tiles, in, params, side, 1));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct lines_step *lines = &state->lines;
    const struct image accumulator = lines_accumulator(lines, out);

    TRY(tiles_launch(&state->tiles, in, lines, params, stream));
    TRY(lines_clear(&state->lines, out, stream));
    vote_kernel<<<tiles_grid(&state->tiles, params), threads, tiles_counter_bytes(&state->tiles), stream>>>(
        *lines, state->tiles, accumulator, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_launch(&state->lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    tiles_teardown(&state->tiles);
}

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
