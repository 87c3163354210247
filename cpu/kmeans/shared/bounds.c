#include "cpu/kmeans/shared/bounds.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double up = 1 + 4 * DBL_EPSILON, down = 1 - 4 * DBL_EPSILON;

/* How far each centroid has moved since the last assignment, and the farthest of all others. */
static void measure_shifts(struct kmeans_bounds *bounds, const struct kmeans_assignment *assignment)
{
    const int features = assignment->rows->features, k = assignment->k;

    for (int j = 0; j < k; j++) {
        double sum = 0;
        for (int f = j * features; f < (j + 1) * features; f++) {
            const double difference = assignment->centroids[f] - bounds->before[f];
            sum += difference * difference; /* whole numbers below 2^53 */
        }
        bounds->shifts[j] = sqrt(sum) * up;
    }
    for (int j = 0; j < k; j++) {
        bounds->largest_other[j] = 0;
        for (int other = 0; other < k; other++)
            if (other != j)
                bounds->largest_other[j] = fmax(bounds->largest_other[j], bounds->shifts[other]);
    }
}

enum status kmeans_bounds_begin(struct kmeans_bounds *bounds, const struct kmeans_assignment *assignment)
{
    const size_t size = sizeof *bounds->before * (size_t)(assignment->k * assignment->rows->features);

    if (bounds->room < assignment->rows->count) { /* the last assignment has more rows than those of mini-batches */
        free(bounds->rows);
        bounds->room = assignment->rows->count;
        bounds->rows = malloc(sizeof *bounds->rows * (size_t)bounds->room);
    }
    if (!bounds->before)
        bounds->before = malloc(size);
    if (!bounds->rows || !bounds->before)
        return status_set(STATUS_NO_MEMORY, "no memory for bounds of %lld rows", (long long)assignment->rows->count);
    if (!assignment->first)
        measure_shifts(bounds, assignment);
    memcpy(bounds->before, assignment->centroids, size);
    return STATUS_OK;
}

void kmeans_bounds_free(struct kmeans_bounds *bounds)
{
    free(bounds->rows);
    free(bounds->before);
}

int kmeans_undecided(const struct kmeans_assignment *assignment, int64_t first, int64_t last, int64_t rows[])
{
    const struct kmeans_bounds *bounds = assignment->state;
    int count = 0;

    for (int64_t i = first; i < last; i++) {
        struct kmeans_row_bounds *row = &bounds->rows[i];
        if (!assignment->first) {
            row->upper = (row->upper + bounds->shifts[assignment->labels[i]]) * up;
            row->lower = (row->lower - bounds->largest_other[assignment->labels[i]]) * down;
        }
        if (assignment->first || row->upper >= row->lower)
            rows[count++] = i;
    }
    return count;
}

void kmeans_bounds_set(const struct kmeans_assignment *assignment, int64_t row, const uint16_t *x, int32_t nearest,
                       int32_t second)
{
    const struct kmeans_bounds *bounds = assignment->state;
    struct kmeans_row_bounds *own = &bounds->rows[row];

    if (assignment->first) {
        int64_t sum = 0;
        for (int f = 0; f < assignment->rows->features; f++)
            sum += x[f] * x[f];
        own->squares = (double)(sum << 2 * KMEANS_SHIFT);
    }
    own->upper = sqrt(own->squares + nearest) * up;
    own->lower = sqrt(own->squares + second) * down;
}
