/*
 * Idea:     a node is a run of foreground pixels in a row, not a pixel. Two pointers go through the runs of a row and
 *           of the row above and unite those that touch.
 * Changed:  each band first writes down where runs begin and end; trees, joins and labels go by run.
 * Expect:   3 times as fast as trees on photographs, where a run has 20 pixels and only one node; hardly faster in
 *           noise.
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/labelling.h"

/* Row y has runs y * most to y * most + count[y] - 1; a run that begins earlier has a smaller number. */
struct runs {
    int most; /* runs of a row */
    int32_t *begin, *end, *parent, *count;
};

static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* [begin, end) of each run of row y, and a tree of its own. */
static void find_runs(const struct image *in, struct runs *runs, int y)
{
    const uint8_t *row = image_row(in, y);
    int32_t i = y * runs->most;

    for (int x = 0; x < in->width;) {
        while (x < in->width && !row[x])
            x++;
        if (x == in->width)
            break;
        runs->begin[i] = x;
        while (x < in->width && row[x])
            x++;
        runs->end[i] = x;
        runs->parent[i] = i;
        i++;
    }
    runs->count[y] = i - y * runs->most;
}

/* Unites runs of row y with those of the row above that they touch, with connectivity 8 at a corner as well. */
static void join_above(struct runs *runs, int connectivity, int y)
{
    const int reach = connectivity == 8;
    int32_t i = y * runs->most, k = (y - 1) * runs->most;
    const int32_t last = i + runs->count[y], last_above = k + runs->count[y - 1];

    while (i < last && k < last_above) {
        if (runs->begin[k] < runs->end[i] + reach && runs->begin[i] < runs->end[k] + reach)
            unite(runs->parent, i, k);
        if (runs->end[k] < runs->end[i]) /* the other one may touch the next run as well */
            k++;
        else
            i++;
    }
}

/* Trees of a band of rows, bottom excluded, which no path leaves. */
static void scan_band(const struct image *in, struct runs *runs, int connectivity, int top, int bottom)
{
    for (int y = top; y < bottom; y++) {
        find_runs(in, runs, y);
        if (y > top)
            join_above(runs, connectivity, y);
    }
}

/* Only reads the trees. */
static void label_row(const struct runs *runs, struct image *out, int y)
{
    int32_t *labels = image_row(out, y);
    int x = 0;

    for (int32_t i = y * runs->most; i < y * runs->most + runs->count[y]; i++) {
        int32_t root = i;
        while (runs->parent[root] != root)
            root = runs->parent[root];
        const int32_t label = root / runs->most * out->width + runs->begin[root] + 1;
        for (; x < runs->begin[i]; x++)
            labels[x] = 0;
        for (; x < runs->end[i]; x++)
            labels[x] = label;
    }
    for (; x < out->width; x++)
        labels[x] = 0;
}

static int top_of(int height, int band, int bands)
{
    return (int)((int64_t)height * band / bands);
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    const int height = in->height, wanted = 4 * omp_get_max_threads(), bands = wanted < height ? wanted : height;
    const int most = (in->width + 1) / 2;
    const size_t nodes = (size_t)most * height;
    int32_t *block = malloc((3 * nodes + (size_t)height) * sizeof *block);
    struct runs runs = {most, block, block + nodes, block + 2 * nodes, block + 3 * nodes};

    if (!block)
        return status_set(STATUS_NO_MEMORY, "no memory for the runs of %dx%d pixels", in->width, height);
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < bands; b++)
        scan_band(in, &runs, params->connectivity, top_of(height, b, bands), top_of(height, b + 1, bands));
    for (int b = 1; b < bands; b++)
        join_above(&runs, params->connectivity, top_of(height, b, bands));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++)
        label_row(&runs, out, y);
    free(block);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
