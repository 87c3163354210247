/*
 * Idea:     one pass. A thread goes down a band of rows and keeps the products of the `size` rows that its window covers in
 *           a ring, already reflected to the left and right; they never go to memory.
 * Changed:  the rings take the place of the array of all products; the loop over rows became one over bands.
 * Expect:   5 bytes a pixel move in place of 29, and the window's pass loses its reflections, which is most of its work:
 *           twice as fast as omp. A band of 64 rows computes size - 1 rows of products once more, 3 %.
 * Result:   1.3 times omp, not 2 (results/cpu2/harris/harris_1920x1080.json).
 * From:     cpu/omp
 */
/* Try: make bench-harris */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "cpu/harris/shared/corners.h"

enum { BAND = 64 /* rows that a thread takes on at once */ };

static int sample(const struct image *in, int x, int y)
{
    return ((const uint8_t *)image_row(in, harris_reflect(y, in->height)))[harris_reflect(x, in->width)];
}

static struct harris_sums multiply_gradients(const struct image *in, int x, int y, bool sobel)
{
    int gx = sample(in, x + 1, y) - sample(in, x - 1, y), gy = sample(in, x, y + 1) - sample(in, x, y - 1);

    if (sobel) {
        const int falling = sample(in, x + 1, y + 1) - sample(in, x - 1, y - 1);
        const int rising = sample(in, x + 1, y - 1) - sample(in, x - 1, y + 1);
        gx = 2 * gx + falling + rising;
        gy = 2 * gy + falling - rising;
    }
    return (struct harris_sums){gx * gx, gx * gy, gy * gy};
}

/* Products of row y from `reach` pixels left of the picture to as many right of it. */
static void multiply_row(const struct image *in, int y, const struct harris_params *params, struct harris_sums *row)
{
    const int reach = params->size / 2;

    for (int x = 0; x < in->width; x++)
        row[reach + x] = multiply_gradients(in, x, y, params->gradient == HARRIS_SOBEL);
    for (int i = 0; i < reach; i++) {
        row[i] = row[reach + harris_reflect(i - reach, in->width)];
        row[reach + in->width + i] = row[reach + harris_reflect(in->width + i, in->width)];
    }
}

static struct harris_sums sum_window(const struct harris_sums *const rows[], int x, const struct harris_params *params)
{
    const int size = params->size;
    struct harris_sums sums = {0, 0, 0};

    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            const struct harris_sums *product = &rows[j][x + i];
            const int weight = params->taps[i] * params->taps[j];
            sums.a += weight * product->a;
            sums.b += weight * product->b;
            sums.c += weight * product->c;
        }
    }
    return sums;
}

/* Rows top to bottom - 1 of the response. `ring` holds `size` rows of `length` products. */
static void respond(const struct image *in, struct image *response, const struct harris_params *params, int top,
                    int bottom, struct harris_sums *ring, size_t length)
{
    const int size = params->size, first = top - size / 2;
    const struct harris_sums *rows[HARRIS_MAX_SIZE];

    for (int n = 0; n < bottom - top + size - 1; n++) {
        multiply_row(in, harris_reflect(first + n, in->height), params, ring + (size_t)(n % size) * length);
        const int y = top + n - (size - 1);
        if (y < top)
            continue;
        for (int j = 0; j < size; j++)
            rows[j] = ring + (size_t)((n + 1 + j) % size) * length;
        float *row = image_row(response, y);
        for (int x = 0; x < in->width; x++)
            row[x] = harris_in_frame(params, x, y, in->width, in->height)
                         ? 0
                         : harris_response(params, sum_window(rows, x, params));
    }
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const size_t length = (size_t)in->width + HARRIS_MAX_SIZE, ring = (size_t)params->size * length;
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

RUNGS_CPU_VERSION(harris)
