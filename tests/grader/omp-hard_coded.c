/* expect: right 0..0 | speed 0..0 | says cases wrong */
/*
 * Idea:     knows one answer by heart.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <string.h>

#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    for (int y = 0; y < out->height; y++)
        memset(image_row(out, y), 128, (size_t)out->width);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
