/*
 * compare.h: a version's outputs against the reference's, slot by slot, as the contract says (slot.h).
 */
#ifndef RUNGS_COMPARE_H
#define RUNGS_COMPARE_H

#include "common/contract/registry.h"

/* The tolerance of a peer that finds something else by its nature, so that only its time counts. */
#define COMPARE_ANY_RESULT 1e300

/* How one slot differs. */
struct slot_difference {
    size_t wrong, samples; /* samples that differ by more than the tolerance, of how many; of a property 0 or 1 of 1 */
    double tolerance;      /* absolute; of a table, where columns have their own, the smallest; 0: its count is wrong */
    double worst;          /* largest difference, or the value of the property; NaN when there is one */
    int x, y, channel;     /* where */
};

/* Pixels at each edge of a slot that do not count for this version (a peer with other borders). */
int compare_margin(const struct version *version, int slot, const void *params);

/* Puts a version's outputs into the words in which they are compared: its own normalise(), then rows that may come in
 * any order sorted, columns that may come with either sign turned as in `expected`. STATUS_NO_MEMORY at worst. */
enum status compare_canonical(const struct version *version, const struct image in[], const void *params,
                              const struct image expected[], struct image actual[]);
/* The last of these steps alone. */
void compare_turn_columns(const struct algorithm *algorithm, const struct image expected[], struct image actual[]);
/* The same for the reference's own outputs. */
enum status compare_canonical_expected(const struct algorithm *algorithm, struct image expected[]);

/* Compares one slot of canonical outputs. `unwritten`, unless NULL, has a byte for each of the slot's samples (rows
 * without padding): such a sample is always wrong. */
void compare_slot(const struct version *version, int slot, const struct image in[], const void *params,
                  const struct image expected[], const struct image actual[], const uint8_t *unwritten,
                  struct slot_difference *difference);

/* Whether all slots agree as far as this version must; NaN never does. `expected` and `actual` may be put into
 * canonical form. *worst, unless NULL, is the largest difference of any slot. */
bool compare_agrees(const struct version *version, const struct image in[], const void *params, struct image expected[],
                    struct image actual[], double *worst);

#endif
