/*
 * results.h: the bench's results as files. results/README.md documents both formats; JSON is the stable one ("schema":
 * "rungs-results", "version": 1: fields may be added, never renamed), CSV has the same rows flat under a header row.
 */
#ifndef RUNGS_RESULTS_H
#define RUNGS_RESULTS_H

#include <jansson.h>

#include "common/core/file.h"
#include "common/measure/bench.h"

/* Each fills and commits a file that has been created (file.h), whole or not at all: STATUS_BAD_INPUT "path: reason"
 * when it cannot. */
enum status results_write_json(const struct bench *bench, struct output_file *file);
enum status results_write_csv(const struct bench *bench, struct output_file *file);

/* What a file of the given kind begins with, from "schema" to "ceilings"; NULL when some text is not UTF-8. */
json_t *results_head_json(const struct bench *bench, const char *kind);
/* One element of `versions`. */
json_t *results_row_json(const struct bench *bench, const struct bench_row *row);
/* The objects `machine` and `params` of results/README.md; new references. */
json_t *results_machine_json(const struct machine *machine);

/* "timed", "emulated", "skipped", "failed" */
const char *results_outcome_name(enum bench_outcome outcome);

#endif
