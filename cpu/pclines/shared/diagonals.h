/*
 * diagonals.h: the diagonals of a picture, which cpu/bit_planes adds up.
 *
 * In the straight space (u >= 0) X (d - |u|) + Y u = X d + (Y - X) u, in the twisted one (u <= 0) X d + (X + Y) u. So
 * the vote of a point is X + floor(((Y - X) u + d / 2) / d), or that with X + Y: in each row of the accumulator, all
 * points of a diagonal are shifted by the same whole number. Twisted diagonals are those of the picture upside down.
 *
 *     y = 0    2 1 0      the number of each pixel's diagonal in a picture of 3 columns, i = y - x + width - 1;
 *     y = 1    3 2 1      diagonal i has a mark for each x from begin to end - 1
 *     y = 2    4 3 2
 */
#ifndef RUNGS_PCLINES_STEPS_DIAGONALS_H
#define RUNGS_PCLINES_STEPS_DIAGONALS_H

#include "common/algo/pclines.h"
#include "cpu/hough/shared/points.h"

enum { DIAGONALS_BATCH = 16 };

/* Those of one space. */
struct diagonals_space {
    int width, height, count;
    int slope, step; /* Y - X or X + Y of diagonal 0, and what the next one has more */
    int origin;      /* the cell of X at the picture's left end */
    size_t stride;   /* bytes from one diagonal to the next in marks */
    uint8_t *marks;  /* of pixel x of diagonal i: bit x of stride i + 1; the lowest bit of a byte is the first */
};

struct diagonals {
    struct points points;
    struct diagonals_space spaces[2]; /* twisted, straight */
    size_t capacity;
};

/* Marks the points of a picture, a bit each. Zeros lie in front of the diagonals, between them and
 * behind them: room for a vector and a word, and behind the last one for DIAGONALS_BATCH empty ones. */
enum status diagonals_find(struct diagonals *diagonals, const struct image *in, const struct pclines_params *params);
void diagonals_free(struct diagonals *diagonals);
/* Why points with an orientation cannot be added by diagonals. */
const char *diagonals_declines(const struct image in[], const void *params);

static inline int diagonals_begin(const struct diagonals_space *space, int i)
{
    return i < space->width ? space->width - 1 - i : 0;
}

static inline int diagonals_end(const struct diagonals_space *space, int i)
{
    return i < space->height ? space->width : space->count - i;
}

/* The cell in row n of pixel 0 of diagonal i. */
static inline int diagonals_place(const struct diagonals_space *space, int i, const struct pclines_params *params,
                                  int n)
{
    return space->origin + (((space->slope + space->step * i) * (n - params->d + 1) + params->d / 2) >> params->shift);
}

#endif
