/*
 * Problem:  cpu/simd is a scatter: each of 97 million votes (adding 1) is a load and a store.
 * Idea:     Gather: in a row, all points of a diagonal shift by one number (shared/diagonals.h). A
 *           row is the sum of all shifted diagonals, in vectors of 64 bytes.
 * Expect:   1.4 times as fast as cpu/simd, 28 ms: 33 million vectors at 3 cycles take 13 ms; the
 *           search for lines takes the rest.
 * Result:   1.1 times as fast as cpu/simd (results/cpu2/pclines/pclines_1920x1080.json): a vector
 *           takes more than 3 cycles.
 * Run:      make diff-pclines A=cpu/simd B=cpu/diagonals
 */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "cpu/pclines/shared/diagonals.h"

enum { RUN = 16 /* divides d, so that they are rows of one space */, MOST = 255 };

struct state {
    struct diagonals diagonals;
};

/* Bytes of a thread's counters. */
static size_t counters_of(size_t cells)
{
    return RUN * cells;
}

static void add(uint8_t *restrict counters, int place, const uint8_t *restrict marks, int begin, int end)
{
    for (int x = begin; x < end; x++)
        counters[place + x] += marks[x];
}

/* Rows n to n + RUN - 1. */
static void vote(const struct image *accumulator, const struct diagonals_space *space, uint8_t *counters,
                 const struct pclines_params *params, int n)
{
    const size_t cells = (size_t)accumulator->width;

    for (int first = 0; first < space->count; first += MOST) {
        memset(counters, 0, counters_of(cells));
        for (int i = first; i < space->count && i < first + MOST; i++)
            for (int k = 0; k < RUN; k++)
                add(counters + (size_t)k * cells, diagonals_place(space, i, params, n + k),
                    space->marks + (size_t)(i + 1) * space->stride, diagonals_begin(space, i), diagonals_end(space, i));
        for (int k = 0; k < RUN; k++)
            for (size_t r = 0; r < cells; r++)
                ((int32_t *)image_row(accumulator, n + k))[r] += counters[(size_t)k * cells + r];
    }
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    enum status status = STATUS_OK;

    for (int n = first; n < last; n++)
        for (int r = 0; r < space.cells; r++)
            if (status == STATUS_OK && hough_is_line(accumulator, space, n, r, &params->hough))
                status = hough_append(list, hough_key(space, n, r, ((const int32_t *)image_row(accumulator, n))[r]));
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    uint8_t *counters = malloc((size_t)threads * counters_of((size_t)space.cells));
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    enum status status = STATUS_OK;

    if (!lists || !counters)
        TRY(status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads));
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    TRY(diagonals_find(&state->diagonals, in, params, 8));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
#pragma omp for
        for (int n = 0; n < space.rows; n += RUN)
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
    image_free(&scratch);
    return status;
}

static void teardown(struct state *state)
{
    diagonals_free(&state->diagonals);
}

RUNGS_CPU_VERSION_WITH_STATE(pclines, .declines = diagonals_declines)
