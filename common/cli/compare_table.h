/*
 * compare_table.h: the table that `rungs compare` prints, a verdict in each line.
 */
#ifndef RUNGS_COMPARE_TABLE_H
#define RUNGS_COMPARE_TABLE_H

#include <stdbool.h>

#include "common/cli/compare_conditions.h"

enum compare_verdict {
    COMPARE_SAME,
    COMPARE_UNSURE,
    COMPARE_FASTER,
    COMPARE_SLOWER,
    COMPARE_SLOWER_PART,
    COMPARE_WRONG,
    COMPARE_MENDED,
    COMPARE_NOT_COMPARABLE,
    COMPARE_NEW,
    COMPARE_VANISHED,
    COMPARE_VERDICTS
};

struct compare_report {
    double threshold;
    struct compare_conditions conditions;
    bool two_versions; /* profiles of two versions */
    int name_width;
    size_t counts[COMPARE_VERDICTS];
};

/* Prints the comparison of two files of one kind and counts its verdicts. threshold, conditions and two_versions are
 * the caller's to fill in. */
void compare_print(struct compare_report *report, const struct compare_results *a, const struct compare_results *b);

#endif
