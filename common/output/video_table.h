/*
 * video_table.h: a bench of a video algorithm as tables for people (within 100 columns) and as JSON and CSV.
 */
#ifndef RUNGS_VIDEO_TABLE_H
#define RUNGS_VIDEO_TABLE_H

#include <stdio.h>

#include "common/core/file.h"
#include "common/measure/video_bench.h"

/* For each version its steps (time per frame, total, share, gain over the rung below), frames per second end to end,
 * and for a CUDA version the bytes allocated and copied at the start and per frame; then all versions side by side. */
void video_table_print(const struct video_bench *bench, FILE *stream);

/* One row of those side by side, before the others are measured; above the `first` the columns' names. */
void video_table_print_row(const struct video_bench *bench, const struct video_bench_row *row, bool first,
                           FILE *stream);

/* Each writes a whole file or none. results/README.md documents both: "schema": "rungs-video-results". */
enum status video_results_write_json(const struct video_bench *bench, struct output_file *file);
enum status video_results_write_csv(const struct video_bench *bench, struct output_file *file);

#endif
