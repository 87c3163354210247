/*
 * corners.h: from the response to the table of corners on all threads: what omp and the rungs that build on it share,
 * whose own matter is the response.
 */
#ifndef RUNGS_HARRIS_CORNERS_H
#define RUNGS_HARRIS_CORNERS_H

#include "common/algo/harris.h"

enum status find_corners(const struct image *response, const struct harris_params *params, struct image *corners);

#endif
