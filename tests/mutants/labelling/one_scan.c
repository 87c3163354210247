/*
 * Idea:     one scan: a pixel takes the smallest label of its neighbours before it, or a new one.
 * Changed:  that two labels met is not kept, so the arms of a U stay two components.
 * Expect:   components are split: neighbours
 */
#include "common/algo/labelling.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1};

    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            int32_t label = y * in->width + x + 1;

            for (int k = 0; k < params->connectivity / 2; k++) {
                const int u = x + dx[k], v = y + dy[k];
                const int32_t other = u >= 0 && u < in->width && v >= 0 ? ((const int32_t *)image_row(out, v))[u] : 0;
                label = other > 0 && other < label ? other : label;
            }
            ((int32_t *)image_row(out, y))[x] = ((const uint8_t *)image_row(in, y))[x] ? label : 0;
        }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
