/*
 * components.h: the table of boxes.h straight from bits: a component is a list of runs of set bits. For cpu/bit_masks
 * and cpu/per_frame.
 */
#ifndef RUNGS_MOTION_COMPONENTS_H
#define RUNGS_MOTION_COMPONENTS_H

#include "cpu/motion/shared/bits.h"

/* Memory for the search, reused from frame to frame; zeroed at first. */
struct motion_components {
    int capacity;
    struct motion_run *runs;
};

void motion_components_free(struct motion_components *components);

/* The boxes of what is set in `bits`. */
enum status motion_components_write(struct motion_components *components, const struct motion_bits *bits,
                                    const struct motion_params *params, struct image *result);

#endif
