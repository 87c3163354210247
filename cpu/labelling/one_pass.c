/*
 * Idea:     one pass, by flooding. The scan stops at each pixel that has no label yet; it is the first of a new
 *           component, whose other pixels a stack finds: pop one, give all its unlabelled neighbours the label and push
 *           them. A pixel is labelled when it is pushed, so it enters the stack once.
 * Changed:  no trees and nothing to unite: the label is final when it is written. Neighbours in all directions are
 *           looked at, not just those before a pixel, and the stack jumps where union_find's scans go straight.
 * Expect:   twice union_find's time on photographs: no walks to roots, but 8 neighbours a pixel in place of 4, and what
 *           the stack visits is not in the order that caches and prefetchers like.
 * Result:   2.0 times union_find's time (results/cpu2/labelling/labelling_1920x1080.json), as predicted.
 * From:     cpu/union_find
 */
/* Try: make bench-labelling VERSIONS=cpu/serial,cpu/one_pass,cpu/union_find,cpu/two_scan,cpu/front_back
 * Paper: Abubaker et al., One scan connected component labeling technique, ICSPC 2007. */
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
