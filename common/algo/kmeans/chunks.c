#include <stdlib.h>
#include <string.h>

#include "common/algo/kmeans/rows.h"

static void assign_plain(const struct kmeans_assignment *assignment, int64_t first, int64_t last, int64_t *sums,
                         int64_t *counts)
{
    const struct kmeans_rows *rows = assignment->rows;
    const int features = rows->features;

    for (int64_t i = first; i < last; i++) {
        const int64_t number = kmeans_row_at(assignment, i);
        const int32_t *row = rows->fixed + number * features;
        uint64_t nearest = UINT64_MAX;
        if (assignment->squares)
            assignment->squares[i] = kmeans_row_distance(rows, number, kmeans_zeros);
        for (int j = 0; j < assignment->k; j++) {
            const uint64_t d = kmeans_row_distance(rows, number, assignment->centroids + j * features);
            if (d < nearest) {
                nearest = d;
                assignment->labels[i] = j;
            }
        }
        counts[assignment->labels[i]]++;
        for (int f = 0; f < features; f++)
            sums[assignment->labels[i] * features + f] += row[f];
    }
}

const uint16_t *kmeans_narrow_row(const struct kmeans_rows *rows, int64_t row, uint16_t *room)
{
    const void *from = kmeans_row(rows->in, row);

    if (rows->in->type == PIXEL_U16 && rows->features % 2 == 0)
        return from;
    for (int f = 0; f < rows->features; f++)
        room[f] = rows->in->type == PIXEL_U16 ? ((const uint16_t *)from)[f] : ((const uint8_t *)from)[f];
    room[rows->features] = 0;
    return room;
}

static enum status make_table(struct kmeans_table *table, const struct kmeans_assignment *assignment, int lanes)
{
    enum { ALIGNMENT = 64 };
    const int features = assignment->rows->features, k = assignment->k;

    table->groups = (k + lanes - 1) / lanes;
    table->pairs = (features + 1) / 2;
    const size_t count = (size_t)(table->groups * lanes), pieces = count * (size_t)table->pairs * 2;
    table->pieces = aligned_alloc(ALIGNMENT, (pieces * sizeof *table->pieces + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    table->norms = aligned_alloc(ALIGNMENT, (count * sizeof *table->norms + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!table->pieces || !table->norms)
        return status_set(STATUS_NO_MEMORY, "no memory for %d centroids", k);
    for (int j = 0; j < table->groups * lanes; j++) {
        int32_t norm = 0;
        for (int f = 0; f < 2 * table->pairs; f++) {
            const int32_t c = j < k && f < features ? assignment->centroids[j * features + f] : 0;
            table->pieces[((j / lanes * table->pairs + f / 2) * lanes + j % lanes) * 2 + f % 2] = (int16_t)c;
            norm += c * c;
        }
        table->norms[j] = j < k ? norm : INT32_MAX;
    }
    return STATUS_OK;
}

enum status kmeans_assign_chunks(const struct kmeans_assignment *assignment, kmeans_chunk chunk, int lanes,
                                 bool differences)
{
    /* Rows of a chunk. Threads take chunks as they come free, so that none waits long for one whose core is slower. */
    enum { CHUNK = 1 << 10 };
    const struct kmeans_rows *rows = assignment->rows;
    const int64_t chunks = (rows->count + CHUNK - 1) / CHUNK;
    const int size = assignment->k * rows->features;
    int64_t *sums = assignment->sums, *counts = assignment->counts;
    struct kmeans_table table = {0};
    enum status status = STATUS_OK;

    /* Else a version whose chunk does nothing would have its assignments made here, by the definition. */
    if (!rows->small && kmeans_rows_were_small())
        return status_set(STATUS_FAILED, "the rows are small, where an assignment says that they are not");
    if (rows->small)
        TRY(make_table(&table, assignment, lanes));
    if (assignment->first || !differences || !rows->small) {
        memset(sums, 0, (size_t)size * sizeof *sums);
        memset(counts, 0, (size_t)assignment->k * sizeof *counts);
    }
#pragma omp parallel reduction(+ : sums[:size], counts[:assignment->k])
    {
        int32_t *partial = calloc((size_t)size, sizeof *partial);
        if (!partial) {
#pragma omp critical
            status = STATUS_NO_MEMORY;
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < chunks; i++) {
            const int64_t first = i * CHUNK, last = first + CHUNK < rows->count ? first + CHUNK : rows->count;
            if (!rows->small)
                assign_plain(assignment, first, last, sums, counts);
            if (!rows->small || !partial)
                continue;
            chunk(assignment, &table, first, last, partial, counts);
            for (int at = 0; at < size; at++) {
                sums[at] += (int64_t)partial[at] * (1 << KMEANS_SHIFT);
                partial[at] = 0;
            }
        }
        free(partial);
    }
    if (status != STATUS_OK)
        status = status_set(status, "no memory for sums of %d clusters", assignment->k);
out:
    free(table.pieces);
    free(table.norms);
    return status;
}
