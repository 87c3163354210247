#include "cpu/hough/steps/points.h"

#include <omp.h>
#include <string.h>

/* What a thread needs for a row of gradients. */
struct gradients {
    int16_t *x, *y;
    uint8_t *mask; /* 1 for an edge point */
};

/* Columns 1 to width - 2 of a row. Sums of Sobel's weights and edge, 2040 at most, fit in 16 bits. */
static void find_inner(const uint8_t *restrict above, const uint8_t *restrict own, const uint8_t *restrict below,
                       int width, int16_t edge, int16_t *restrict to_x, int16_t *restrict to_y, uint8_t *restrict mask)
{
    for (int x = 1; x < width - 1; x++) {
        const int16_t falling = (int16_t)(below[x + 1] - above[x - 1]), rising = (int16_t)(above[x + 1] - below[x - 1]);
        const int16_t gx = (int16_t)(2 * (own[x + 1] - own[x - 1]) + falling + rising);
        const int16_t gy = (int16_t)(2 * (below[x] - above[x]) + falling - rising);
        to_x[x] = gx;
        to_y[x] = gy;
        mask[x] = (int16_t)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy)) > edge;
    }
}

/* The Sobel gradients of row y and which of its pixels are edge points. */
static void find_edges(const struct image *in, int y, int edge, const struct gradients *out)
{
    find_inner(image_row(in, y > 0 ? y - 1 : 0), image_row(in, y), image_row(in, y + 1 < in->height ? y + 1 : y),
               in->width, (int16_t)edge, out->x, out->y, out->mask);
    for (int end = 0; end < 2; end++) {
        const int x = end ? in->width - 1 : 0;
        const struct hough_gradient g = hough_sobel(in, x, y);
        out->x[x] = (int16_t)g.x;
        out->y[x] = (int16_t)g.y;
        out->mask[x] = (uint8_t)(abs(g.x) + abs(g.y) > edge);
    }
}

/* Adds the pixels of a row that are not 0 from place `at` on; gives back the place behind them. Eight pixels at a time:
 * adding 127 to the lower seven bits of each byte sets the eighth unless they are 0. */
static size_t add_row(const uint8_t *row, int width, int y, struct points *points, size_t at)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;

    for (int x = 0; x < width; x += 8) {
        uint64_t word = 0;
        memcpy(&word, row + x, width - x < 8 ? (size_t)(width - x) : 8);
        for (uint64_t found = (((word & low) + low) | word) & ~low; found; found &= found - 1) {
            points->x[at] = (float)(x + __builtin_ctzll(found) / 8);
            points->y[at++] = (float)y;
        }
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

/* hough_bin() near a guess: from a direction close by, one or two cross products say where the gradient lies. */
static int bin_near(const struct hough_direction *directions, int rows, struct hough_gradient g, float guess)
{
    int bin = (int)guess < 0 ? 0 : (int)guess > rows ? rows : (int)guess;

    if (g.y < 0 || (g.y == 0 && g.x < 0)) {
        g.x = -g.x;
        g.y = -g.y;
    }
    while (bin > 0 && directions[bin].x * g.y - directions[bin].y * g.x < 0)
        bin--;
    while (bin < rows && directions[bin + 1].x * g.y - directions[bin + 1].y * g.x >= 0)
        bin++;
    return bin == rows ? 0 : bin;
}

/* The bins of points first to last - 1, all of one row. The arc tangent is guessed to 0.005 radians (Rajan, Wang, Inkol and
 * Joyal 2006); the guesses of many points are made in vectors. */
static void find_bins(struct points *points, size_t first, size_t last, const struct gradients *gradients,
                      const struct hough_params *params, const struct hough_direction *directions)
{
    enum { MANY = 256 };
    const float scale = (float)params->theta_steps / 3.14159265F;
    float x[MANY], y[MANY], guess[MANY];

    for (; first < last; first += MANY) {
        const size_t many = last - first < MANY ? last - first : MANY;
        for (size_t i = 0; i < many; i++) {
            const int at = (int)points->x[first + i];
            x[i] = gradients->x[at];
            y[i] = gradients->y[at];
        }
        for (size_t i = 0; i < many; i++) {
            const float a = fabsf(x[i]), b = fabsf(y[i]), more = a > b ? a : b, less = a > b ? b : a;
            const float t = less / (more + 1e-9F), arc = t * (0.7853982F + 0.273F * (1 - t));
            const float quarter = a > b ? arc : 1.5707963F - arc;
            guess[i] = ((x[i] < 0) == (y[i] < 0) ? quarter : 3.14159265F - quarter) * scale + 0.5F;
        }
        for (size_t i = 0; i < many; i++)
            points->bins[first + i] = (uint16_t)bin_near(directions, params->theta_steps,
                                                         (struct hough_gradient){(int)x[i], (int)y[i]}, guess[i]);
    }
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
            find_edges(in, y, params->edge, gradients);
        at = add_row(params->edges == HOUGH_SOBEL ? gradients->mask : image_row(in, y), in->width, y, points, at);
        if (params->half_width != HOUGH_ALL_ROWS)
            find_bins(points, before, at, gradients, params, directions);
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
