#include "cpu/hough/shared/points.h"

#include <omp.h>
#include <string.h>

/* Row y: 1 for an edge point, 0 for others. The compiler makes vectors of both loops: Sobel's sums fit in 16 bits. */
static void mark_row(const struct image *in, int y, const struct hough_params *params, uint8_t *restrict marks)
{
    const uint8_t *own = image_row(in, y), *above = y > 0 ? image_row(in, y - 1) : own;
    const uint8_t *below = y + 1 < in->height ? image_row(in, y + 1) : own;
    const int16_t edge = (int16_t)params->edge;
    struct hough_gradient gradient;

    for (int x = 0; params->edges == HOUGH_NONZERO && x < in->width; x++)
        marks[x] = own[x] != 0;
    for (int x = 1; params->edges == HOUGH_SOBEL && x < in->width - 1; x++) {
        const int16_t falling = (int16_t)(below[x + 1] - above[x - 1]), rising = (int16_t)(above[x + 1] - below[x - 1]);
        const int16_t gx = (int16_t)(2 * (own[x + 1] - own[x - 1]) + falling + rising);
        const int16_t gy = (int16_t)(2 * (below[x] - above[x]) + falling - rising);
        marks[x] = (int16_t)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy)) > edge;
    }
    marks[0] = hough_is_point(in, 0, y, params, &gradient);
    marks[in->width - 1] = hough_is_point(in, in->width - 1, y, params, &gradient);
}

/* Compaction without a branch on a pixel: all eight are written, and `at` goes on behind those that are points. */
static size_t add_row(const uint8_t *marks, int width, int y, struct points *points, size_t at)
{
    for (int x = 0; x < width; x += 8) {
        uint64_t any;
        memcpy(&any, marks + x, sizeof any);
        for (int k = x; any && k < x + 8 && k < width; k++) {
            points->x[at] = (float)k;
            points->y[at] = (float)y;
            at += marks[k];
        }
    }
    return at;
}

enum status points_reserve(struct points *points, size_t capacity)
{
    if (points->capacity >= capacity)
        return STATUS_OK;
    points_free(points);
    points->x = malloc(capacity * (2 * sizeof *points->x + sizeof *points->bins));
    if (!points->x)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", capacity);
    points->y = points->x + capacity;
    points->bins = (uint16_t *)(points->y + capacity);
    points->capacity = capacity;
    return STATUS_OK;
}

static enum status find_bins(const struct image *in, const struct hough_params *params, struct points *points)
{
    struct hough_direction *directions = malloc((size_t)(params->theta_steps + 1) * sizeof *directions);

    if (!directions)
        return status_set(STATUS_NO_MEMORY, "no memory for %d directions", params->theta_steps);
    hough_make_directions(params, directions);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < (params->half_width == HOUGH_ALL_ROWS ? 0 : points->count); i++) {
        const struct hough_gradient gradient = hough_sobel(in, (int)points->x[i], (int)points->y[i]);
        points->bins[i] = (uint16_t)hough_bin_for(directions, params, gradient);
    }
    free(directions);
    return STATUS_OK;
}

/* A thread has a band of rows; its points lie where they would if all pixels above were points, then move up. */
enum status points_find(const struct image *in, const struct hough_params *params, struct points *points, bool bins)
{
    const size_t threads = (size_t)omp_get_max_threads(), width = (size_t)in->width, height = (size_t)in->height;
    uint8_t *marks = calloc(threads, width + 8); /* a row for each thread */
    enum status status = points_reserve(points, width * height);

    points->count = 0;
    if (!marks)
        status = status_set(STATUS_NO_MEMORY, "no memory for rows of marks");
#pragma omp parallel for schedule(static, 1) ordered if (status == STATUS_OK)
    for (size_t t = 0; t < (status == STATUS_OK ? threads : 0); t++) {
        const size_t from = height * t / threads * width;
        size_t at = from;
        for (size_t y = height * t / threads; y < height * (t + 1) / threads; y++) {
            mark_row(in, (int)y, params, marks + t * (width + 8));
            at = add_row(marks + t * (width + 8), in->width, (int)y, points, at);
        }
#pragma omp ordered
        {
            memmove(points->x + points->count, points->x + from, (at - from) * sizeof *points->x);
            memmove(points->y + points->count, points->y + from, (at - from) * sizeof *points->y);
            points->count += at - from;
        }
    }
    free(marks);
    return status == STATUS_OK && bins ? find_bins(in, params, points) : status;
}

void points_free(struct points *points)
{
    free(points->x);
    free(points->starts);
    *points = (struct points){0};
}
