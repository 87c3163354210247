/*
 * pixel_numbers.h: numbers 1, 2, 3 ... in place of raster indices, and the statistics of components, pixel by pixel.
 * All of it is here, for cpu/serial is also linked alone.
 */
#ifndef RUNGS_LABELLING_STEPS_PIXEL_NUMBERS_H
#define RUNGS_LABELLING_STEPS_PIXEL_NUMBERS_H

#include <stdlib.h>

#include "common/algo/labelling.h"

/* A scan over finished labels. `number` has room for each pixel. */
static inline enum status numbers_by_pixel(struct image out[], const struct labelling_params *params, int32_t *number)
{
    struct boxes_sums *sums = calloc((size_t)params->max_components, sizeof *sums);
    const struct image *labels = &out[0], *table = &out[1];
    const int rows = params->statistics ? params->max_components : 0;
    int32_t count = 0;

    if (!sums)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums of %d components", params->max_components);
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
    free(sums);
    return STATUS_OK;
}

#endif
