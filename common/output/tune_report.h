/*
 * tune_report.h: what a search of launch parameters found: for people, as a picture, as JSON.
 */
#ifndef RUNGS_TUNE_REPORT_H
#define RUNGS_TUNE_REPORT_H

#include <stdio.h>

#include "common/core/file.h"
#include "common/measure/tune.h"

/* The table for people; the picture: two axes as a grid of cells (a grid for each combination of any further ones), one
 * as bars. Written whole or not at all. */
void tune_print(const struct tune *tune, FILE *stream);
enum status tune_write_svg(const struct tune *tune, struct output_file *file);
/* In results.c: results/README.md describes it. */
enum status results_write_tune_json(const struct tune *tune, struct output_file *file);

#endif
