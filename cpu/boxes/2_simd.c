/*
 * Problem:  Every pixel costs a branch, a table look-up and seven operations.
 * Idea:     Run-length encoding: a run is the equal labels (component numbers) side by side in a
 *           row. A comparison of 16 labels with their left neighbours gives a bit where a run ends.
 *           Formulas give a run's sums, so one addition per run replaces one per pixel.
 * Expect:   5 times as fast if runs are long: 8 MB take 0.2 ms (1920x1080, 2 threads), a run 5 ns.
 * Result:   3.8 times as fast as cpu/omp with 16 threads, 1.5 ms
 *           (results/h100/boxes/boxes_3840x2160.json); the reason is not known.
 * Run:      make diff-boxes A=cpu/omp B=cpu/simd
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/boxes.h"
#include "common/simd/simd.h"

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

/* Bit i: label i differs from the one before it, so a run ends there. */
SIMD_INLINE unsigned changes(const int32_t *labels)
{
#if defined(__AVX512BW__)
    return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(labels), _mm512_loadu_si512(labels - 1));
#else
    unsigned bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (unsigned)(labels[i] != labels[i - 1]) << i;
    return bits;
#endif
}

static void add_row(struct table *table, const int32_t *row, int width, int labels, int y)
{
    int start = 0;

    for (int x = 1; x <= width; x += 16) {
        unsigned bits = x + 16 <= width ? changes(row + x) : 0;
        for (int i = x; x + 16 > width && i <= width && i < x + 16; i++)
            bits |= (unsigned)(i == width || row[i] != row[i - 1]) << (i - x);
        for (; bits; bits &= bits - 1) {
            const int end = x + __builtin_ctz(bits);
            const unsigned long long area = (unsigned)(end - start);
            const struct boxes_sums part = {
                start, y, end - 1, y, end - start, area * (unsigned)(start + end - 1) / 2, area * (unsigned)y};
            if (row[start] > 0 && row[start] <= labels)
                add(table, row[start], &part);
            start = end;
        }
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

RUNGS_CPU_VERSION(boxes, .instruction_set = SIMD_NAME)
