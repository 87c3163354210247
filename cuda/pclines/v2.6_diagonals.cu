/*
 * Idea:     scatter becomes gather, as in cpu/diagonals: all points of a diagonal move alike from row to row, so a row of the
 *           accumulator is the sum of the picture's diagonals, each shifted by a number of its own. A pixel is a bit, 32 cells are
 *           a word, and what a lane has counted of them are words too: one for the ones, one for the twos, and so on.
 * Changed:  diagonals in place of points (shared/diagonals.cu); a lane has a row and 32 cells; no atomics, nothing to clear.
 * Expect:   about v1.2's time. Its votes are probably 230 of its 372 us: with an orientation v2.5 does the rest, and some votes, in
 *           145. Here a warp visits a diagonal 2.3 million times, at 25 instructions for whole numbers, two a cycle: 125 us at
 *           1.75 GHz. But one multiprocessor has 30,100 of these visits where the mean is 17,700: 215 us, few points or many.
 * From:     cuda/v1.2
 */
/* Try: make bench-pclines VERSIONS=cuda/v1.2,cuda/v2.3,cuda/v2.6 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/diagonals.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct diagonals_step diagonals;
};

enum { LANES = 32, CELLS = 32, WARPS = 8, PLANES = DIAGONALS_PLANES };
enum { THREADS = WARPS * LANES };

/* Adds a bit to each of CELLS counters: what is carried dies out after a few planes. */
static __device__ void add(unsigned counters[PLANES], unsigned bits)
{
#pragma unroll
    for (int p = 0; p < PLANES && bits; p++) {
        const unsigned sum = counters[p];
        counters[p] = sum ^ bits;
        bits &= sum;
    }
}

/* A warp counts for CELLS cells of LANES rows, a lane a row. */
static __global__ void __launch_bounds__(THREADS) vote_kernel(struct hough_space space, struct image accumulator,
                                                              const __grid_constant__ struct pclines_params params,
                                                              const __grid_constant__ struct diagonals_step diagonals)
{
    __shared__ unsigned planes[WARPS][PLANES][LANES];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, first = blockIdx.x * LANES;
    const int cell = (blockIdx.y * WARPS + warp) * CELLS;
    const struct diagonals_path path = diagonals_find_path(diagonals, first + lane, cell - space.centre, CELLS, params);
    const int begin = __reduce_min_sync(0xffffffff, path.begin); /* for lanes to load of one diagonal at a time */
    unsigned counters[PLANES] = {};

    for (int i = begin; i < path.end; i++) {
        if (i < path.begin)
            continue;
        const int place = path.place + i * path.slope;
        const unsigned *word = diagonals_word(diagonals, path, i, place, params.shift);
        add(counters, __funnelshift_r(word[0], word[1], place >> params.shift));
    }
#pragma unroll
    for (int p = 0; p < PLANES; p++)
        planes[warp][p][lane] = counters[p];
    __syncwarp();
    diagonals_write(diagonals, planes[warp], accumulator, first, cell, lane, LANES);
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(diagonals_setup(&state->diagonals, in));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    dim3 grid(lines->space.rows / LANES, ceiling_divide(lines->space.cells, CELLS * WARPS));

    TRY(diagonals_launch(&state->diagonals, in, &params->hough, stream));
    vote_kernel<<<grid, THREADS, 0, stream>>>(lines->space, lines_accumulator(lines, out), *params, state->diagonals);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    diagonals_teardown(&state->diagonals);
}

RUNGS_CUDA_VERSION(pclines, .declines = diagonals_declines)
