/*
 * Idea:     rows are labelled in bands; corners are joined where a band looks at the row above it.
 * Changed:  below row 672 pixels that only touch at a corner are not joined.
 * Expect:   touch at corners only
 */
#include "tests/mutants/labelling/mutant.h"

enum { LAST_ROW = 672 };

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int *stack = malloc((size_t)in->width * in->height * sizeof *stack);
    struct image upper = *in, lower = *in, lower_out = *out;

    if (!stack)
        return STATUS_NO_MEMORY;
    image_fill(out, 0);
    for (int y = 0; y < in->height; y++) {
        const bool below = y >= LAST_ROW && in->height > LAST_ROW;

        lower.data = image_row(in, below ? LAST_ROW : 0);
        lower.height = below ? in->height - LAST_ROW : in->height;
        lower_out.data = image_row(out, below ? LAST_ROW : 0);
        lower_out.height = lower.height;
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x] && ((const int32_t *)image_row(out, y))[x] == 0)
                mutant_flood(below ? &lower : &upper, below ? &lower_out : out, below ? 4 : params->connectivity, x,
                             below ? y - LAST_ROW : y, y * in->width + x + 1, stack);
    }
    free(stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
