/*
 * wells.h: dark points of a picture, the contract of every version in cpu/wells and peers/wells. It is in no ladder:
 * tests/test_newcomer.sh puts it into a copy of the tree.
 *
 * Input    one u8 image, 1 channel, any size from 1x1.
 * Output   wells: a table x, y, depth of at most 64 wells, in any order; row 0 says how many there are.
 *          mask: u8, 255 where a well is, else 0. moments: f64, 2x2, sums of x x, x y and y y over all wells.
 *
 * Formula  A well is a pixel with 8 neighbours that are all larger; its depth is the smallest of them less the pixel,
 *          and at least `least`. Of more than 64 the table has the first in raster order.
 *
 * Parameters   model  a file: WELL and a byte, `least`; of `rungs train wells`.
 *
 * Source   none.
 */
#ifndef RUNGS_WELLS_H
#define RUNGS_WELLS_H

#include "common/contract/registry.h"

enum { WELLS_ROWS = 64 };

struct wells_params {
    struct model model; /* one byte */
};

/* The depth of a well at (x, y); 0 when there is none. */
static inline int wells_depth(const struct image *in, int x, int y, const struct wells_params *params)
{
    const uint8_t *row = image_row(in, y);
    int smallest = 255;

    if (x < 1 || y < 1 || x > in->width - 2 || y > in->height - 2)
        return 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int value = ((const uint8_t *)image_row(in, y + dy))[x + dx];

            if ((dx || dy) && value < smallest)
                smallest = value;
        }
    return smallest - row[x] >= *(const uint8_t *)params->model.data && smallest > row[x] ? smallest - row[x] : 0;
}

/* Writes row `row` of the table. */
static inline void wells_put(const struct image *table, int row, int x, int y, int depth)
{
    float *to = image_row(table, row);

    to[0] = (float)x;
    to[1] = (float)y;
    to[2] = (float)depth;
}

#endif
