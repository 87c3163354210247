/*
 * Idea:     components numbered 1, 2, 3 ... in the order in which a scan meets them.
 * Changed:  that scan begins at the end of the image, so that the last component is number 1.
 * Expect:   not labelled by their first pixel
 */
#include "tests/mutants/labelling/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    const int pixels = in->width * in->height;
    int *stack = malloc((size_t)pixels * sizeof *stack), count = 0;

    if (!stack)
        return status_set(STATUS_NO_MEMORY, "no memory for a stack");
    image_fill(out, 0);
    for (int i = 0; i < pixels; i++) {
        const int at = params->consecutive ? pixels - 1 - i : i, x = at % in->width, y = at / in->width;
        if (((const uint8_t *)image_row(in, y))[x] && ((const int32_t *)image_row(out, y))[x] == 0)
            mutant_flood(in, out, params->connectivity, x, y, params->consecutive ? ++count : at + 1, stack);
    }
    free(stack);
    return STATUS_OK;
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct labelling_params *)params)->statistics ? "gathers no statistics" : NULL;
}

RUNGS_CPU_VERSION(labelling, .declines = declines)
