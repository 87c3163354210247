/*
 * diagnose.h: what a wrong result looks like, and so what probably caused it; for a person who has to find the fault.
 */
#ifndef RUNGS_DIAGNOSE_H
#define RUNGS_DIAGNOSE_H

#include <stdint.h>

#include "common/contract/registry.h"

struct evidence {
    const struct image *expected, *actual; /* of one shape, with at least one sample that is wrong */
    const uint8_t *unwritten; /* a byte per sample, rows without padding: not 0 = never written. NULL: none is known */
    double tolerance;         /* largest difference that is not wrong */
    int radius;               /* how far, in pixels, an output pixel looks around */
    int margin;               /* pixels at each edge that do not count (a peer with other borders) */
    enum slot_kind kind;
    const char *const *columns; /* of a TABLE */
};

/* How far a diagnosis can be trusted. A pattern in 5 pixels is mostly chance, so small images give small certainty. */
enum { CERTAINTY_NONE, CERTAINTY_WEAK, CERTAINTY_GOOD, CERTAINTY_SURE };

/* Writes the likely cause in one line and returns its certainty; "no pattern recognised ..." and CERTAINTY_NONE when
 * the errors look like nothing known. */
int diagnose(const struct evidence *evidence, char *text, size_t size);

/* The part of diagnose() for outputs that are no pictures and written in full: which columns of a table are wrong, how
 * components were split or joined. */
int diagnose_table(const struct evidence *evidence, char *text, size_t size);
int diagnose_labels(const struct evidence *evidence, char *text, size_t size);

/* Saves a picture of the difference (actual - expected): red where the result is too large, blue where too small, the
 * brighter the larger the difference (of the worst channel), yellow where never written or NaN, otherwise the expected
 * image in faint gray. Small images are enlarged by a whole factor to about 512 pixels. */
enum status diagnose_picture(const struct evidence *evidence, const char *path);

#endif
