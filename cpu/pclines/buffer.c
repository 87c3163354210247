/*
 * Idea:     the column buffer (Havel 2012), which applies as hough's circular buffer does: of the accumulator there are only the n rows
 *           that the neighbourhood of a line needs, a ring of 69 KB with window=9 where the whole has 7.9 MB (shared/ring.h).
 * Changed:  fill_row() and search_run() in place of the accumulator; a thread computes n / 2 rows beyond either end of its run
 *           for itself, and beyond the ends of the space too, where a row is one of the other end, reversed.
 * Expect:   a tenth faster than rows with d = 512: 8 MB are neither made nor cleared nor searched in memory; with 2 threads 8 of
 *           1024 rows more are computed. With d = 4096 a quarter, for the accumulator then has 63 MB.
 * Result:   1.4 times rows with d = 512, at best: rows varies by 27 % there (results/cpu2_avx2/pclines/pclines_1920x1080_buffer.json).
 *           With d = 2048 1.17 times (results/cpu2_avx2/pclines/pclines_960x540_d2048.json): votes take nearly all of the time,
 *           so what the ring saves is memory.
 * From:     cpu/rows
 */
/* Try: make bench-pclines VERSIONS=cpu/rows,cpu/buffer P=d=4096 */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "cpu/pclines/shared/ring.h"

struct points {
    size_t count;
    int32_t *x, *y; /* from the middle of the picture */
    uint16_t *bins;
};

static enum status find_points(const struct image *in, const struct pclines_params *params, struct points *points)
{
    const size_t pixels = (size_t)in->width * (size_t)in->height;
    struct hough_gradient gradient = {0};

    *points = (struct points){0, malloc(pixels * sizeof *points->x), malloc(pixels * sizeof *points->y),
                              malloc(pixels * sizeof *points->bins)};
    if (!points->x || !points->y || !points->bins)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", pixels);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (hough_is_point(in, x, y, &params->hough, &gradient)) {
                points->bins[points->count] = (uint16_t)pclines_bin(params, gradient);
                points->x[points->count] = x - in->width / 2;
                points->y[points->count++] = y - in->height / 2;
            }
    return STATUS_OK;
}

static void vote(int32_t *centre, const struct points *points, const struct pclines_params *params, int n)
{
    enum { BATCH = 1024 };
    int32_t offset[BATCH];

    for (size_t first = 0; first < points->count; first += BATCH) {
        const size_t batch = points->count - first < BATCH ? points->count - first : BATCH;
        for (size_t i = 0; i < batch; i++)
            offset[i] = pclines_offset(points->x[first + i], points->y[first + i], n, params);
        for (size_t i = 0; i < batch; i++)
            if (pclines_votes_for(params, points->bins[first + i], n))
                centre[offset[i]]++;
    }
}

/* Row v in the place of the oldest; beyond either end a row of the other one, with v reversed. */
static void fill_row(const struct ring *ring, const struct points *points, struct hough_space space,
                     const struct pclines_params *params, int v)
{
    const int n = v < 0 ? v + space.rows : v >= space.rows ? v - space.rows : v;
    int32_t *row = ring_row(ring, v);

    memset(row - ring->radius, 0, (size_t)ring->width * sizeof *row);
    vote(row + space.centre, points, params, n);
    for (int left = 0, right = space.cells - 1; n != v && left < right; left++, right--) {
        const int32_t votes = row[left];
        row[left] = row[right];
        row[right] = votes;
    }
}

/* The lines of rows first to last - 1. */
static enum status search_run(const struct points *points, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct image *out,
                              struct hough_list *list)
{
    const int radius = params->hough.radius;
    struct ring ring = {0};
    enum status status = STATUS_OK;

    TRY(ring_create(&ring, space, radius));
    for (int v = first - radius; v < last + radius; v++) {
        const int n = v - radius;
        const int32_t *row = ring_row(&ring, n < first ? v : n);
        fill_row(&ring, points, space, params, v);
        if (out[1].data && v >= first && v < last)
            memcpy(image_row(&out[1], v), ring_row(&ring, v), (size_t)space.cells * sizeof(int32_t));
        for (int r = 0; out[0].data && n >= first && r < space.cells && status == STATUS_OK; r++)
            if (row[r] > params->hough.threshold && ring_is_line(&ring, space, n, r))
                status = hough_append(list, hough_key(space, n, r, row[r]));
    }
out:
    free(ring.counters);
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    struct points points = {0};
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads);
    TRY(find_points(in, params, &points));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        const enum status found = search_run(&points, space, params, first, last, out, &lists[thread]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(pclines_write_lines(&list, NULL, in, params, &out[0]));
out:
    free(points.x);
    free(points.y);
    free(points.bins);
    free(lists);
    free(list.keys);
    return status;
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct pclines_params *)params)->subpixel
               ? "the votes around a peak are gone when its row is written"
               : NULL;
}

RUNGS_CPU_VERSION(pclines, .declines = declines)
