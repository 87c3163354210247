/*
 * displacement.h: the right values in the wrong place.
 */
#ifndef RUNGS_DISPLACEMENT_H
#define RUNGS_DISPLACEMENT_H

#include "common/verify/evidence.h"

/* Says in one line how the output must be shifted, mirrored or turned to be right; CERTAINTY_NONE when nothing fits. */
int find_displacement(const struct evidence *evidence, char *text, size_t size);

#endif
