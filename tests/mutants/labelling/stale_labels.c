/*
 * Idea:     floods from each pixel that has no label yet, in an output that it takes for zeroed.
 * Changed:  the output is not cleared first: what it held before counts as labels.
 * Expect:   never written | what the output held before
 */
#include "tests/mutants/labelling/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int *stack = malloc((size_t)in->width * in->height * sizeof *stack);

    if (!stack)
        return status_set(STATUS_NO_MEMORY, "no memory for a stack");
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x] && ((const int32_t *)image_row(out, y))[x] == 0)
                mutant_flood(in, out, params->connectivity, x, y, y * in->width + x + 1, stack);
    free(stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
