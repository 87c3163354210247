#include "common/algo/kmeans/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 18 /* largest sum of a row times largest sample */ };

const int32_t kmeans_zeros[KMEANS_MAX_FEATURES];

static _Thread_local bool were_small;

bool kmeans_rows_were_small(void)
{
    return were_small;
}

void kmeans_rows_measure(struct kmeans_rows *rows)
{
    const enum pixel_type type = rows->in->type;
    unsigned largest = 0, largest_sum = 0;
    float magnitude = 0;

#pragma omp parallel for schedule(static) reduction(max : largest, largest_sum, magnitude)
    for (int64_t i = 0; i < rows->count; i++) {
        const void *row = kmeans_row(rows->in, i);
        unsigned sum = 0;
        if (type == PIXEL_F32)
            for (int f = 0; f < rows->features; f++)
                magnitude = fmaxf(magnitude, fabsf(((const float *)row)[f]));
        else
            for (int f = 0; f < rows->features; f++) {
                const unsigned x = type == PIXEL_U8 ? ((const uint8_t *)row)[f] : ((const uint16_t *)row)[f];
                largest = x > largest ? x : largest;
                sum += x;
            }
        largest_sum = sum > largest_sum ? sum : largest_sum;
    }
    rows->shift = type == PIXEL_F32 ? kmeans_shift(magnitude) : KMEANS_SHIFT;
    rows->small = were_small = type != PIXEL_F32 && (uint64_t)largest * largest_sum < SMALL;
}

enum status kmeans_rows_fix(struct kmeans_rows *rows)
{
    const double scale = ldexp(1, rows->shift); /* up to 2^171: more than a float holds */

    rows->fixed = malloc(sizeof *rows->fixed * (size_t)rows->count * (size_t)rows->features);
    if (!rows->fixed)
        return status_set(STATUS_NO_MEMORY, "no memory for %lld rows", (long long)rows->count);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows->count; i++) {
        const void *row = kmeans_row(rows->in, i);
        int32_t *fixed = rows->fixed + i * rows->features;
        for (int f = 0; f < rows->features; f++)
            fixed[f] = rows->in->type == PIXEL_U8    ? ((const uint8_t *)row)[f] << KMEANS_SHIFT
                       : rows->in->type == PIXEL_U16 ? ((const uint16_t *)row)[f] << KMEANS_SHIFT
                                                     : (int32_t)lrint((double)((const float *)row)[f] * scale);
    }
    return STATUS_OK;
}

uint64_t kmeans_row_distance(const struct kmeans_rows *rows, int64_t row, const int32_t *restrict centroid)
{
    uint64_t sum = 0;

    if (rows->fixed) {
        const int32_t *restrict x = rows->fixed + row * rows->features;
        for (int f = 0; f < rows->features; f++) {
            const int64_t difference = x[f] - centroid[f];
            sum += (uint64_t)(difference * difference);
        }
    } else if (rows->in->type == PIXEL_U8) {
        const uint8_t *restrict x = kmeans_row(rows->in, row);
        for (int f = 0; f < rows->features; f++) {
            const int32_t difference = (x[f] << KMEANS_SHIFT) - centroid[f];
            sum += (uint32_t)(difference * difference);
        }
    } else {
        const uint16_t *restrict x = kmeans_row(rows->in, row);
        for (int f = 0; f < rows->features; f++) {
            const int32_t difference = (x[f] << KMEANS_SHIFT) - centroid[f];
            sum += (uint32_t)(difference * difference);
        }
    }
    return sum;
}

uint64_t kmeans_rows_distance(const struct kmeans_rows *rows, int64_t row, int64_t other)
{
    int32_t sum = 0;

    if (rows->in->type == PIXEL_U8) {
        const uint8_t *restrict x = kmeans_row(rows->in, row), *restrict y = kmeans_row(rows->in, other);
        for (int f = 0; f < rows->features; f++) {
            const int16_t difference = (int16_t)(x[f] - y[f]);
            sum += difference * difference;
        }
    } else {
        const uint16_t *restrict x = kmeans_row(rows->in, row), *restrict y = kmeans_row(rows->in, other);
        for (int f = 0; f < rows->features; f++) {
            const int16_t difference = (int16_t)(x[f] - y[f]);
            sum += difference * difference;
        }
    }
    return (uint64_t)sum << 2 * KMEANS_SHIFT;
}

void kmeans_row_take(const struct kmeans_rows *rows, int64_t row, int32_t *centroid)
{
    const void *x = kmeans_row(rows->in, row);

    if (rows->fixed)
        memcpy(centroid, rows->fixed + row * rows->features, sizeof *centroid * (size_t)rows->features);
    else
        for (int f = 0; f < rows->features; f++)
            centroid[f] = (rows->in->type == PIXEL_U8 ? ((const uint8_t *)x)[f] : ((const uint16_t *)x)[f])
                          << KMEANS_SHIFT;
}
