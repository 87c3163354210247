/*
 * compare_renames.h: versions that had another id when a results file was written (results/renames.tsv).
 */
#ifndef RUNGS_COMPARE_RENAMES_H
#define RUNGS_COMPARE_RENAMES_H

#include <jansson.h>

/* Gives the rows of a bench, and the version of a search or a profile, the ids of today, as common/report/renames.py
 * does. Rows of what is no version any more go. */
void compare_renames_apply(json_t *document);

#endif
