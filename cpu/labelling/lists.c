/*
 * Idea:     the pairs of a whole row are listed before any of them is united, without a branch on what a word has. In a
 *           photograph no processor guesses whether a word has a pair, and how many, and a wrong guess costs some 20
 *           cycles.
 * Changed:  join_above(). With AVX-512 the pairs of a word are listed at once; elsewhere one by one.
 * Expect:   joining takes half as long on a photograph, 0.15 ms less at 1920x1080 on one thread, and a third less in
 *           noise.
 * Result:   472 us in place of 571 on one thread (results/cpu2/labelling/labelling_1920x1080_1.json): 0.1 ms less;
 *           noise of 50 % 1.80 ms in place of 2.24 (results/cpu2/labelling/labelling_1920x1080_noise.json).
 * From:     cpu/past
 */
/* Try: make bench-labelling VERSIONS=cpu/past,cpu/lists,peer/opencv */
#include <stdlib.h>

#include "cpu/labelling/shared/bands.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/numbers.h"
#include "cpu/labelling/shared/paint.h"
#include "cpu/labelling/shared/runs.h"
#include "cpu/labelling/shared/trees.h"

/* Unites the runs of row y with those they touch in the row above. `fresh`: the runs of row y have no parents yet. */
SIMD_INLINE void join_above(const struct runs *runs, int connectivity, int y, bool fresh, struct lists *lists)
{
    int32_t *parent = runs->parent;
    const int32_t own = runs->first[y] - 1, above = runs->first[y - 1] - 1;
    const struct list *links = &lists->links, *rest = &lists->rest;

    lists_make(lists, runs, connectivity, y);
    for (int i = 0; fresh && i < links->count; i++)
        parent[own + links->own[i]] = parent[above + links->above[i]];
    for (int i = 0; !fresh && i < links->count; i++)
        unite(parent, own + links->own[i], above + links->above[i]);
    for (int i = 0; i < rest->count; i++)
        if (parent[own + rest->own[i]] != parent[above + rest->above[i]])
            unite(parent, own + rest->own[i], above + rest->above[i]);
}

/* The bits of row y, and a tree for each of its runs. Returns how many. */
static int find_runs(const struct image *in, struct runs *runs, int y)
{
    uint64_t *bits = runs->bits + (size_t)y * runs->words, carry = 0;
    int32_t *label = runs->label + runs->first[y], *parent = runs->parent + runs->first[y];
    int count = 0;

    for (int word = 0; word < runs->words; word++) {
        const uint64_t x = bits[word] = bits_of(in, y, word);
        count += bits_positions(x & ~(x << 1 | carry), y * in->width + 64 * word + 1, label + count);
        carry = x >> 63;
    }
    for (int i = 0; i < count; i++)
        parent[i] = runs->first[y] + i;
    return count;
}

/* Trees of the rows from top to bottom, bottom excluded. Their paths end up one step long. */
static void scan(const struct image *in, struct runs *runs, struct lists *lists, int connectivity, int band, int top,
                 int bottom)
{
    int32_t next = runs_first(runs, band, top);

    for (int y = top; y < bottom; y++) {
        runs->first[y] = next;
        next += runs->count[y] = find_runs(in, runs, y);
        if (y > top)
            join_above(runs, connectivity, y, true, lists);
    }
    runs_flatten(runs, runs->first[top], next);
}

/* Only reads the trees. `roots` has room for the labels of a row's runs, 1 before them and 16 behind. */
static void label_row(const struct runs *runs, struct image *out, int32_t *roots, int y, bool past)
{
    for (int i = 0; i < runs->count[y]; i++)
        roots[i] = runs->label[find(runs->parent, runs->first[y] + i)];
    paint_row_or_past(runs, out, roots, y, past);
}

struct state {
    struct runs runs;
};

static void teardown(struct state *state)
{
    runs_free(&state->runs);
}

static enum status run(struct state *state, const struct image *in, struct image out[],
                       const struct labelling_params *params)
{
    const int height = in->height, bands = bands_count(height), threads = omp_get_max_threads();
    const int rows = params->statistics ? params->max_components : 0;
    struct boxes_sums *sums = calloc((size_t)threads * rows + 1, sizeof *sums);
    const bool past = paint_goes_past(out);
    struct runs *runs = &state->runs;
    enum status status = runs_reserve(runs, in, bands, rows || params->consecutive ? RUNS_NUMBERS : 0);
    int32_t count = 0;

    if (status == STATUS_OK && !sums)
        status = status_set(STATUS_NO_MEMORY, "no memory for the sums of %d components", rows);
    if (status != STATUS_OK)
        goto out;
    if (rows)
        image_fill(&out[1], 0);
#pragma omp parallel
    {
        int32_t roots[1 + RUNS_MOST + 16];
        struct lists lists;
        roots[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            scan(in, runs, &lists, params->connectivity, b, bands_top(height, b, bands),
                 bands_top(height, b + 1, bands));
#pragma omp single
        {
            for (int b = 1; b < bands; b++)
                join_above(runs, params->connectivity, bands_top(height, b, bands), false, &lists);
            if (params->consecutive || rows)
                count = numbers_by_run(runs, out, params);
        }
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < height; y++) {
            label_row(runs, out, roots + 1, y, past);
            if (rows)
                numbers_add_row(runs, sums + (size_t)omp_get_thread_num() * rows, rows, y);
        }
        simd_stream_end();
    }
    if (rows)
        numbers_write(&out[1], sums, threads, count);
out:
    free(sums);
    return status;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .instruction_set = SIMD_NAME)
