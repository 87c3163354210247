/*
 * edges.h: statistics of components, of which a run changes two vectors and not seven numbers.
 */
#ifndef RUNGS_LABELLING_STEPS_EDGES_H
#define RUNGS_LABELLING_STEPS_EDGES_H

#include "cpu/labelling/shared/shares.h"

typedef uint64_t edges_sum __attribute__((vector_size(32)));
typedef int32_t edges_box __attribute__((vector_size(16)));

/* Of one component, a line of the cache. */
struct edges {
    edges_sum sum;  /* area, of columns, of rows */
    edges_box box;  /* the least column and row, and the least of what is below 0: -1 - the last column and row */
    edges_box none; /* to 64 bytes */
};

static inline void edges_clear(struct edges *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        edges[i] = (struct edges){.box = {INT_MAX, INT_MAX, 0, 0}};
}

SIMD_INLINE void edges_add_row(const struct runs *runs, struct lists *lists, struct edges *edges, int rows, int width,
                               int y)
{
    uint16_t *at = lists->links.own;

    sums_edges(runs, at, width, y);
    for (int i = 0; i < runs->count[y]; i++) {
        const int32_t number = runs->number[runs->parent[runs->first[y] + i]];
        const uint64_t start = at[2 * i], end = at[2 * i + 1];
        if (number > rows)
            continue;
        struct edges *to = &edges[number - 1];
        const edges_sum twice = {2, start + end - 1, 2 * (uint64_t)y, 0};
        const edges_box box = {(int32_t)start, y, -(int32_t)end, -1 - y}, less = box < to->box;
        to->sum += twice * (end - start) >> 1;
        to->box = (box & less) | (to->box & ~less);
    }
}

/* sums_write_row(). */
static inline void edges_write_row(struct image *table, const struct edges *edges, int threads, int i)
{
    const int rows = table->height - 1;
    struct boxes_sums all = {0};

    for (int t = 0; t < threads; t++) {
        const struct edges *from = &edges[(size_t)t * rows + i];
        const struct boxes_sums part = {from->box[0],      from->box[1], -1 - from->box[2], -1 - from->box[3],
                                        (int)from->sum[0], from->sum[1], from->sum[2]};
        boxes_add_sums(&all, &part);
    }
    boxes_write_row(&all, *(int32_t *)image_row(table, 1 + i), image_row(table, 1 + i));
}

#endif
