/*
 * diagonals.h: the diagonals of a picture, which cpu/diagonals and the rungs above it add up.
 *
 * In the straight space (u >= 0) X (d - |u|) + Y u is X d + (Y - X) u, in the twisted one (u <= 0) X d + (X + Y) u. So the vote of
 * a point is X + floor(((Y - X) u + d / 2) / d), or that with X + Y: all points of a diagonal are moved by the same whole
 * number. The diagonals of the twisted space are those of the picture upside down. Number 0 is the pixel at the upper right.
 */
#ifndef RUNGS_PCLINES_STEPS_DIAGONALS_H
#define RUNGS_PCLINES_STEPS_DIAGONALS_H

#include "common/algo/pclines.h"
#include "cpu/hough/shared/points.h"

enum { DIAGONALS_BATCH = 16, DIAGONALS_PLANES = 17 /* the bits of 131,071, more than there are diagonals */ };

/* Those of one space. */
struct diagonals_space {
    int count, longest, height;
    bool twisted;
    int last;        /* column of the picture */
    int slope, step; /* Y - X or X + Y of diagonal 0, and what the next one has more */
    int origin;      /* the cell of X at the picture's left end */
    int planes;      /* bits of the largest number of votes that a cell can have, count, but 4 at least */
    size_t stride;   /* bytes from one to the next in marks */
    uint8_t *marks;  /* a byte or a bit for each pixel; the lowest bit of a byte is the first */
};

struct diagonals {
    struct points points;
    struct diagonals_space spaces[2]; /* twisted, straight */
    size_t capacity;
};

/* Marks the points of a picture, with so many bits each, 8 or 1. Memory is there for the next call. In front of the diagonals, between
 * them and behind them is room for a vector and a word, and behind them for a batch of empty ones. */
enum status diagonals_find(struct diagonals *diagonals, const struct image *in, const struct pclines_params *params,
                           int bits);
void diagonals_free(struct diagonals *diagonals);

/* The column where diagonal i begins. */
static inline int diagonals_start(const struct diagonals_space *space, int i)
{
    return i < space->last ? space->last - i : 0;
}

/* The cell in row n where diagonal i begins. */
static inline int diagonals_place(const struct diagonals_space *space, int i, const struct pclines_params *params,
                                  int n)
{
    const int slope = space->slope + space->step * i, u = n - params->d + 1;

    return space->origin + diagonals_start(space, i) + ((slope * u + params->d / 2) >> params->shift);
}

/* The pixels of diagonal i. */
static inline int diagonals_length(const struct diagonals_space *space, int i)
{
    const int most = i < space->count - 1 - i ? i + 1 : space->count - i;

    return most < space->longest ? most : space->longest;
}

/* Makes numbers of a row of counters of bits: `planes` vectors for as many cells as a vector has bits, with room for
 * DIAGONALS_PLANES, then the next. */
void diagonals_widen(const struct diagonals_space *space, const uint8_t *counters, int32_t *row, size_t cells);

/* Why points with an orientation cannot be added by diagonals. */
const char *diagonals_declines(const struct image in[], const void *params);

#endif
