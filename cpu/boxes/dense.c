/*
 * Idea:     the table has only the components that there are, and a map leads from labels to its entries. The map is
 *           never cleared: what it says counts only where that entry of the table names the label in turn (a sparse
 *           set, Briggs and Torczon 1993).
 * Changed:  from a table with an entry for each possible label; this one is sorted in the end if labels come in another order
 *           than their runs.
 * Expect:   10 times faster than runs: the 83 MB of the table are gone, and of the map's 8 MB only the places of labels that
 *           exist are touched. A comparison for each pixel is left.
 * From:     cpu/runs
 */
/* Try: make bench-boxes VERSIONS=cpu/runs,cpu/dense,cpu/bands,cpu/simd */
#include <stdlib.h>

#include "common/algo/boxes.h"

struct entry {
    struct boxes_sums sums;
    int32_t label;
};

struct table {
    int32_t *place; /* by label: where its entry may be */
    struct entry *entries;
    int count, capacity;
    bool failed;
};

static struct boxes_sums *lookup(struct table *table, int32_t label)
{
    const uint32_t place = (uint32_t)table->place[label];

    if (place < (uint32_t)table->count && table->entries[place].label == label)
        return &table->entries[place].sums;
    if (table->count == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 256;
        struct entry *entries = realloc(table->entries, (size_t)capacity * sizeof *entries);
        if (!entries) {
            table->failed = true;
            return NULL;
        }
        table->entries = entries;
        table->capacity = capacity;
    }
    table->place[label] = table->count;
    table->entries[table->count] = (struct entry){{INT32_MAX, INT32_MAX, -1, -1, 0, 0, 0}, label};
    return &table->entries[table->count++].sums;
}

static void add(struct table *table, int32_t label, const struct boxes_sums *part)
{
    struct boxes_sums *sums = lookup(table, label);

    if (!sums)
        return;
    sums->x_min = part->x_min < sums->x_min ? part->x_min : sums->x_min;
    sums->y_min = part->y_min < sums->y_min ? part->y_min : sums->y_min;
    sums->x_max = part->x_max > sums->x_max ? part->x_max : sums->x_max;
    sums->y_max = part->y_max > sums->y_max ? part->y_max : sums->y_max;
    sums->x_sum += part->x_sum;
    sums->y_sum += part->y_sum;
    sums->area += part->area;
}

static void add_row(struct table *table, const int32_t *row, int width, int labels, int y)
{
    for (int start = 0, end; start < width; start = end) {
        for (end = start + 1; end < width && row[end] == row[start]; end++)
            ;
        const unsigned long long area = (unsigned)(end - start);
        const struct boxes_sums part = {
            start, y, end - 1, y, end - start, area * (unsigned)(start + end - 1) / 2, area * (unsigned)y};
        if (row[start] > 0 && row[start] <= labels)
            add(table, row[start], &part);
    }
}

static int by_label(const void *a, const void *b)
{
    return ((const struct entry *)a)->label - ((const struct entry *)b)->label; /* both are positive */
}

static void write_table(const struct table *table, struct image *out, const struct boxes_params *params)
{
    int count = 0;
    bool sorted = true;

    for (int i = 1; i < table->count; i++)
        sorted &= table->entries[i - 1].label < table->entries[i].label;
    if (!sorted) /* labels that are raster indices of first pixels come in ascending order */
        qsort(table->entries, (size_t)table->count, sizeof *table->entries, by_label);
    image_fill(out, 0);
    for (int i = 0; i < table->count; i++)
        if (table->entries[i].sums.area >= params->min_area && ++count <= params->max_boxes)
            boxes_write_row(&table->entries[i].sums, table->entries[i].label, image_row(out, count));
    *(int32_t *)image_row(out, 0) = count;
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    const int labels = in->width * in->height;
    struct table table = {.place = malloc(((size_t)labels + 1) * sizeof *table.place)};

    if (!table.place)
        return status_set(STATUS_NO_MEMORY, "no memory for %d components", labels);
    for (int y = 0; y < in->height; y++)
        add_row(&table, image_row(in, y), in->width, labels, y);
    if (!table.failed)
        write_table(&table, out, params);
    free(table.place);
    free(table.entries);
    return table.failed ? status_set(STATUS_NO_MEMORY, "no memory for %d entries", table.capacity) : STATUS_OK;
}

RUNGS_CPU_VERSION(boxes)
