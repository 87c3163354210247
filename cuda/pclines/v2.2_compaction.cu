/*
 * Problem:  Of cuda/v2.0's 170 us the search for lines takes 68: a thread compares a cell with up
 *           to 80 neighbours one by one, and its warp waits for the longest comparison.
 * Idea:     Compaction: a thread compares its cells with four neighbours only, and a block lists
 *           those that remain. Then a warp takes a cell, and its lanes share the 80 neighbours.
 * Expect:   Search 12 us, 5.7 times as fast; 1.5 times as fast as cuda/v2.0 in all.
 * Result:   1.42 times as fast as cuda/v2.0, 122 us: 52 us less, 56 predicted
 *           (results/h200/pclines/pclines_1920x1080.json).
 * Run:      make diff-pclines A=cuda/v2.0 B=cuda/v2.2
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
enum { SEARCH_WARPS = 4, SEARCHERS = SEARCH_WARPS * LANES, SEARCH_ROWS = 4 };

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

/* A thread compares SEARCH_ROWS cells, one below the other, with the four neighbours of each. Of those that none
 * exceeds a block makes a list, no more than half of its cells: no two neighbours are on it. */
static __global__ void search_kernel(const __grid_constant__ struct lines_step step, struct image accumulator,
                                     const __grid_constant__ struct hough_params params)
{
    __shared__ unsigned list[SEARCHERS * SEARCH_ROWS / 2], count;
    const int r = blockIdx.x * SEARCHERS + threadIdx.x, first = blockIdx.y * SEARCH_ROWS;
    const int lane = threadIdx.x % LANES, side = 2 * params.radius + 1;
    int votes[SEARCH_ROWS + 2] = {}, left[SEARCH_ROWS] = {}, right[SEARCH_ROWS] = {};

    if (threadIdx.x == 0)
        count = 0;
#pragma unroll
    for (int k = 0; k < SEARCH_ROWS + 2 && r < step.space.cells; k++) {
        const int n = first + k - 1;
        if (n < 0 || n >= step.space.rows)
            continue;
        const int *row = (const int *)image_row(&accumulator, n);
        votes[k] = row[r];
        if (k > 0 && k <= SEARCH_ROWS) {
            left[k - 1] = r > 0 ? row[r - 1] : 0;
            right[k - 1] = r + 1 < step.space.cells ? row[r + 1] : 0;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SEARCH_ROWS; k++) {
        const int own = votes[k + 1];
        if (own > params.threshold && own > left[k] && own >= right[k] && own > votes[k] && own >= votes[k + 2])
            list[atomicAdd(&count, 1u)] = (unsigned)k * SEARCHERS + threadIdx.x;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x / LANES; i < count; i += SEARCH_WARPS) {
        const int n = first + (int)(list[i] / SEARCHERS), cell = blockIdx.x * SEARCHERS + (int)(list[i] % SEARCHERS);
        bool yields = false;
        for (int k = lane; k - lane < side * side && !yields; k += LANES)
            yields = __any_sync(0xffffffff, k < side * side && hough_yields(&accumulator, step.space, n, cell,
                                                                            k / side - params.radius,
                                                                            k % side - params.radius, &params));
        if (!yields && lane == 0)
            lines_found(step, n, cell, ((const int *)image_row(&accumulator, n))[cell]);
    }
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
    dim3 cells(ceiling_divide(lines->space.cells, SEARCHERS), ceiling_divide(lines->space.rows, SEARCH_ROWS));

    TRY(diagonals_launch(&state->diagonals, in, &params->hough, stream));
    vote_kernel<<<grid, THREADS, 0, stream>>>(lines->space, lines_accumulator(lines, out), *params, state->diagonals);
    CUDA_TRY(cudaGetLastError());
    if (params->hough.outputs == HOUGH_ACCUMULATOR)
        return STATUS_OK;
    TRY(lines_begin(lines, stream));
    search_kernel<<<cells, SEARCHERS, 0, stream>>>(*lines, lines_accumulator(lines, out), params->hough);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_write(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    diagonals_teardown(&state->diagonals);
}

RUNGS_CUDA_VERSION(pclines, .declines = diagonals_declines, .staged = true)
