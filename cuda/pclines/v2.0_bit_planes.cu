/*
 * Problem:  In cuda/v1.3 each of 97 million votes is an atomic operation; neighbours wait.
 * Idea:     Gather: from row to row all points of a diagonal move alike (shared/diagonals.h), so a
 *           row is the sum of shifted diagonals. Bit planes: a pixel is a bit; a carry-save adder
 *           makes of words a, b, c sums a ^ b ^ c and carries majority(a, b, c): no atomics.
 * Expect:   Votes take 31 us, whatever the number of points.
 * Result:   3.0 times as fast as cuda/v1.3, kernel, 207 us with all its steps
 *           (results/h100/pclines/pclines_1920x1080.json); votes alone are not timed there.
 * Run:      make diff-pclines A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/diagonals.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct diagonals_step diagonals;
};

enum { LANES = 32, CELLS = 32, WORDS = 2, WARPS = 4, PLANES = DIAGONALS_PLANES, BATCH = DIAGONALS_BATCH };
enum { THREADS = WARPS * LANES, BLOCKS = 4 /* of a multiprocessor at a time: registers for 16 warps */ };

/* Adds BATCH bits to each of CELLS counters: 16 carries of the ones go to the twos, 8 of these to the fours, ... */
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

/* Adds the counters of all warps of a block up to those of the first, a lane those of its row. */
static __device__ void join(unsigned planes[WARPS][WORDS][PLANES][LANES], int word, int lane)
{
    for (int w = 1; w < WARPS; w++) {
        unsigned carry = 0;
#pragma unroll
        for (int p = 0; p < PLANES; p++) {
            const unsigned a = planes[0][word][p][lane], b = planes[w][word][p][lane];
            planes[0][word][p][lane] = a ^ b ^ carry;
            carry = (a & b) | (a & carry) | (b & carry);
        }
    }
}

/* A block counts for WORDS * CELLS cells of LANES rows, a lane a row. */
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    vote_kernel(struct hough_space space, struct image accumulator,
                const __grid_constant__ struct pclines_params params,
                const __grid_constant__ struct diagonals_step diagonals)
{
    __shared__ unsigned planes[WARPS][WORDS][PLANES][LANES];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, first = blockIdx.x * LANES;
    const int cell = blockIdx.y * WORDS * CELLS;
    const struct diagonals_path path =
        diagonals_find_path(diagonals, first + lane, cell - space.centre, WORDS * CELLS, params);
    const int begin = __reduce_min_sync(0xffffffff, path.begin); /* for lanes to load of one diagonal at a time */
    unsigned counters[WORDS][PLANES] = {};

    for (int i = begin + warp * BATCH; i < path.end; i += WARPS * BATCH) {
        int place = path.place + i * path.slope;
        unsigned bits[WORDS][BATCH];
        if (i + BATCH <= path.begin)
            continue;
#pragma unroll
        for (int k = 0; k < BATCH; k++, place += path.slope) {
            const unsigned *word = diagonals_word(diagonals, path, i + k, place, params.shift);
            for (int w = 0; w < WORDS; w++)
                bits[w][k] = __funnelshift_r(word[w], word[w + 1], place >> params.shift);
        }
        for (int w = 0; w < WORDS; w++)
            add(counters[w], bits[w]);
    }
#pragma unroll
    for (int i = 0; i < WORDS * PLANES; i++)
        planes[warp][i / PLANES][i % PLANES][lane] = counters[i / PLANES][i % PLANES];
    __syncthreads();
    if (warp < WORDS)
        join(planes, warp, lane);
    __syncthreads();
    for (int w = 0; w < WORDS; w++)
        diagonals_write(diagonals, planes[0][w], accumulator, first, cell + w * CELLS, threadIdx.x, THREADS);
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
    dim3 grid(lines->space.rows / LANES, ceiling_divide(lines->space.cells, WORDS * CELLS));

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

RUNGS_CUDA_VERSION(pclines, .declines = diagonals_declines, .staged = true)
