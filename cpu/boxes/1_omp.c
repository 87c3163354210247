/*
 * Problem:  83 MB of table (1920x1080) for a few thousand components; threads cannot share it.
 * Idea:     Privatization: each thread has a band of rows and its own small table, with entries
 *           only for labels (component numbers) that occur. A map leads from label to entry and
 *           needs no clearing, as an entry names its label (Briggs and Torczon 1993).
 * Expect:   18 times as fast: 10 without the large table, times 1.8 for 2 threads.
 * Result:   18 times as fast as cpu/serial, but with 16 threads
 *           (results/h100/boxes/boxes_3840x2160.json); the reason is not known.
 * Run:      make diff-boxes A=cpu/serial B=cpu/omp
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/boxes.h"

struct entry {
    struct boxes_sums sums;
    int32_t label;
};

struct table {
    int32_t *place; /* by label: where its entry may be; not initialised */
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
    for (int x = 0; x < width; x++)
        if (row[x] > 0 && row[x] <= labels)
            add(table, row[x], &(struct boxes_sums){x, y, x, y, 1, (unsigned)x, (unsigned)y});
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
    const int labels = in->width * in->height, wanted = omp_get_max_threads();
    const int bands = wanted < in->height ? wanted : in->height;
    struct table *tables = calloc((size_t)bands, sizeof *tables);
    bool failed = !tables;

#pragma omp parallel for schedule(static, 1) reduction(|| : failed)
    for (int b = 0; b < bands; b++) {
        if (!tables || !(tables[b].place = malloc(((size_t)labels + 1) * sizeof *tables[b].place))) {
            failed = true;
            continue;
        }
        for (int y = (int)((int64_t)in->height * b / bands); y < (int)((int64_t)in->height * (b + 1) / bands); y++)
            add_row(&tables[b], image_row(in, y), in->width, labels, y);
        failed = failed || tables[b].failed;
    }
    for (int b = 1; b < bands && !failed; b++)
        for (int i = 0; i < tables[b].count; i++)
            add(&tables[0], tables[b].entries[i].label, &tables[b].entries[i].sums);
    failed = failed || tables[0].failed;
    if (!failed)
        write_table(&tables[0], out, params);
    for (int b = 0; tables && b < bands; b++) {
        free(tables[b].place);
        free(tables[b].entries);
    }
    free(tables);
    return failed ? status_set(STATUS_NO_MEMORY, "no memory for the tables of %d labels", labels) : STATUS_OK;
}

RUNGS_CPU_VERSION(boxes)
