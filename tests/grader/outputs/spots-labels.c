/*
 * Idea:     right in the table, wrong in the labels: each is one too large.
 * Changed:  as above.
 * Expect:   the judge says so, in a check and in a timed call (tests/test_grader.sh).
 */
#include "tests/small/small.h"

static enum status run(const struct image *in, struct image *out, const struct spots_params *params)
{
    int found = 0;

    for (int y = 0; y < out[0].height; y++)
        for (int x = 0; x < 3; x++)
            image_set_sample(&out[0], x, y, 0, 0);
    for (int y = 0; y < in[0].height; y++)
        for (int x = 0; x < in[0].width; x++) {
            const double value = image_sample(&in[0], x, y, 0);
            const bool spot = value >= params->level;

            image_set_sample(&out[2], x, y, 0, spot ? y * in[0].width + x + 2 : 0);
            if (params->map)
                image_set_sample(&out[1], x, y, 0, value / 4);
            if (spot && ++found <= SPOTS_ROWS) {
                image_set_sample(&out[0], 0, found, 0, x);
                image_set_sample(&out[0], 1, found, 0, y);
                image_set_sample(&out[0], 2, found, 0, value / 10);
            }
        }
    image_set_sample(&out[0], 0, 0, 0, found);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(spots)
