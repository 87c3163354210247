/*
 * evidence.h: what a diagnosis is made from, and how far it can be trusted.
 */
#ifndef RUNGS_EVIDENCE_H
#define RUNGS_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/contract/slot.h"

struct evidence {
    const struct image *expected, *actual; /* of one shape, with at least one sample that is wrong */
    const uint8_t *unwritten; /* a byte per sample, rows without padding: not 0 = never written. NULL: none is known */
    double tolerance;         /* largest difference that is not wrong */
    int radius;               /* how far, in pixels, an output pixel looks around */
    int margin;               /* pixels at each edge that do not count (a peer with other borders) */
    enum slot_kind kind;
    bool names;                 /* as in struct named_slot */
    const char *const *columns; /* of a TABLE */
};

/* How far a diagnosis can be trusted. A pattern in 5 pixels is mostly chance, so small images give small certainty. */
enum { CERTAINTY_NONE, CERTAINTY_WEAK, CERTAINTY_GOOD, CERTAINTY_SURE };

#endif
