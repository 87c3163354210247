/*
 * Idea:     sums of coordinates and the label beside them in words of 32 bits.
 * Changed:  24 bits are left for a sum: from 16,777,216 on it begins anew.
 * Expect:   centroid
 * Case:     2049x2051
 */
#include "tests/mutants/boxes/mutant.h"

static void write(const struct boxes_sums *sums, int label, int32_t *row)
{
    struct boxes_sums rounded = *sums;

    rounded.x_sum = sums->x_sum & 0xffffff;
    rounded.y_sum = sums->y_sum & 0xffffff;
    boxes_write_row(&rounded, label, row);
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    return mutant_run(in, out, params, in->width, write);
}

RUNGS_CPU_VERSION(boxes)
