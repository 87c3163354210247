/*
 * peaks.h: corners found row by row, while the largest response of all, and with it the threshold, is not known yet: what
 * the rungs of harris from cpu/corners on share.
 */
#ifndef RUNGS_HARRIS_PEAKS_H
#define RUNGS_HARRIS_PEAKS_H

#include "common/algo/harris.h"

/* What is known after some rows: the largest response in them, and the peaks above the threshold that it gave, which the
 * final one is not below. */
struct peaks {
    float largest;
    struct harris_list found;
};

/* Takes the responses of one more row into account. */
void peaks_see(struct peaks *peaks, const float *row, int width);

/* Finds the peaks of row y, whose response is lines[radius], with `radius` rows above and below it. */
enum status peaks_find(struct peaks *peaks, float *const lines[], const struct harris_params *params, int width, int y);

/* Adds what `more` knows, which is empty afterwards. */
enum status peaks_join(struct peaks *peaks, struct peaks *more);

/* The table, when all rows are known. Empties the list. */
enum status peaks_write(struct peaks *peaks, const struct harris_params *params, int width, struct image *corners);

#endif
