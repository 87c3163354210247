#include "cpu/harris/shared/peaks.h"

#include <stdlib.h>

enum { STRETCH = 64 /* columns that are passed at once where none exceeds the threshold */ };

static float largest_of(const float *row, int count)
{
    float largest = 0;

#pragma omp simd reduction(max : largest)
    for (int x = 0; x < count; x++)
        largest = row[x] > largest ? row[x] : largest;
    return largest;
}

/* Whether lines[radius][x] is the largest of those within `radius`, the first in raster order of equal ones. */
static bool is_largest(float *const lines[], int radius, int x)
{
    const float own = lines[radius][x];

    for (int j = 0; j <= 2 * radius; j++)
        for (int i = x - radius; i <= x + radius; i++)
            if (j < radius || (j == radius && i < x) ? lines[j][i] >= own : lines[j][i] > own)
                return false;
    return true;
}

void peaks_see(struct peaks *peaks, const float *row, int width)
{
    peaks->largest = fmaxf(peaks->largest, largest_of(row, width));
}

enum status peaks_find(struct peaks *peaks, float *const lines[], const struct harris_params *params, int width, int y)
{
    const int radius = params->radius;
    const float *above = lines[radius - 1], *row = lines[radius], *below = lines[radius + 1];
    const float threshold = harris_threshold(params, peaks->largest);
    enum status status = STATUS_OK;

    for (int x = radius; x < width - radius; x += STRETCH) {
        const int end = x + STRETCH < width - radius ? x + STRETCH : width - radius;
        uint8_t peak[STRETCH];

        if (!(largest_of(row + x, end - x) > threshold))
            continue;
#pragma omp simd
        for (int i = x; i < end; i++) {
            const float own = row[i];
            peak[i - x] = (own > threshold) & (own > above[i - 1]) & (own > above[i]) & (own > above[i + 1]) &
                          (own > row[i - 1]) & (own >= row[i + 1]) & (own >= below[i - 1]) & (own >= below[i]) &
                          (own >= below[i + 1]);
        }
        for (int i = x; i < end; i++)
            if (peak[i - x] && (radius == 1 || is_largest(lines, radius, i)))
                TRY(harris_append(&peaks->found, harris_key(row[i], width, i, y)));
    }
out:
    return status;
}

enum status peaks_join(struct peaks *peaks, struct peaks *more)
{
    enum status status = STATUS_OK;

    peaks->largest = fmaxf(peaks->largest, more->largest);
    for (size_t i = 0; i < more->found.count; i++)
        TRY(harris_append(&peaks->found, more->found.keys[i]));
out:
    free(more->found.keys);
    *more = (struct peaks){0};
    return status;
}

enum status peaks_write(struct peaks *peaks, const struct harris_params *params, int width, struct image *corners)
{
    const float threshold = harris_threshold(params, peaks->largest);
    struct harris_list *found = &peaks->found;
    size_t count = 0;

    for (size_t i = 0; i < found->count; i++)
        if (found->keys[i] > harris_key(threshold, 1, 0, 0)) /* the largest key of this response */
            found->keys[count++] = found->keys[i];
    found->count = count;
    return harris_write_corners(found, params, width, corners);
}
