/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/serial)
 * Expect:   (how many times as fast as cpu/serial it will be with size=7, and why; write it BEFORE you measure)
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"

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

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    struct image scratch = {0}, response;
    enum status status = STATUS_OK;

    TRY(harris_open_response(in, out, &scratch, &response)); /* out[0], or memory for it where nobody asks for it */
    status = status_set(STATUS_FAILED, "fused.c is not written yet"); /* the response comes here */
    if (status == STATUS_OK && out[1].data)
        TRY(find_corners(&response, params, &out[1]));
out:
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
