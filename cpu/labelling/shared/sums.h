/*
 * sums.h: statistics of components out of the runs of a row. They stand here and not in cpu/statistics, which would be
 * too long with them.
 */
#ifndef RUNGS_LABELLING_SUMS_H
#define RUNGS_LABELLING_SUMS_H

#include "cpu/labelling/shared/lanes.h"

typedef uint64_t sums_u64 __attribute__((vector_size(32)));
typedef int32_t sums_i32 __attribute__((vector_size(16)));

/* Of one component, a line of the cache, which a run changes with two vectors. */
struct sums {
    sums_u64 sum; /* area, of columns, of rows */
    sums_i32 box; /* the least column and row, and the least of what is below 0: -1 - the last column and row */
};

/* Adds the runs of row y to the components that the table has a row for. */
SIMD_INLINE void sums_add_row(const struct runs *runs, const int32_t *number, struct sums *sums, int rows, int width,
                              int y)
{
    const uint64_t *row = runs_bits(runs, y);
    int32_t starts[RUNS_MOST + 32], ends[RUNS_MOST + 32], begun = 0, ended = 0;

    for (int word = 0; word < runs->words; word++) {
        const uint64_t left = bits_left(row + word);
        if (row[word] == left)
            continue;
        begun += lanes_positions(row[word] & ~left, 64 * word, starts + begun);
        ended += lanes_positions(~row[word] & left, 64 * word, ends + ended);
    }
    ends[ended] = width; /* of a run that ends with the row */
    for (int i = 0; i < runs->count[y]; i++) {
        const int32_t own = number[runs->parent[runs->first[y] + i]];
        const uint64_t start = (uint64_t)starts[i], end = (uint64_t)ends[i];
        if (own > rows)
            continue;
        struct sums *to = &sums[own - 1];
        const sums_u64 twice = {2, start + end - 1, 2 * (uint64_t)y, 0};
        const sums_i32 box = {(int32_t)start, y, -(int32_t)end, -1 - y}, less = box < to->box;
        to->sum += twice * (end - start) >> 1;
        to->box = (box & less) | (to->box & ~less);
    }
}

/* Writes the table's row of component i, from 0, whose sums are those of all threads, a table's rows for each. */
static inline void sums_write_row(struct image *table, const struct sums *sums, int threads, int i)
{
    const int rows = table->height - 1;
    struct boxes_sums all = {0};

    for (int t = 0; t < threads; t++) {
        const struct sums *from = &sums[(size_t)t * rows + i];
        const struct boxes_sums part = {from->box[0],      from->box[1], -1 - from->box[2], -1 - from->box[3],
                                        (int)from->sum[0], from->sum[1], from->sum[2]};
        boxes_add_sums(&all, &part);
    }
    boxes_write_row(&all, *(int32_t *)image_row(table, 1 + i), image_row(table, 1 + i));
}

#endif
