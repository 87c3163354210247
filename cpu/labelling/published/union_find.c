/*
 * Problem:  Which of four one-core algorithms is the fastest? (KTH 2016: common/algo/labelling.h)
 * Idea:     Two scans over trees (Tarjan 1975). In the first a pixel takes the least root of its
 *           neighbours W, NW, N and NE as its parent and hangs the other roots under it. The second
 *           writes each pixel's root as label. Unlike in cpu/serial, no path is shortened.
 * Expect:   1.0 times cpu/serial's time on photographs, where most pixels only copy a root.
 * Result:   1.2 times cpu/serial's time, 165 ms (results/h100/labelling/labelling_3840x2160.json).
 * Run:      make study-labelling
 * From:     cpu/serial
 */
#include <stdlib.h>

#include "common/algo/labelling.h"
#include "cpu/labelling/shared/pixels.h"

static int32_t find(const int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* Gives the foreground pixel (x, y) a parent. */
static void scan_pixel(const struct image *in, int32_t *parent, int connectivity, int x, int y)
{
    int32_t *own = &parent[y * in->width + x];

    *own = y * in->width + x;
    for (int k = 0; k < connectivity / 2; k++) {
        if (!is_foreground(in, x + before_x[k], y + before_y[k]))
            continue;
        const int32_t root = find(parent, (y + before_y[k]) * in->width + x + before_x[k]);
        if (root < *own) {
            parent[*own] = root; /* the least so far is none any more */
            *own = root;
        } else
            parent[root] = *own;
    }
}

static void scan(const struct image *in, int32_t *parent, int connectivity)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (is_foreground(in, x, y))
                scan_pixel(in, parent, connectivity, x, y);
}

/* Only reads the trees. */
static void label_row(const struct image *in, const int32_t *parent, struct image *out, int y)
{
    const uint8_t *row = image_row(in, y);
    int32_t *labels = image_row(out, y);

    for (int x = 0; x < in->width; x++) {
        labels[x] = row[x] ? find(parent, y * in->width + x) + 1 : 0;
    }
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int32_t *parent = malloc((size_t)in->width * in->height * sizeof *parent);

    if (!parent)
        return status_set(STATUS_NO_MEMORY, "no memory for the labels of %dx%d pixels", in->width, in->height);
    scan(in, parent, params->connectivity);
    for (int y = 0; y < in->height; y++)
        label_row(in, parent, out, y);
    free(parent);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
