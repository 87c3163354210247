/*
 * Problem:  In cpu/orientation_bins each of 97 million votes (all rows) is a load and a store.
 * Idea:     Gather: from row to row all points of a diagonal move alike (shared/diagonals.h), so a
 *           row is the sum of shifted diagonals. Bit planes: a pixel is a bit, 512 per vector; a
 *           carry-save adder makes of vectors a, b, c sums a ^ b ^ c and carries majority(a, b, c).
 * Expect:   4 times as fast as cpu/orientation_bins: 8 million vectors, not 97 million votes.
 * Result:   3.3 times as fast as cpu/orientation_bins
 *           (results/cpu2/pclines/pclines_1920x1080.json).
 * Run:      make diff-pclines A=cpu/orientation_bins B=cpu/bit_planes
 */
#include <limits.h>
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"
#include "cpu/pclines/shared/diagonals.h"

enum {
    BITS = 8 * SIMD_BYTES,
    BATCH = DIAGONALS_BATCH,
    PLANES = 17 /* at most: the bits of 131,071, more than there are diagonals */
};

struct state {
    struct diagonals diagonals;
    struct image accumulator;
};

/* Bytes of a thread's counters: bit p of BITS cells is a vector, PLANES vectors follow each other, then the next
 * BITS cells. */
static size_t counters_of(size_t cells)
{
    return (cells + BITS - 1) / BITS * PLANES * SIMD_BYTES;
}

/* Adds BATCH bits to each of BITS counters: of the ones, 8 carries go to the twos, of these 4 to the fours, and so
 * on. */
static void add(uint8_t *counters, simd_u64 bits[BATCH], int planes)
{
    int p = 0;

#pragma GCC unroll 4
    for (int pairs = BATCH / 2; pairs > 0; pairs /= 2, p++) {
        simd_u64 sum = (simd_u64)simd_load(counters + p * SIMD_BYTES);
#pragma GCC unroll 8
        for (int k = 0; k < pairs; k++) {
            const simd_u64 a = bits[2 * k], b = bits[2 * k + 1];
            bits[k] = simd_majority(sum, a, b);
            sum ^= a ^ b;
        }
        simd_store(counters + p * SIMD_BYTES, (simd_u8)sum);
    }
    for (simd_u64 carry = bits[0]; p < planes; p++) {
        const simd_u64 sum = (simd_u64)simd_load(counters + p * SIMD_BYTES);
        simd_store(counters + p * SIMD_BYTES, (simd_u8)(sum ^ carry));
        carry &= sum;
    }
}

/* Makes numbers of a row of counters. */
static void widen(const uint8_t *counters, int planes, int32_t *row, size_t cells)
{
    for (size_t r = 0; r < cells; r += 32) {
        const uint8_t *words = counters + r / BITS * PLANES * SIMD_BYTES + r % BITS / 8;
        int32_t votes[32] = {0};
        for (int p = 0; p < planes; p++) {
            uint32_t word;
            memcpy(&word, words + p * SIMD_BYTES, sizeof word);
            for (int k = 0; k < 32; k++)
                votes[k] |= (int32_t)(word >> k & 1) << p;
        }
        memcpy(row + r, votes, (cells - r < 32 ? cells - r : 32) * sizeof *row);
    }
}

/* Row n. A diagonal adds at most one to a cell, so a counter has as many bits as the number of diagonals. */
static void vote(const struct image *accumulator, const struct diagonals_space *space, uint8_t *counters,
                 const struct pclines_params *params, int n)
{
    const size_t cells = (size_t)accumulator->width;
    const int needed = 32 - __builtin_clz((unsigned)space->count), planes = needed < 4 ? 4 : needed;

    memset(counters, 0, counters_of(cells));
    for (int first = 0; first < space->count; first += BATCH) {
        int places[BATCH], low = INT_MAX, high = 0;
        for (int k = 0; k < BATCH; k++) {
            const int place = diagonals_place(space, first + k, params, n);
            const int begin = place + diagonals_begin(space, first + k), end = place + diagonals_end(space, first + k);
            low = begin < low ? begin : low;
            high = end > high ? end : high;
            places[k] = place;
        }
        for (int block = low / BITS; block * BITS < high; block++) {
            simd_u64 bits[BATCH];
            for (int k = 0; k < BATCH; k++) {
                const int at = block * BITS - places[k];
                const uint8_t *from = space->marks + (size_t)(first + k + 1) * space->stride + (at >> 6) * 8;
                bits[k] = simd_bits_from((simd_u64)simd_load(from), (simd_u64)simd_load(from + 8), at & 63);
            }
            add(counters + block * PLANES * SIMD_BYTES, bits, planes);
        }
    }
    widen(counters, planes, image_row(accumulator, n), cells);
}

/* Of a row: 1 for a cell above the threshold that its four neighbours do not exceed, 0 for others; 1 at both ends. */
static void find_peaks(const int32_t *restrict above, const int32_t *restrict row, const int32_t *restrict below,
                       int cells, int32_t threshold, uint8_t *restrict peaks)
{
    for (int r = 1; r < cells - 1; r++)
        peaks[r] = (row[r] > threshold) & (row[r] > row[r - 1]) & (row[r] >= row[r + 1]) & (row[r] > above[r]) &
                   (row[r] >= below[r]);
    peaks[0] = peaks[cells - 1] = 1;
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    int32_t *nothing = calloc((size_t)space.cells, sizeof *nothing); /* beyond the accumulator the wrap decides */
    uint8_t *peaks = malloc((size_t)space.cells);
    enum status status = STATUS_OK;

    if (!peaks || !nothing)
        status = status_set(STATUS_NO_MEMORY, "no memory for the peaks of %d cells", space.cells);
    for (int n = first; n < last && status == STATUS_OK; n++) {
        const int32_t *row = image_row(accumulator, n);
        const int32_t *above = n > 0 ? image_row(accumulator, n - 1) : nothing;
        find_peaks(above, row, n + 1 < space.rows ? image_row(accumulator, n + 1) : nothing, space.cells,
                   params->hough.threshold, peaks);
        for (int r = 0; r < space.cells; r++)
            if (peaks[r] && status == STATUS_OK && hough_is_line(accumulator, space, n, r, &params->hough))
                status = hough_append(list, hough_key(space, n, r, row[r]));
    }
    free(nothing);
    free(peaks);
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct image *accumulator = out[1].data ? &out[1] : &state->accumulator;
    uint8_t *counters = malloc((size_t)threads * counters_of((size_t)space.cells));
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    enum status status = STATUS_OK;

    if (!lists || !counters)
        TRY(status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads));
    if (!accumulator->data)
        TRY(array_create(accumulator, space.cells, space.rows, 1, PIXEL_I32));
    TRY(diagonals_find(&state->diagonals, in, params));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
#pragma omp for
        for (int n = 0; n < space.rows; n++)
            vote(accumulator, &state->diagonals.spaces[n >= params->d],
                 counters + (size_t)thread * counters_of((size_t)space.cells), params, n);
        if (out[0].data)
            found = find_lines(accumulator, space, params, first, last, &lists[thread]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(pclines_write_lines(&list, accumulator, in, params, &out[0]));
out:
    free(counters);
    free(lists);
    free(list.keys);
    return status;
}

static void teardown(struct state *state)
{
    diagonals_free(&state->diagonals);
    image_free(&state->accumulator);
}

RUNGS_CPU_VERSION_WITH_STATE(pclines, .instruction_set = SIMD_NAME, .declines = diagonals_declines)
