/*
 * diagnose_kinds.h: the part of diagnose() for outputs that are no pictures and are written in full: which rows and
 * columns of a table are wrong, how components were split or joined, which part of a matrix is wrong, which names were
 * taken for which. Each writes the likely cause in one line and returns its certainty; CERTAINTY_NONE when it sees no
 * pattern.
 */
#ifndef RUNGS_DIAGNOSE_KINDS_H
#define RUNGS_DIAGNOSE_KINDS_H

#include "common/verify/evidence.h"

int diagnose_table(const struct evidence *evidence, char *text, size_t size);
int diagnose_labels(const struct evidence *evidence, char *text, size_t size);
/* Whether all of an output can be numbers that name something: what nobody wrote is none. */
bool diagnose_are_names(const struct evidence *evidence);
int diagnose_names(const struct evidence *evidence, char *text, size_t size);
int diagnose_matrix(const struct evidence *evidence, char *text, size_t size);
/* Of a matrix of counts in which no region is wrong by itself. */
int diagnose_counts(const struct evidence *evidence, char *text, size_t size);

#endif
