/*
 * Problem:  cpu/serial uses one core, but within each pass no row needs the result of another.
 * Idea:     OpenMP gives each thread a part of the rows in each pass. Corners are few, so a
 *           critical section that guards their common list costs little (shared/corners.c).
 * Expect:   2 times as fast on 2 cores in the pass over the window (compute-bound), less in the
 *           others (bandwidth-bound: the products are 25 MB at 1920x1080).
 * Result:   2.7 times as fast as cpu/serial with 16 threads, 182 ms
 *           (results/h100/harris/harris_3840x2160.json); the reason is not known.
 * Run:      make diff-harris A=cpu/serial B=cpu/omp
 */
#include <stdlib.h>

#include "common/algo/harris.h"
#include "cpu/harris/shared/corners.h"

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

static struct harris_sums sum_window(const struct harris_sums *products, int width, int height, int x, int y,
                                     const struct harris_params *params)
{
    const int size = params->size;
    struct harris_sums sums = {0, 0, 0};

    for (int j = 0; j < size; j++) {
        const struct harris_sums *row = products + (size_t)harris_reflect(y + j - size / 2, height) * (size_t)width;
        for (int i = 0; i < size; i++) {
            const struct harris_sums *product = &row[harris_reflect(x + i - size / 2, width)];
            const int weight = params->taps[i] * params->taps[j];
            sums.a += weight * product->a;
            sums.b += weight * product->b;
            sums.c += weight * product->c;
        }
    }
    return sums;
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const int width = in->width, height = in->height;
    struct harris_sums *products = malloc((size_t)width * (size_t)height * sizeof *products);
    struct image scratch = {0}, response;
    enum status status = STATUS_OK;

    if (!products)
        return status_set(STATUS_NO_MEMORY, "no memory for the products of %d x %d gradients", width, height);
    TRY(harris_open_response(in, out, &scratch, &response));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            products[(size_t)y * (size_t)width + (size_t)x] =
                multiply_gradients(in, x, y, params->gradient == HARRIS_SOBEL);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++) {
        float *row = image_row(&response, y);
        for (int x = 0; x < width; x++)
            row[x] = harris_in_frame(params, x, y, width, height)
                         ? 0
                         : harris_response(params, sum_window(products, width, height, x, y, params));
    }
    if (out[1].data)
        TRY(find_corners(&response, params, &out[1]));
out:
    free(products);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(harris)
