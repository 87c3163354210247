/*
 * Idea:     the centroid as 256 * sum / area.
 * Changed:  half of the area is not added first: rounded down, not to the nearest.
 * Expect:   centroid: too small by 1
 */
#include "tests/mutants/boxes/mutant.h"

static void write_row(const struct boxes_sums *sums, int label, int32_t *row)
{
    boxes_write_row(sums, label, row);
    row[6] = (int32_t)(256 * sums->x_sum / (unsigned)sums->area);
    row[7] = (int32_t)(256 * sums->y_sum / (unsigned)sums->area);
}

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    return mutant_run(in, out, params, in->width, write_row);
}

RUNGS_CPU_VERSION(boxes)
