/* expect: right 0..0 | speed 0..0 | says is a version of absdiff */
/*
 * Idea:     is a version of something easier.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>

#include "common/algo/absdiff.h"

static enum status run(const struct image *in, struct image *out, const struct absdiff_params *params)
{
    const int samples = out->width * out->channels;

    (void)params;
    for (int y = 0; y < out->height; y++) {
        const uint8_t *a = image_row(&in[0], y), *b = image_row(&in[1], y);
        uint8_t *row = image_row(out, y);
        for (int i = 0; i < samples; i++)
            row[i] = (uint8_t)abs(a[i] - b[i]);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(absdiff)
