/*
 * Problem:  To join two sets of labels, cpu/two_scan goes through all labels of one of them.
 * Idea:     Each label keeps the least label known in its component (Suzuki, Horiba and Sugie
 *           2003). Scans to and fro give neighbours the least one of theirs until none changes.
 * Expect:   2 to 4 times cpu/two_scan's time: most images take two more pairs of scans.
 * Result:   7.3 times cpu/two_scan's time, 730 ms
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make study-labelling
 * From:     cpu/two_scan
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/labelling.h"
#include "cpu/labelling/shared/pixels.h"

struct tables {
    int32_t *least; /* of each label, the least that is known to be in its component */
    int32_t *first; /* raster index of the label's first pixel */
    int32_t count;
};

/* Pixel (x, y), whose label is -1 in the first scan, and its neighbours before it (sign 1) or behind it (-1): all
 * learn the least of what they stand for. Returns whether one of them did not know it. */
static bool scan_pixel(const struct image *in, struct image *out, struct tables *tables, int connectivity, int x, int y,
                       int sign)
{
    int32_t *own = (int32_t *)image_row(out, y) + x, labels[5] = {*own}, least = INT32_MAX, count = *own >= 0;
    bool changed = false;

    for (int k = 0; k < connectivity / 2; k++)
        if (is_foreground(in, x + sign * before_x[k], y + sign * before_y[k]))
            labels[count++] = ((const int32_t *)image_row(out, y + sign * before_y[k]))[x + sign * before_x[k]];
    if (count == 0) {
        tables->least[tables->count] = labels[count++] = tables->count;
        tables->first[tables->count++] = y * in->width + x;
    }
    for (int i = 0; i < count; i++)
        least = tables->least[labels[i]] < least ? tables->least[labels[i]] : least;
    for (int i = 0; i < count; i++) {
        changed |= tables->least[labels[i]] != least;
        tables->least[labels[i]] = least;
    }
    *own = least;
    return changed;
}

static bool scan(const struct image *in, struct image *out, struct tables *tables, int connectivity, int sign)
{
    bool changed = false;

    for (int i = 0; i < in->height; i++)
        for (int j = 0; j < in->width; j++) {
            const int x = sign > 0 ? j : in->width - 1 - j, y = sign > 0 ? i : in->height - 1 - i;
            if (is_foreground(in, x, y))
                changed |= scan_pixel(in, out, tables, connectivity, x, y, sign);
        }
    return changed;
}

/* A look-up in place of a walk. */
static void label_row(const struct image *in, const struct tables *tables, struct image *out, int y)
{
    const uint8_t *row = image_row(in, y);
    int32_t *labels = image_row(out, y);

    for (int x = 0; x < in->width; x++)
        labels[x] = row[x] ? tables->first[labels[x]] + 1 : 0;
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    /* At most every second pixel begins a label: the one to its left is background. */
    const size_t most = ((size_t)in->width + 1) / 2 * in->height;
    int32_t *table = malloc(2 * most * sizeof *table);
    struct tables tables = {table, table + most, 0};
    bool changed = true;

    if (!table)
        return status_set(STATUS_NO_MEMORY, "no memory for the labels of %dx%d pixels", in->width, in->height);
    for (int y = 0; y < in->height; y++)
        memset(image_row(out, y), 0xff, (size_t)in->width * sizeof(int32_t)); /* -1 */
    scan(in, out, &tables, params->connectivity, 1);
    for (int pair = 0; changed && pair <= tables.count; pair++) { /* each but the last completes at least one label */
        changed = scan(in, out, &tables, params->connectivity, -1);
        changed |= scan(in, out, &tables, params->connectivity, 1);
    }
    for (int y = 0; y < in->height; y++)
        label_row(in, &tables, out, y);
    free(table);
    return changed ? status_set(STATUS_FAILED, "labels still change after as many scans as labels") : STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
