/*
 * Idea:     a word's 64 pixels are ranked at once: how many runs begin up to each of them is counted for all, and two
 *           vectors of labels serve all.
 * Changed:  ranks_row() in place of paint_row_or_past(), which counted for 16 pixels at a time and read a vector of
 *           labels for each. With AVX-512 alone; elsewhere as few.
 * Expect:   one thread takes 0.02 ms less for a photograph of 1920x1080, two nothing less: for them the second pass
 *           waits for memory, which takes 44 GB/s of labels that are not 0 from one core of this processor and no more
 *           from two.
 * Result:   425 us in place of 451 on one thread (results/cpu2/labelling/labelling_1920x1080_early_1.json), 269 and 268 on
 *           two (results/cpu2/labelling/labelling_1920x1080_early.json). The floor of labels that are all 1 takes 194 us
 *           on one thread and 192 on two (labelling_1920x1080_white_1.json, _2), that of labels 0 90.9 and 89.8.
 * From:     cpu/few
 */
/* Try: make bench-labelling VERSIONS=cpu/few,cpu/ranks,peer/opencv */
#include <stdlib.h>

#include "cpu/labelling/shared/bands.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/joints.h"
#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/numbers.h"
#include "cpu/labelling/shared/ranks.h"
#include "cpu/labelling/shared/runs.h"
#include "cpu/labelling/shared/sums.h"
#include "cpu/labelling/shared/trees.h"

/* Unites the runs of row y, which have no parents yet, with those they touch in the row above. */
SIMD_INLINE void join_above(const struct runs *runs, int connectivity, int y, struct lists *lists)
{
    int32_t *parent = runs->parent;
    const int32_t own = runs->first[y] - 1, above = runs->first[y - 1] - 1;
    const struct list *links = &lists->links;
    struct list *rest = &lists->rest;
    int unequal = 0;

    lists_make(lists, runs, connectivity, y);
    for (int i = 0; i < links->count; i++)
        parent[own + links->own[i]] = parent[above + links->above[i]];
    for (int i = 0; i < rest->count; i++) {
        const uint16_t k = rest->own[i], m = rest->above[i];
        rest->own[unequal] = k;
        rest->above[unequal] = m;
        unequal += parent[own + k] != parent[above + m];
    }
    for (int i = 0; i < unequal; i++)
        if (parent[own + rest->own[i]] != parent[above + rest->above[i]])
            unite(parent, own + rest->own[i], above + rest->above[i]);
}

/* The bits of row y, and a tree for each of its runs. Returns how many. */
static int find_runs(const struct image *in, struct runs *runs, struct lists *lists, int y)
{
    uint64_t *bits = runs->bits + (size_t)y * runs->words;
    int32_t *label = runs->label + runs->first[y], *parent = runs->parent + runs->first[y];
    int count = 0;

    for (int word = 0; word < runs->words; word++)
        bits[word] = bits_of(in, y, word);
    const int words = lists_starts(lists, bits, runs->words);
    for (int k = 0; k < words; k++)
        count += bits_positions_few(lists->starts[k], y * in->width + 64 * (int)lists->own[k] + 1, label + count);
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
        next += runs->count[y] = find_runs(in, runs, lists, y);
        if (y > top)
            join_above(runs, connectivity, y, lists);
    }
    runs_flatten(runs, runs->first[top], next);
}

/* Only reads the trees. `roots` has room for the labels of a row's runs, 1 before them and RANKS_BEHIND behind. */
static void label_row(const struct runs *runs, struct image *out, int32_t *roots, int y, bool past)
{
    for (int i = 0; i < runs->count[y]; i++)
        roots[i] = runs->label[runs->parent[runs->first[y] + i]];
    ranks_row(runs, out, roots, y, past);
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
    struct sums *sums = sums_create((size_t)threads * rows);
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
        int32_t roots[1 + RUNS_MOST + RANKS_BEHIND];
        struct lists lists;
        roots[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            scan(in, runs, &lists, params->connectivity, b, bands_top(height, b, bands),
                 bands_top(height, b + 1, bands));
#pragma omp single
        {
            for (int b = 1; b < bands; b++)
                joints_unite(runs, params->connectivity, bands_top(height, b, bands), &lists);
            if (params->consecutive || rows)
                count = numbers_by_run(runs, out, params);
            for (int b = 1; b < bands; b++)
                joints_settle(runs, bands_top(height, b, bands), rows > 0);
        }
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < height; y++) {
            label_row(runs, out, roots + 1, y, past);
            if (rows)
                sums_add_row(runs, &lists, sums + (size_t)omp_get_thread_num() * rows, rows, in->width, y);
        }
        simd_stream_end();
    }
    if (rows)
        sums_write(&out[1], sums, threads, count);
out:
    free(sums);
    return status;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .instruction_set = SIMD_NAME)
