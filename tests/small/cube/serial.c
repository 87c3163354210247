/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   nothing; it is never timed.
 */
#include "tests/small/small.h"

static enum status run(const struct image *in, struct image *out, const struct cube_params *params)
{
    (void)params;
    for (int y = 0; y < in[0].height; y++)
        for (int x = 0; x < in[0].width; x++) {
            double sum = 0;

            for (int b = 0; b < in[0].channels; b++) {
                const double sample = image_sample(&in[0], x, y, b);

                image_set_sample(&out[0], x, y, b, sample);
                sum += sample * image_sample(&in[1], 0, b, 0);
            }
            image_set_sample(&out[1], x, y, 0, sum);
        }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(cube)
