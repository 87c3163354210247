/*
 * mutant.h: what the mutants of harris share: a right answer in parts, of which each of them spoils one.
 */
#ifndef RUNGS_HARRIS_MUTANT_H
#define RUNGS_HARRIS_MUTANT_H

#include "common/algo/harris.h"

#ifdef __CUDACC__
#define MUTANT_SIDE static __host__ __device__ inline
#else
#define MUTANT_SIDE static inline
#endif

/* What makes the response of sums. */
#ifndef MUTANT_RESPOND
#define MUTANT_RESPOND harris_response
#endif

MUTANT_SIDE int mutant_sample(const struct image *in, int x, int y)
{
    return ((const uint8_t *)image_row(in, harris_reflect(y, in->height)))[harris_reflect(x, in->width)];
}

/* gx and gy at (x, y), which may lie outside. */
MUTANT_SIDE void mutant_gradient(const struct image *in, int x, int y, const struct harris_params *params, int *gx,
                                 int *gy)
{
    *gx = *gy = 0;
    for (int i = -1; i <= 1; i++) {
        const int weight = params->gradient == HARRIS_SOBEL ? 2 - i * i : i == 0;

        *gx += weight * (mutant_sample(in, x + 1, y + i) - mutant_sample(in, x - 1, y + i));
        *gy += weight * (mutant_sample(in, x + i, y + 1) - mutant_sample(in, x + i, y - 1));
    }
}

MUTANT_SIDE struct harris_sums mutant_products(const struct image *in, int x, int y, const struct harris_params *params)
{
    int gx, gy;

    mutant_gradient(in, harris_reflect(x, in->width), harris_reflect(y, in->height), params, &gx, &gy);
    return (struct harris_sums){gx * gx, gx * gy, gy * gy};
}

typedef struct harris_sums mutant_multiplier(const struct image *in, int x, int y, const struct harris_params *params);
typedef bool mutant_judge(const struct image *response, int x, int y, float threshold,
                          const struct harris_params *params);

static inline bool mutant_is_corner(const struct image *response, int x, int y, float threshold,
                                    const struct harris_params *params)
{
    return ((const float *)image_row(response, y))[x] > threshold && harris_is_peak(response, x, y, params->radius);
}

#ifndef __cplusplus
static inline enum status mutant_run(const struct image *in, struct image *out, const struct harris_params *params,
                                     mutant_multiplier *multiply, mutant_judge *is_corner)
{
    struct image scratch = {0}, response;
    struct harris_list list = {0};
    float largest = 0;
    enum status status = STATUS_OK;

    TRY(harris_open_response(in, out, &scratch, &response));
    for (int y = 0; y < in->height; y++) {
        float *row = image_row(&response, y);
        for (int x = 0; x < in->width; x++) {
            struct harris_sums sums = {0, 0, 0};
            for (int k = 0; k < params->size * params->size; k++) {
                const int i = k % params->size, j = k / params->size, weight = params->taps[i] * params->taps[j];
                const struct harris_sums product =
                    multiply(in, x + i - params->size / 2, y + j - params->size / 2, params);
                sums.a += weight * product.a;
                sums.b += weight * product.b;
                sums.c += weight * product.c;
            }
            row[x] = harris_in_frame(params, x, y, in->width, in->height) ? 0 : MUTANT_RESPOND(params, sums);
            largest = row[x] > largest ? row[x] : largest;
        }
    }
    if (!out[1].data)
        goto out;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (is_corner(&response, x, y, harris_threshold(params, largest), params))
                TRY(harris_append(&list, harris_key(((float *)image_row(&response, y))[x], in->width, x, y)));
    TRY(harris_write_corners(&list, params, in->width, &out[1]));
out:
    image_free(&scratch);
    return status;
}
#endif

#endif
