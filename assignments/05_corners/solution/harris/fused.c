/*
 * Idea:     one pass. The products of the rows that the window covers are in a ring; the sum of each column of the
 *           window is kept from row to row, and the sum of the window from pixel to pixel: what enters is added, what
 *           leaves is subtracted.
 * Changed:  no array of products; two additions and two subtractions a pixel, whatever the size of the window.
 * Expect:   ten times cpu/serial on two cores with size=7.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/harris.h"

enum { BAND = 128 /* rows that a thread takes on at once */ };

/* From the response to the table, as cpu/serial does it. */
static enum status find_corners(const struct image *response, const struct harris_params *params, struct image *corners)
{
    struct harris_list list = {0};
    float largest = 0;
    enum status status = STATUS_OK;

    for (int y = 0; y < response->height; y++)
        for (int x = 0; x < response->width; x++)
            largest = fmaxf(largest, ((const float *)image_row(response, y))[x]);
    const float threshold = harris_threshold(params, largest);
    for (int y = 0; y < response->height; y++) {
        const float *row = image_row(response, y);
        for (int x = 0; x < response->width; x++)
            if (row[x] > threshold && harris_is_peak(response, x, y, params->radius))
                if (status == STATUS_OK)
                    status = harris_append(&list, harris_key(row[x], response->width, x, y));
    }
    return status == STATUS_OK ? harris_write_corners(&list, params, response->width, corners) : status;
}

static int sample(const struct image *in, int x, int y)
{
    return ((const uint8_t *)image_row(in, harris_reflect(y, in->height)))[harris_reflect(x, in->width)];
}

static struct harris_sums multiply(int gx, int gy)
{
    return (struct harris_sums){gx * gx, gx * gy, gy * gy};
}

static struct harris_sums product_at(const struct image *in, int x, int y)
{
    const int across = sample(in, x + 1, y) - sample(in, x - 1, y), down = sample(in, x, y + 1) - sample(in, x, y - 1);
    const int falling = sample(in, x + 1, y + 1) - sample(in, x - 1, y - 1);
    const int rising = sample(in, x + 1, y - 1) - sample(in, x - 1, y + 1);

    return multiply(2 * across + falling + rising, 2 * down + falling - rising);
}

/* Products of row y, from size / 2 pixels left of the picture to as many right of it. */
static void multiply_row(const struct image *in, int y, int reach, struct harris_sums *row)
{
    const uint8_t *above = image_row(in, harris_reflect(y - 1, in->height)), *own = image_row(in, y);
    const uint8_t *below = image_row(in, harris_reflect(y + 1, in->height));
    const int last = in->width - 1;

    for (int x = 1; x < last; x++) {
        const int falling = below[x + 1] - above[x - 1], rising = above[x + 1] - below[x - 1];
        row[reach + x] =
            multiply(2 * (own[x + 1] - own[x - 1]) + falling + rising, 2 * (below[x] - above[x]) + falling - rising);
    }
    row[reach] = product_at(in, 0, y);
    row[reach + last] = product_at(in, last, y);
    for (int i = 1; i <= reach; i++) {
        row[reach - i] = row[reach + harris_reflect(-i, in->width)];
        row[reach + last + i] = row[reach + harris_reflect(last + i, in->width)];
    }
}

static void add(struct harris_sums *sums, const struct harris_sums *more, int sign)
{
    sums->a += sign * more->a;
    sums->b += sign * more->b;
    sums->c += sign * more->c;
}

static void respond(const struct image *in, struct image *response, const struct harris_params *params, int top,
                    int bottom, struct harris_sums *ring, size_t length)
{
    const int size = params->size, first = top - size / 2;
    struct harris_sums *columns = ring + (size_t)size * length;

    memset(columns, 0, length * sizeof *columns);
    for (int n = 0; n < bottom - top + size - 1; n++) {
        struct harris_sums *row = ring + (size_t)(n % size) * length;
        const int y = top + n - (size - 1);

        for (size_t i = 0; i < length && n >= size; i++)
            add(&columns[i], &row[i], -1);
        multiply_row(in, harris_reflect(first + n, in->height), size / 2, row);
        for (size_t i = 0; i < length; i++)
            add(&columns[i], &row[i], 1);
        if (y < top)
            continue;
        struct harris_sums sums = {0, 0, 0};
        float *to = image_row(response, y);
        for (int i = 0; i < size - 1; i++)
            add(&sums, &columns[i], 1);
        for (int x = 0; x < in->width; x++) {
            add(&sums, &columns[x + size - 1], 1);
            to[x] = harris_response(params, sums);
            add(&sums, &columns[x], -1);
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const size_t length = (size_t)in->width + 2 * (size_t)(params->size / 2),
                 ring = (size_t)(params->size + 1) * length;
    struct harris_sums *rings = malloc((size_t)omp_get_max_threads() * ring * sizeof *rings);
    struct image scratch = {0}, response;
    enum status status = STATUS_OK;

    if (!rings)
        return status_set(STATUS_NO_MEMORY, "no memory for rings of %d rows", params->size);
    TRY(harris_open_response(in, out, &scratch, &response));
#pragma omp parallel for schedule(dynamic)
    for (int top = 0; top < in->height; top += BAND)
        respond(in, &response, params, top, top + BAND < in->height ? top + BAND : in->height,
                rings + (size_t)omp_get_thread_num() * ring, length);
    if (out[1].data)
        TRY(find_corners(&response, params, &out[1]));
out:
    free(rings);
    image_free(&scratch);
    return status;
}

static const char *declines(const struct image in[], const void *params)
{
    const struct harris_params *p = params;

    (void)in;
    return p->gradient == HARRIS_SOBEL && p->window == HARRIS_BOX && p->border == HARRIS_REFLECT
               ? NULL
               : "Sobel's weights, a box and the reflected border are asked for";
}

RUNGS_CPU_VERSION(harris, .declines = declines)
