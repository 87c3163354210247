/*
 * diagnose.h: what a wrong result looks like, and so what probably caused it; for a person who has to find the fault.
 */
#ifndef RUNGS_DIAGNOSE_H
#define RUNGS_DIAGNOSE_H

#include "common/verify/evidence.h"

/* Writes the likely cause in one line and returns its certainty; "no pattern recognised ..." and CERTAINTY_NONE when
 * the errors look like nothing known. */
int diagnose(const struct evidence *evidence, char *text, size_t size);

/* The most that can be made of any pattern in an image of this size. */
int diagnose_certainty(const struct image *image);

/* Saves a picture of the difference (actual - expected): red where the result is too large, blue where too small, the
 * brighter the larger the difference (of the worst channel), yellow where never written or NaN, otherwise the expected
 * image in faint gray. Small images are enlarged by a whole factor to about 512 pixels. */
enum status diagnose_picture(const struct evidence *evidence, const char *path);

#endif
