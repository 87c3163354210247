/*
 * Idea:     numbers and statistics come from runs. Roots in the order of runs are components in raster order; a run adds
 *           its length and the sum of its columns to its component.
 * Changed:  between the bands' joints and the labels, one thread numbers the roots; behind the labels of a row, its runs are
 *           added to sums that each thread has for itself.
 * Expect:   labels alone as links. Consecutive numbers cost what a look at each run costs, 1 ns; statistics, 3 ns a run:
 *           a tenth of a photograph's time, where a scan over the labels would take as long as everything else.
 * Result:   the photograph as in links (results/cpu2/labelling/labelling_1920x1080.json).
 * From:     cpu/links
 */
/* Try: make bench-labelling VERSIONS=cpu/links,cpu/numbers,peer/opencv */
#include <stdlib.h>

#include "cpu/labelling/shared/bands.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/numbers.h"
#include "cpu/labelling/shared/paint.h"
#include "cpu/labelling/shared/runs.h"
#include "cpu/labelling/shared/trees.h"

/* Unites the runs of row y with those they touch in the row above. `fresh`: the runs of row y have no parents yet. */
SIMD_INLINE void join_above(const struct runs *runs, int connectivity, int y, bool fresh)
{
    const uint64_t *row = runs->bits + (size_t)y * runs->words, *up = row - runs->words;
    int32_t *parent = runs->parent, own = runs->first[y] - 1, above = runs->first[y - 1] - 1;
    uint64_t row_carry = 0, up_carry = 0, open = 0;

    for (int word = 0; word < runs->words; word++) {
        const uint64_t row_left = row[word] << 1 | row_carry, up_left = up[word] << 1 | up_carry;
        const uint64_t row_starts = row[word] & ~row_left, up_starts = up[word] & ~up_left;
        row_carry = row[word] >> 63;
        up_carry = up[word] >> 63;
        if (!(row_starts | up_starts)) /* no pairs, and in filled areas that is most words */
            continue;
        uint64_t pairs = (row_starts | up_starts) & row[word] & up[word];
        if (connectivity == 8)
            pairs = (row_starts | up_starts) & (row[word] | row_left) & (up[word] | up_left);
        uint64_t links = fresh ? lowest_of_each(pairs, row_starts, &open) : 0;
        for (pairs ^= links; links; links &= links - 1) {
            const uint64_t up_to = links ^ (links - 1);
            parent[own + __builtin_popcountll(row_starts & up_to)] =
                parent[above + __builtin_popcountll(up_starts & up_to)];
        }
        for (; pairs; pairs &= pairs - 1) {
            const uint64_t up_to = pairs ^ (pairs - 1);
            const int32_t i = own + __builtin_popcountll(row_starts & up_to);
            const int32_t k = above + __builtin_popcountll(up_starts & up_to);
            if (parent[i] != parent[k])
                unite(parent, i, k);
        }
        own += __builtin_popcountll(row_starts);
        above += __builtin_popcountll(up_starts);
    }
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
static void scan(const struct image *in, struct runs *runs, int connectivity, int band, int top, int bottom)
{
    int32_t next = runs_first(runs, band, top);

    for (int y = top; y < bottom; y++) {
        runs->first[y] = next;
        next += runs->count[y] = find_runs(in, runs, y);
        if (y > top)
            join_above(runs, connectivity, y, true);
    }
    runs_flatten(runs, runs->first[top], next);
}

/* Only reads the trees. `roots` has room for the labels of a row's runs, 1 before them and 16 behind. */
static void label_row(const struct runs *runs, struct image *out, int32_t *roots, int y)
{
    for (int i = 0; i < runs->count[y]; i++)
        roots[i] = runs->label[find(runs->parent, runs->first[y] + i)];
    paint_row(runs, out, roots, y);
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    const int height = in->height, bands = bands_count(height), threads = omp_get_max_threads();
    const int rows = params->statistics ? params->max_components : 0;
    struct boxes_sums *sums = calloc((size_t)threads * rows + 1, sizeof *sums);
    struct runs runs;
    enum status status = runs_create(&runs, in, bands, rows || params->consecutive ? RUNS_NUMBERS : 0);
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
        roots[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            scan(in, &runs, params->connectivity, b, bands_top(height, b, bands), bands_top(height, b + 1, bands));
#pragma omp single
        {
            for (int b = 1; b < bands; b++)
                join_above(&runs, params->connectivity, bands_top(height, b, bands), false);
            if (params->consecutive || rows)
                count = numbers_by_run(&runs, out, params);
        }
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < height; y++) {
            label_row(&runs, out, roots + 1, y);
            if (rows)
                numbers_add_row(&runs, sums + (size_t)omp_get_thread_num() * rows, rows, y);
        }
    }
    if (rows)
        numbers_write(&out[1], sums, threads, count);
out:
    runs_free(&runs);
    free(sums);
    return status;
}

RUNGS_CPU_VERSION(labelling, .instruction_set = SIMD_NAME)
