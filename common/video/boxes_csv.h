/*
 * boxes_csv.h: the boxes of a video as a table in the columns of the MOT challenge (motchallenge.net), one line a box,
 * after a header line:
 *
 *     frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z
 *
 *     frame        from 1
 *     id           of the track; -1: these are detections, which belong to none
 *     bb_left ...  in pixels, whole numbers; the upper left pixel of the image is 0,0
 *     conf         1
 *     x, y, z      -1: positions in the world, which are not known
 *
 * The file grows under a temporary name and gets its own at the end (file.h). MOT's own tools read it without the
 * header line (tail -n +2).
 */
#ifndef RUNGS_BOXES_CSV_H
#define RUNGS_BOXES_CSV_H

#include "common/core/file.h"
#include "common/image/image.h"

enum status boxes_csv_create(struct output_file *file, const char *path);
/* table: of boxes.h. Errors are kept for file_commit(). */
void boxes_csv_add(struct output_file *file, long frame, const struct image *table);

#endif
