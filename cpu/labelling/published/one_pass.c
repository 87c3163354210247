/*
 * Problem:  cpu/union_find walks from pixels to their roots, and scans the image twice.
 * Idea:     Flood fill (AbuBaker 2007): a foreground pixel without label gets one and is pushed on
 *           a stack. Each popped pixel gives it to its neighbours without label and pushes them.
 * Expect:   2 times cpu/union_find's time: 8 neighbours instead of 4, in no order that caches like.
 * Result:   1.1 times cpu/union_find's time, 183 ms
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make study-labelling
 * From:     cpu/union_find
 */
#include <stdlib.h>

#include "common/algo/labelling.h"
#include "cpu/labelling/shared/pixels.h"

static int32_t *label_at(const struct image *out, int x, int y)
{
    return (int32_t *)image_row(out, y) + x;
}

/* Labels the component whose first pixel is (x, y). */
static void flood(const struct image *in, struct image *out, int connectivity, int x, int y, int32_t *stack)
{
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */
    const int32_t label = y * in->width + x + 1;
    int32_t count = 1;

    *label_at(out, x, y) = label;
    stack[0] = label - 1;
    while (count > 0) {
        const int32_t at = stack[--count];
        for (int k = 0; k < connectivity; k++) {
            const int u = at % in->width + dx[k], v = at / in->width + dy[k];
            if (!is_foreground(in, u, v) || *label_at(out, u, v))
                continue;
            *label_at(out, u, v) = label;
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
            if (is_foreground(in, x, y) && !*label_at(out, x, y))
                flood(in, out, params->connectivity, x, y, stack);
    free(stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
