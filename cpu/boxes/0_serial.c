/*
 * Idea:     Scatter: one pass adds each pixel to the sums of its component, in a table with an
 *           entry for every possible component number (label); a pass over that table writes the
 *           large components.
 * Expect:   20 ms at 1920x1080, most of it for the table: 40 bytes for each of 2 million labels, 83
 *           MB, are zeroed and read, although only a few thousand entries are used. Adding takes 1
 *           ns per pixel.
 * Result:   20.8 ms (results/cpu2/boxes/boxes_1920x1080.json), as predicted.
 * Run:      make bench-boxes VERSIONS=cpu/serial SIZE=1920x1080
 */
#include <stdlib.h>

#include "common/algo/boxes.h"

static void add(struct boxes_sums *sums, int x, int y)
{
    if (sums->area == 0)
        *sums = (struct boxes_sums){.x_min = x, .y_min = y, .x_max = x, .y_max = y};
    sums->x_min = x < sums->x_min ? x : sums->x_min;
    sums->y_min = y < sums->y_min ? y : sums->y_min;
    sums->x_max = x > sums->x_max ? x : sums->x_max;
    sums->y_max = y > sums->y_max ? y : sums->y_max;
    sums->x_sum += (unsigned)x;
    sums->y_sum += (unsigned)y;
    sums->area++;
}

static void write_table(const struct boxes_sums *table, int labels, struct image *out,
                        const struct boxes_params *params)
{
    int count = 0;

    image_fill(out, 0);
    for (int i = 0; i < labels; i++)
        if (table[i].area >= params->min_area && ++count <= params->max_boxes)
            boxes_write_row(&table[i], i + 1, image_row(out, count));
    *(int32_t *)image_row(out, 0) = count;
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    const int labels = in->width * in->height;
    struct boxes_sums *table = calloc((size_t)labels, sizeof *table);

    if (!table)
        return status_set(STATUS_NO_MEMORY, "no memory for %d components", labels);
    for (int y = 0; y < in->height; y++) {
        const int32_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            if (row[x] > 0 && row[x] <= labels)
                add(&table[row[x] - 1], x, y);
    }
    write_table(table, labels, out, params);
    free(table);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(boxes)
