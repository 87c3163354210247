/*
 * Idea:     floods over the four sides, whatever the connectivity.
 * Changed:  the parameter is not looked at: parts that touch at corners stay apart.
 * Expect:   diagonals are not followed
 */
#include "tests/mutants/labelling/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int *stack = malloc((size_t)in->width * in->height * sizeof *stack);

    (void)params;
    if (!stack)
        return status_set(STATUS_NO_MEMORY, "no memory for a stack");
    image_fill(out, 0);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x] && ((const int32_t *)image_row(out, y))[x] == 0)
                mutant_flood(in, out, 4, x, y, y * in->width + x + 1, stack);
    free(stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
