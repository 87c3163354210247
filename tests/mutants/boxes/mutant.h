/*
 * mutant.h: what the CPU mutants of boxes share: a right table, whose parts each of them spoils.
 */
#ifndef RUNGS_BOXES_MUTANT_H
#define RUNGS_BOXES_MUTANT_H

#include <stdlib.h>

#include "common/algo/boxes.h"

/* Adds the pixels of a row from column x_first to x_end - 1. */
static inline void mutant_add_row(struct boxes_sums *table, const struct image *in, int y, int x_first, int x_end)
{
    const int32_t *row = image_row(in, y);

    for (int x = x_first; x < x_end; x++) {
        if (row[x] < 1 || row[x] > in->width * in->height)
            continue;
        struct boxes_sums *sums = &table[row[x] - 1];
        if (sums->area == 0)
            *sums = (struct boxes_sums){.x_min = x, .y_min = y, .x_max = x, .y_max = y};
        sums->x_min = x < sums->x_min ? x : sums->x_min;
        sums->x_max = x > sums->x_max ? x : sums->x_max;
        sums->y_max = y > sums->y_max ? y : sums->y_max;
        sums->x_sum += (unsigned)x;
        sums->y_sum += (unsigned)y;
        sums->area++;
    }
}

typedef void mutant_writer(const struct boxes_sums *sums, int label, int32_t *row);

static inline void mutant_write(const struct boxes_sums *table, int labels, struct image *out,
                                const struct boxes_params *params, mutant_writer *write)
{
    int count = 0;

    image_fill(out, 0);
    for (int i = 0; i < labels; i++)
        if (table[i].area >= params->min_area && ++count <= params->max_boxes)
            write(&table[i], i + 1, image_row(out, count));
    *(int32_t *)image_row(out, 0) = count;
}

static inline enum status mutant_run(const struct image *in, struct image *out, const struct boxes_params *params,
                                     int columns, mutant_writer *write)
{
    struct boxes_sums *table = calloc((size_t)in->width * in->height, sizeof *table);

    if (!table)
        return status_set(STATUS_NO_MEMORY, "no memory for a table");
    for (int y = 0; y < in->height; y++)
        mutant_add_row(table, in, y, 0, columns);
    mutant_write(table, in->width * in->height, out, params, write);
    free(table);
    return STATUS_OK;
}

#endif
