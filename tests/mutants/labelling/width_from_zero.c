/*
 * Idea:     labels by flooding, and statistics of each component from its pixels.
 * Changed:  x_max is taken for the width: boxes that do not begin in column 0 come out too wide by that.
 * Expect:   width too large
 */
#include "tests/mutants/labelling/mutant.h"

static void fill_table(const struct image *labels, struct image *table, int rows)
{
    int32_t count = 0;

    image_fill(table, 0);
    for (int y = 0; y < labels->height; y++)
        for (int x = 0; x < labels->width; x++) {
            const int32_t label = ((const int32_t *)image_row(labels, y))[x];
            struct boxes_sums sums = {0};
            if (label != y * labels->width + x + 1 || ++count > rows)
                continue;
            for (int v = y; v < labels->height; v++)
                for (int u = 0; u < labels->width; u++)
                    if (((const int32_t *)image_row(labels, v))[u] == label)
                        boxes_add_run(&sums, u, u + 1, v);
            boxes_write_row(&sums, label, image_row(table, count));
            ((int32_t *)image_row(table, count))[3] = sums.x_max + 1;
        }
    *(int32_t *)table->data = count;
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    int *stack = malloc((size_t)in->width * in->height * sizeof *stack);

    if (!stack)
        return status_set(STATUS_NO_MEMORY, "no memory for a stack");
    image_fill(out, 0);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x] && ((const int32_t *)image_row(out, y))[x] == 0)
                mutant_flood(in, out, params->connectivity, x, y, y * in->width + x + 1, stack);
    if (params->statistics)
        fill_table(&out[0], &out[1], params->max_components);
    free(stack);
    return STATUS_OK;
}

static const char *declines(const struct image in[], const void *params)
{
    const struct labelling_params *p = params;

    if (p->consecutive)
        return "does not number components 1, 2, 3 ...";
    return p->statistics && in->width * in->height > 10000 ? "takes too long" : NULL;
}

RUNGS_CPU_VERSION(labelling, .declines = declines)
