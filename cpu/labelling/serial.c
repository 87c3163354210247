/*
 * Idea:     two scans. The first makes every foreground pixel a tree of its own and unites it with its neighbours that
 *           come before it in raster order (W, and NW, N, NE above); the smaller root wins, so the root is the
 *           component's first pixel. The second writes root + 1. Where numbers or statistics are asked for, a third
 *           goes over the labels.
 * Changed:  nothing; this is the ground that the ladder stands on, and the reference for every other version.
 * Expect:   some 5 ns a pixel, 10 ms at 1920x1080: the walks to the roots hop through 8 MB of parents, and whether a
 *           pixel is foreground is a branch that the processor mispredicts along every edge.
 */
/* Try: make bench-labelling VERSIONS=cpu,peer/opencv */
#include <stdlib.h>

#include "common/algo/labelling.h"

/* The root of pixel i, whose path is halved on the way. */
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

/* Unites the foreground pixels of row y with their neighbours in the row above. */
static void join_above(const struct image *in, int32_t *parent, int connectivity, int y)
{
    const uint8_t *row = image_row(in, y), *above = image_row(in, y - 1);
    const int32_t first = y * in->width;

    for (int x = 0; x < in->width; x++) {
        if (!row[x])
            continue;
        if (above[x])
            unite(parent, first + x, first + x - in->width);
        if (connectivity == 8 && x > 0 && above[x - 1])
            unite(parent, first + x, first + x - in->width - 1);
        if (connectivity == 8 && x + 1 < in->width && above[x + 1])
            unite(parent, first + x, first + x - in->width + 1);
    }
}

/* Trees of the rows from top to bottom, bottom excluded. Their paths end up one step long. */
static void scan(const struct image *in, int32_t *parent, int connectivity, int top, int bottom)
{
    for (int y = top; y < bottom; y++) {
        const uint8_t *row = image_row(in, y);
        const int32_t first = y * in->width;
        for (int x = 0; x < in->width; x++)
            parent[first + x] = row[x] && x > 0 && row[x - 1] ? parent[first + x - 1] : first + x;
        if (y > top)
            join_above(in, parent, connectivity, y);
    }
    for (int32_t i = top * in->width; i < bottom * in->width; i++) /* parents come first, so theirs are final */
        parent[i] = parent[parent[i]];
}

/* Only reads the trees. */
static void label_row(const struct image *in, const int32_t *parent, struct image *out, int y)
{
    const uint8_t *row = image_row(in, y);
    int32_t *labels = image_row(out, y);

    for (int x = 0; x < in->width; x++) {
        int32_t root = parent[y * in->width + x];
        while (parent[root] != root)
            root = parent[root];
        labels[x] = row[x] ? root + 1 : 0;
    }
}

/* Another scan, for numbers in place of raster indices and for the statistics. `number` has room for each pixel, `sums`
 * for each row of the table. */
static void number_components(struct image out[], const struct labelling_params *params, int32_t *number,
                              struct boxes_sums *sums)
{
    const struct image *labels = &out[0], *table = &out[1];
    const int rows = params->statistics ? params->max_components : 0;
    int32_t count = 0;

    if (params->statistics)
        image_fill(&out[1], 0);
    for (int y = 0; y < labels->height; y++) {
        int32_t *label = image_row(labels, y);
        for (int x = 0; x < labels->width; x++) {
            if (!label[x])
                continue;
            if (label[x] == y * labels->width + x + 1) { /* the component's first pixel */
                number[label[x] - 1] = ++count;
                if (count <= rows)
                    *(int32_t *)image_row(table, count) = params->consecutive ? count : label[x];
            }
            const int32_t own = number[label[x] - 1];
            if (own <= rows)
                boxes_add_run(&sums[own - 1], x, x + 1, y);
            if (params->consecutive)
                label[x] = own;
        }
    }
    for (int i = 0; i < rows && i < count; i++)
        boxes_write_row(&sums[i], *(int32_t *)image_row(table, 1 + i), image_row(table, 1 + i));
    if (params->statistics)
        *(int32_t *)table->data = count;
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    int32_t *parent = malloc((size_t)in->width * in->height * sizeof *parent);
    struct boxes_sums *sums = calloc((size_t)params->max_components, sizeof *sums);
    enum status status = STATUS_OK;

    if (!parent || !sums) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %dx%d parents", in->width, in->height);
        goto out;
    }
    scan(in, parent, params->connectivity, 0, in->height);
    for (int y = 0; y < in->height; y++)
        label_row(in, parent, &out[0], y);
    if (params->consecutive || params->statistics)
        number_components(out, params, parent, sums);
out:
    free(parent);
    free(sums);
    return status;
}

RUNGS_CPU_VERSION(labelling)
