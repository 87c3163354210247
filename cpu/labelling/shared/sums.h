/*
 * sums.h: statistics of components out of the runs of a row, which are listed first.
 */
#ifndef RUNGS_LABELLING_STEPS_SUMS_H
#define RUNGS_LABELLING_STEPS_SUMS_H

#include <limits.h>
#include <stdlib.h>

#include "cpu/labelling/shared/lists.h"

/* Of one component; of none yet it has a box that any run widens. */
struct sums {
    int32_t left, top, end, bottom; /* the last row and one behind the last column */
    uint64_t area, x_sum, y_sum;
};

/* `count` of them become of nothing. */
static inline void sums_clear(struct sums *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = (struct sums){.left = INT_MAX, .top = INT_MAX};
}

/* `count` of them, of nothing yet; NULL without memory. */
static inline struct sums *sums_create(size_t count)
{
    struct sums *sums = malloc((count + 1) * sizeof *sums);

    if (sums)
        sums_clear(sums, count);
    return sums;
}

/* Where the runs of row y begin and end, in turn, into the room of a list. */
SIMD_INLINE void sums_edges(const struct runs *runs, uint16_t *edges, int width, int y)
{
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    uint64_t carry = 0;
    int count = 0;

    for (int word = 0; word < runs->words; word++) {
        const uint64_t changes = bits[word] ^ (bits[word] << 1 | carry);
        carry = bits[word] >> 63;
        if (changes)
            count += bits_edges(changes, 64 * word, edges + count);
    }
    edges[count] = (uint16_t)width; /* of a run that ends with the row */
}

/* Adds the runs of row y to the components that the table has a row for, without a look at pixels. */
SIMD_INLINE void sums_add_row(const struct runs *runs, struct lists *lists, struct sums *sums, int rows, int width,
                              int y)
{
    uint16_t *edges = lists->links.own;

    sums_edges(runs, edges, width, y);
    for (int i = 0; i < runs->count[y]; i++) {
        const int32_t number = runs->number[runs->parent[runs->first[y] + i]];
        const int start = edges[2 * i], end = edges[2 * i + 1];
        if (number > rows)
            continue;
        struct sums *to = &sums[number - 1];
        to->left = start < to->left ? start : to->left;
        to->top = y < to->top ? y : to->top;
        to->end = end > to->end ? end : to->end;
        to->bottom = y > to->bottom ? y : to->bottom;
        to->area += (uint64_t)(end - start);
        to->x_sum += (uint64_t)(end - start) * (uint64_t)(start + end - 1) / 2;
        to->y_sum += (uint64_t)(end - start) * (uint64_t)y;
    }
}

/* Writes the table's row of component i, from 0, whose sums are those of all threads, a table's rows for each. */
static inline void sums_write_row(struct image *table, const struct sums *sums, int threads, int i)
{
    const int rows = table->height - 1;
    struct boxes_sums all = {0};

    for (int t = 0; t < threads; t++) {
        const struct sums *from = &sums[(size_t)t * rows + i];
        const struct boxes_sums part = {from->left,      from->top,   from->end - 1, from->bottom,
                                        (int)from->area, from->x_sum, from->y_sum};
        boxes_add_sums(&all, &part);
    }
    boxes_write_row(&all, *(int32_t *)image_row(table, 1 + i), image_row(table, 1 + i));
}

/* Writes the table of `count` components. */
static inline void sums_write(struct image *table, const struct sums *sums, int threads, int32_t count)
{
    for (int i = 0; i < table->height - 1 && i < count; i++)
        sums_write_row(table, sums, threads, i);
    *(int32_t *)table->data = count;
}

#endif
