/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   nothing.
 */
#include "common/algo/wells.h"

#include <string.h>

static enum status run(const struct image *in, struct image *out, const struct wells_params *params)
{
    double *moments[2] = {image_row(&out[2], 0), image_row(&out[2], 1)};
    int found = 0;

    for (int row = 0; row <= WELLS_ROWS; row++)
        wells_put(&out[0], row, 0, 0, 0);
    moments[0][0] = moments[0][1] = moments[1][0] = moments[1][1] = 0;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const int depth = wells_depth(in, x, y, params);

            ((uint8_t *)image_row(&out[1], y))[x] = depth ? 255 : 0;
            if (!depth)
                continue;
            if (++found <= WELLS_ROWS)
                wells_put(&out[0], found, x, y, depth);
            moments[0][0] += (double)x * x;
            moments[0][1] += (double)x * y;
            moments[1][1] += (double)y * y;
        }
    moments[1][0] = moments[0][1];
    *(float *)image_row(&out[0], 0) = (float)found;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(wells)
