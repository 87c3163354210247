/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   nothing; it is never timed.
 */
#include "tests/small/small.h"

static enum status run(const struct image *in, struct image *out, const struct gram_params *params)
{
    (void)params;
    for (int i = 0; i < in[0].width; i++)
        for (int j = 0; j < in[0].width; j++) {
            double sum = 0;

            for (int y = 0; y < in[0].height; y++)
                sum += image_sample(&in[0], i, y, 0) * image_sample(&in[0], j, y, 0);
            image_set_sample(&out[0], j, i, 0, sum);
        }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(gram)
