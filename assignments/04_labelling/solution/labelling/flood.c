/*
 * Idea:     the scan stops at each foreground pixel that has no label; from there a stack finds the rest of its
 *           component.
 * Changed:  no trees: a label is final when it is written.
 * Expect:   half of cpu/serial's speed: all neighbours of a pixel are looked at, and the stack visits them in no order
 *           that caches like.
 */
#include <stdlib.h>

#include "common/algo/labelling.h"

static const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */

/* Labels the component of the pixel (x, y), which is its first one. A pixel gets its label when it is pushed, so that
 * each is pushed once. */
static void flood(const struct image *in, struct image *out, int connectivity, int x, int y, int32_t *stack)
{
    const int32_t label = y * in->width + x + 1;
    int32_t count = 0;

    ((int32_t *)image_row(out, y))[x] = label;
    stack[count++] = label - 1;
    while (count > 0) {
        const int32_t at = stack[--count];
        for (int k = 0; k < connectivity; k++) {
            const int u = at % in->width + dx[k], v = at / in->width + dy[k];
            if (u < 0 || v < 0 || u >= in->width || v >= in->height)
                continue;
            int32_t *there = (int32_t *)image_row(out, v) + u;
            if (!((const uint8_t *)image_row(in, v))[u] || *there)
                continue;
            *there = label;
            stack[count++] = v * in->width + u;
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int32_t *stack = malloc((size_t)in->width * in->height * sizeof *stack);

    if (!stack)
        return status_set(STATUS_NO_MEMORY, "no memory for a stack of %dx%d pixels", in->width, in->height);
    image_fill(out, 0);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x] && !((const int32_t *)image_row(out, y))[x])
                flood(in, out, params->connectivity, x, y, stack);
    free(stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
