/*
 * Idea:     carry-save adders, as in cpu/bits: three words become two, a ^ b ^ c and the majority, which counts twice. Of 32
 *           diagonals 31 adders leave one carry, and only that goes through the higher planes.
 * Changed:  add(), for BATCH diagonals at a time.
 * Expect:   votes in a third of v2.6's time, 67 us: an adder is two instructions of three operands, so that a visit has 2.7 for
 *           adding in place of some 20, and 5 for finding its word and shifting it. With some 140 us for the rest that would be
 *           the first rung below v2.3's 294 us.
 */
/* Try: make bench-pclines VERSIONS=cuda/v2.3,cuda/v2.6,cuda/v2.7 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/diagonals.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct diagonals_step diagonals;
};

enum { LANES = 32, CELLS = 32, WARPS = 8, PLANES = DIAGONALS_PLANES, BATCH = DIAGONALS_BATCH };
enum { THREADS = WARPS * LANES };

/* Adds BATCH bits to each of CELLS counters: 16 carries of the ones go to the twos, 8 of these to the fours, and so on. */
static __device__ void add(unsigned counters[PLANES], unsigned bits[BATCH])
{
    int p = 0;

#pragma unroll
    for (int pairs = BATCH / 2; pairs > 0; pairs /= 2, p++) {
#pragma unroll
        for (int k = 0; k < pairs; k++) {
            const unsigned a = bits[2 * k], b = bits[2 * k + 1], sum = counters[p];
            bits[k] = (a & b) | (a & sum) | (b & sum);
            counters[p] = a ^ b ^ sum;
        }
    }
#pragma unroll
    for (unsigned carry = bits[0]; p < PLANES; p++) {
        const unsigned sum = counters[p];
        counters[p] = sum ^ carry;
        carry &= sum;
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

    for (int i = begin; i < path.end; i += BATCH) {
        int place = path.place + i * path.slope;
        unsigned bits[BATCH];
        if (i + BATCH <= path.begin)
            continue;
#pragma unroll
        for (int k = 0; k < BATCH; k++, place += path.slope) {
            const unsigned *word = diagonals_word(diagonals, path, i + k, place, params.shift);
            bits[k] = __funnelshift_r(word[0], word[1], place >> params.shift);
        }
        add(counters, bits);
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
