/*
 * Idea:     a run is added at once, by its ends and its length, in place of its pixels one by one. The image is read as
 *           one long array, which a row's end does not interrupt.
 * Changed:  one addition for each run; one loop in place of two.
 * Expect:   a tenth of the additions on photographs.
 */
#include <stdlib.h>

#include "common/algo/boxes.h"

/* A run of `length` pixels that begins at (x, y). */
static void add(struct boxes_sums *sums, int x, int y, int length)
{
    const int last = x + length - 1;

    if (sums->area == 0)
        *sums = (struct boxes_sums){.x_min = x, .y_min = y, .x_max = last, .y_max = y};
    sums->x_min = x < sums->x_min ? x : sums->x_min;
    sums->x_max = last > sums->x_max ? last : sums->x_max;
    sums->y_max = y;
    sums->x_sum += (unsigned long long)length * (unsigned)(x + last) / 2;
    sums->y_sum += (unsigned long long)length * (unsigned)y;
    sums->area += length;
}

static int32_t label_at(const struct image *in, int i)
{
    return ((const int32_t *)image_row(in, i / in->width))[i % in->width];
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    const int labels = in->width * in->height;
    struct boxes_sums *table = calloc((size_t)labels, sizeof *table);
    int count = 0;

    if (!table)
        return status_set(STATUS_NO_MEMORY, "no memory for %d components", labels);
    for (int i = 0, end; i < labels; i = end) {
        const int32_t label = label_at(in, i);
        for (end = i + 1; end < labels && label_at(in, end) == label; end++)
            continue;
        if (label > 0 && label <= labels)
            add(&table[label - 1], i % in->width, i / in->width, end - i);
    }
    image_fill(out, 0);
    for (int i = 0; i < labels; i++)
        if (table[i].area >= params->min_area && ++count <= params->max_boxes)
            boxes_write_row(&table[i], i + 1, image_row(out, count));
    *(int32_t *)image_row(out, 0) = count;
    free(table);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(boxes)
