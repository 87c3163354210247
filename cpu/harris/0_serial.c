/*
 * Idea:     The definition, one pass over the picture per step: the products gx^2, gx gy and gy^2
 *           of the gradients, their sums over the window around each pixel, the corner response,
 *           and the corners, the pixels whose response is the largest around them.
 * Expect:   60 ns per pixel, 0.12 s at 1920x1080. Most of it is the window: 9 pixels of 3 products
 *           each, whose coordinates are reflected at the border. The products take 12 bytes per
 *           pixel to memory and back.
 * Run:      make bench-harris VERSIONS=cpu,peer/opencv P="outputs=response"
 */
#include <stdlib.h>

#include "common/algo/harris.h"

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

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const int width = in->width, height = in->height;
    struct harris_sums *products = malloc((size_t)width * (size_t)height * sizeof *products);
    struct image scratch = {0}, response;
    enum status status = STATUS_OK;

    if (!products)
        return status_set(STATUS_NO_MEMORY, "no memory for the products of %d x %d gradients", width, height);
    TRY(harris_open_response(in, out, &scratch, &response));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            products[(size_t)y * (size_t)width + (size_t)x] =
                multiply_gradients(in, x, y, params->gradient == HARRIS_SOBEL);
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
