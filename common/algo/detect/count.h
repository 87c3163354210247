/*
 * count.h: what the stages of a model do with a picture, for studies: the windows of all levels, the looks into tables
 * until they are rejected, and the windows that are left after the last stage. looks / windows is the mean number of
 * stages a window.
 */
#ifndef RUNGS_DETECT_COUNT_H
#define RUNGS_DETECT_COUNT_H

#include "common/algo/detect.h"

extern const char *const detect_count_names[];

enum status detect_count(const struct image in[], const void *params, double counts[]);

#endif
