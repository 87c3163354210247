/*
 * Idea:     width and height as the distance of the outermost pixels.
 * Changed:  x_max - x_min in place of x_max - x_min + 1: a single pixel is 0 wide.
 * Expect:   width, height: off by -1 in every row
 */
#include "tests/mutants/boxes/mutant.h"

static void write_row(const struct boxes_sums *sums, int label, int32_t *row)
{
    boxes_write_row(sums, label, row);
    row[3] = sums->x_max - sums->x_min;
    row[4] = sums->y_max - sums->y_min;
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    return mutant_run(in, out, params, in->width, write_row);
}

RUNGS_CPU_VERSION(boxes)
