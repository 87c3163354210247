#include "cpu/hough/shared/points.h"
#include "cpu/hough/shared/gradients.h"

#include <omp.h>
#include <string.h>

enum { MANY = 64 };

/* A bit for each of 64 bytes that is not 0. Adding 127 to the lower seven bits of a byte sets the eighth unless they are 0;
 * the product brings the eighth bits of eight bytes side by side. */
static uint64_t find_many(const uint8_t *bytes)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    uint64_t found = 0, word;

    for (int i = 0; i < MANY; i += 8) {
        memcpy(&word, bytes + i, sizeof word);
        found |= (((((word & low) + low) | word) >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) << i;
    }
    return found;
}

/* Adds the pixels of a row that are not 0 from place `at` on; gives back the place behind them. Of 64 pixels it is one branch
 * that is hard to predict, how many points there are. */
static size_t add_row(const uint8_t *row, int width, int y, struct points *points, size_t at)
{
    uint8_t end[MANY] = {0};

    memcpy(end, row + width / MANY * MANY, (size_t)(width % MANY));
    for (int x = 0; x < width; x += MANY)
        for (uint64_t found = find_many(width - x < MANY ? end : row + x); found; found &= found - 1) {
            points->x[at] = (float)(x + __builtin_ctzll(found));
            points->y[at++] = (float)y;
        }
    return at;
}

enum status points_reserve(struct points *points, size_t capacity)
{
    if (points->capacity >= capacity)
        return STATUS_OK;
    points_free(points);
    points->x = malloc(capacity * sizeof *points->x);
    points->y = malloc(capacity * sizeof *points->y);
    points->bins = calloc(capacity, sizeof *points->bins);
    if (!points->x || !points->y || !points->bins)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", capacity);
    points->capacity = capacity;
    return STATUS_OK;
}

/* A thread's band of rows; its points lie where they would if all pixels above were points. */
static size_t find_in_band(const struct image *in, int first, int last, const struct hough_params *params,
                           const struct hough_direction *directions, struct points *points,
                           const struct gradients *gradients)
{
    size_t at = (size_t)first * (size_t)in->width;

    for (int y = first; y < last; y++) {
        const size_t before = at;
        if (params->edges == HOUGH_SOBEL)
            gradients_find(in, y, params->edge, gradients);
        at = add_row(params->edges == HOUGH_SOBEL ? gradients->mask : image_row(in, y), in->width, y, points, at);
        if (params->half_width != HOUGH_ALL_ROWS)
            gradients_bins(gradients, points, before, at, params, directions);
    }
    return at - (size_t)first * (size_t)in->width;
}

enum status points_find(const struct image *in, const struct hough_params *params, struct points *points)
{
    const int threads = omp_get_max_threads();
    const size_t width = (size_t)in->width;
    size_t *counts = calloc((size_t)threads, sizeof *counts);
    struct hough_direction *directions = malloc((size_t)(params->theta_steps + 1) * sizeof *directions);
    int16_t *rows = params->edges == HOUGH_SOBEL ? malloc((size_t)threads * width * 5) : NULL;
    enum status status = STATUS_OK;

    TRY(points_reserve(points, width * (size_t)in->height));
    if (!counts || !directions || (!rows && params->edges == HOUGH_SOBEL)) {
        status = status_set(STATUS_NO_MEMORY, "no memory for rows of gradients");
        goto out;
    }
    hough_make_directions(params, directions);
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const size_t thread = (size_t)t, all = (size_t)threads;
        struct gradients gradients = {0};
        if (rows)
            gradients = (struct gradients){rows + thread * width, rows + (all + thread) * width,
                                           (uint8_t *)(rows + 2 * all * width) + thread * width};
        counts[t] =
            find_in_band(in, (int)((int64_t)in->height * t / threads), (int)((int64_t)in->height * (t + 1) / threads),
                         params, directions, points, &gradients);
    }
    points->count = 0;
    for (int t = 0; t < threads; t++) {
        const size_t from = (size_t)((int64_t)in->height * t / threads) * width;
        memmove(points->x + points->count, points->x + from, counts[t] * sizeof *points->x);
        memmove(points->y + points->count, points->y + from, counts[t] * sizeof *points->y);
        if (params->half_width != HOUGH_ALL_ROWS)
            memmove(points->bins + points->count, points->bins + from, counts[t] * sizeof *points->bins);
        points->count += counts[t];
    }
out:
    free(counts);
    free(directions);
    free(rows);
    return status;
}

void points_free(struct points *points)
{
    free(points->x);
    free(points->y);
    free(points->bins);
    free(points->starts);
    *points = (struct points){0};
}
