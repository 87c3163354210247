/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   nothing; it is never timed.
 */
#include "tests/small/small.h"

static enum status run(const struct image *in, struct image *out, const struct lut_params *params)
{
    const uint8_t *table = params->table.data;

    for (int y = 0; y < in->height; y++)
        for (int i = 0; i < in->width * in->channels; i++)
            ((uint8_t *)image_row(out, y))[i] = table[((const uint8_t *)image_row(in, y))[i]];
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lut)
