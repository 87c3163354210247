/*
 * early.h: bands whose labels are written when they are joined to the bands above and to a few below, before the others
 * are known.
 *
 * Within a band parents stay as its scan left them. Bands are joined from top to bottom, one at a time, in a forest of its own,
 * `hung`, whose nodes are roots of bands; a root's label is its tree's when the band is written. What a later band changes is
 * marked by a label below 0 when all are joined, and written again.
 */
#ifndef RUNGS_LABELLING_STEPS_EARLY_H
#define RUNGS_LABELLING_STEPS_EARLY_H

#include "cpu/labelling/shared/bands.h"
#include "cpu/labelling/shared/ranks.h"

/* One for one thread, which gains nothing by more. */
static inline int early_bands(int height)
{
    const int wanted = omp_get_max_threads() > 1 ? bands_count(height) : 1;

    return wanted < height / 2 ? wanted : height > 1 ? height / 2 : 1;
}

/* How many more bands are joined before one is written, a quarter of the picture: the longer one waits the fewer words have
 * to be written again, and the less there is to do beside finding runs. */
static inline int early_lag(int bands)
{
    return bands / 4;
}

/* The first row of a band, of those before the first 0 and of those behind the last the height. The first and the last are half
 * as high as the others: else two threads would find runs at the same time, and store labels at the same time. */
static inline int early_top(int height, int band, int bands)
{
    return band <= 0 ? 0 : band >= bands ? height : (int)((int64_t)height * (2 * band - 1) / (2 * bands - 2));
}

/* Paths of one step for the runs of a band, and nothing hung yet. */
static inline void early_flatten(struct runs *runs, int32_t first, int32_t next)
{
    runs_flatten(runs, first, next);
    for (int32_t i = first; i < next; i++)
        runs->hung[i] = i;
}

/* Joins the band that begins with row y > 0 to those above. */
SIMD_INLINE void early_join(const struct runs *runs, int connectivity, int y, struct lists *lists)
{
    const int32_t own = runs->first[y] - 1, above = runs->first[y - 1] - 1;
    const int32_t *parent = runs->parent;

    lists_make(lists, runs, connectivity, y);
    for (const struct list *list = &lists->links; list; list = list == &lists->links ? &lists->rest : NULL)
        for (int i = 0; i < list->count; i++)
            unite(runs->hung, parent[own + list->own[i]], parent[above + list->above[i]]);
}

/* numbers_by_run() for such trees. */
static inline int32_t early_numbers(struct runs *runs, struct image out[], const struct labelling_params *params)
{
    int32_t count = 0;

    for (int y = 0; y < out->height; y++)
        for (int32_t i = runs->first[y]; i < runs->first[y] + runs->count[y]; i++) {
            if (runs->parent[i] != i || runs->hung[i] != i)
                continue;
            runs->number[i] = ++count;
            if (params->consecutive)
                runs->label[i] = count;
            if (params->statistics && count <= params->max_components)
                *(int32_t *)image_row(&out[1], count) = runs->label[i];
        }
    return count;
}

/* Labels of those roots of a band whose trees hang elsewhere by now, below 0 where `mark`; their numbers where there are any.
 * Each has a run in the first row of the band or in the last. */
static inline void early_settle(const struct runs *runs, int top, int bottom, bool mark, bool numbers)
{
    const int rows[2] = {top, bottom - 1};

    for (int k = 0; k < 2; k++)
        for (int32_t i = runs->first[rows[k]]; i < runs->first[rows[k]] + runs->count[rows[k]]; i++) {
            const int32_t own = runs->parent[i], root = find(runs->hung, own), label = runs->label[root];
            if (runs->label[own] != label)
                runs->label[own] = mark ? -label : label;
            /* A root's own stays untouched: other threads read it now. */
            if (numbers && own != root)
                runs->number[own] = runs->number[root];
        }
}

/* When band b has trees: joins it to those above, and settles the band that is written then if `early`. Behind the last band
 * the bands that are left are settled. */
SIMD_INLINE void early_step(const struct runs *runs, int connectivity, int height, int b, int bands, bool early,
                            struct lists *lists)
{
    const int late = b - early_lag(bands);

    if (b > 0 && b < bands)
        early_join(runs, connectivity, early_top(height, b, bands), lists);
    if (early && late >= 0)
        early_settle(runs, early_top(height, late, bands), early_top(height, late + 1, bands), false, false);
}

/* Whether a label of a band is marked. */
static inline bool early_differs(const struct runs *runs, int top, int bottom)
{
    const int rows[2] = {top, bottom - 1};

    for (int k = 0; k < 2; k++)
        for (int32_t i = runs->first[rows[k]]; i < runs->first[rows[k]] + runs->count[rows[k]]; i++)
            if (runs->label[runs->parent[i]] < 0)
                return true;
    return false;
}

/* Writes those words of row y again in which a run has a marked label. `roots`: room for the labels of a row. */
SIMD_INLINE void early_again(const struct runs *runs, struct image *out, int32_t *roots, int y, bool past)
{
    uint8_t marks[1 + RUNS_MOST + 64], some = 0; /* marks[0]: of the run before a word, as for labels */

    for (int i = 0; i < runs->count[y]; i++) {
        const int32_t label = runs->label[runs->parent[runs->first[y] + i]];
        roots[i] = label < 0 ? -label : label;
        some |= marks[i + 1] = label < 0;
    }
    if (!some)
        return;
#if defined(LISTS_VECTORS)
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    const uint8_t *mark = marks;
    uint64_t carry = 0;
    marks[0] = 0;
    roots--;
    for (int word = 0; word < runs->words; word++) {
        const uint64_t left = bits[word] << 1 | carry;
        const int count = __builtin_popcountll(bits[word] & ~left);
        if (bits_nonzero(mark) & (((uint64_t)2 << count) - 1))
            ranks_word(out, image_row(out, y), 64 * word, bits[word], left, roots, past);
        mark += count;
        roots += count;
        carry = bits[word] >> 63;
    }
#else
    paint_row_by(runs, out, roots, y, past);
#endif
}

/* All words whose labels are marked, by all threads, each of which calls it. */
static inline void early_all_again(const struct runs *runs, struct image *out, int32_t *roots, int bands, bool past)
{
    for (int b = 0; b < bands; b++) {
        const int top = early_top(out->height, b, bands), bottom = early_top(out->height, b + 1, bands);
        if (!early_differs(runs, top, bottom))
            continue;
#pragma omp for schedule(dynamic, 16) nowait
        for (int y = top; y < bottom; y++)
            early_again(runs, out, roots, y, past);
    }
}

#endif
