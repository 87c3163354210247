/*
 * Idea:     vectors of 16 labels.
 * Changed:  what is left of a row after the last whole vector is not added.
 * Expect:   area too small | some are lost
 */
#include "tests/mutants/boxes/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct boxes_params *params)
{
    return mutant_run(in, out, params, in->width / 16 * 16, boxes_write_row);
}

RUNGS_CPU_VERSION(boxes)
