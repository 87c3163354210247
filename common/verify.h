/*
 * verify.h: is one version's result for one input right, and if not, what kind of wrong is it?
 */
#ifndef RUNGS_VERIFY_H
#define RUNGS_VERIFY_H

#include "common/registry.h"

enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_SKIP };

struct verdict {
    enum outcome outcome;
    size_t wrong, samples; /* samples that differ by more than the tolerance, of how many */
    double worst;          /* largest difference, also when it is within the tolerance */
    int worst_x, worst_y, worst_channel;
    char what[512];      /* FAIL: what is wrong, in one line; SKIP: why */
    char diagnosis[256]; /* FAIL: the likely cause, in one line */
};

/* Runs `version` on `in` and compares with `expected` (a reference result, host image). In the calling process: call it
 * from a child (process.h). It runs the version at least twice, into outputs with different poison and with guard bytes
 * before, after and between the rows; then checks guards, poison, NaN, that the inputs are unchanged, that both runs
 * agree, and the values. When `picture` is not NULL and values differ, a PNG of the difference is written there.
 * Returns a failure only when the verification itself could not be done (no memory). */
enum status verify_version(const struct version *version, const struct image in[], const void *params,
                           const struct image *expected, const char *picture, struct verdict *verdict);

#endif
