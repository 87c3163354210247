/*
 * diagonals.h: the diagonals of a picture as bits in device memory, which cuda/v2.0 adds up.
 *
 * In the straight space (u >= 0) X (d - |u|) + Y u is X d + (Y - X) u, in the twisted one (u <= 0) X d + (X + Y) u. So
 * all points of a diagonal, s = Y - X or s = X + Y, are moved by the same whole number: their votes are X + floor((s u
 * + d / 2) / d). The bits of a diagonal stand in the order of the picture's shorter side, from word to word and from
 * the lowest bit up. Where that side is X, the place that votes for cell v is v less that number. Where it is Y, which
 * is X + s or s - X, the place is v + s less that number, or, counted from below, v - s less it.
 */
#ifndef RUNGS_PCLINES_STEPS_DIAGONALS_DEVICE_H
#define RUNGS_PCLINES_STEPS_DIAGONALS_DEVICE_H

#include "common/algo/pclines.h"
#include "common/cuda/device.h"

enum {
    DIAGONALS_LANES = 32,  /* rows of the accumulator that a warp counts for; 2 d rows, d at least 16, are a multiple */
    DIAGONALS_BATCH = 32,  /* that are added at a time; as many empty ones lie behind the last */
    DIAGONALS_GUARD = 5,   /* words of zeros between two, more than the most words that a lane looks at */
    DIAGONALS_PLANES = 17, /* the bits of 131,071, more than there are diagonals */
};

/* Of the twisted or the straight space: s of diagonal 0, and what the next one has more; the place of v = 0 on a
 * diagonal of s = 0, and what it has more where s has one more, before the shift. */
struct diagonals_side {
    int first, step, origin, turn;
    unsigned *words;
};

struct diagonals_step {
    int shorter, longer; /* sides of the picture */
    int count, planes;   /* of diagonals, and the bits of that number */
    int stride, words;   /* of a diagonal: words to the next, and of its own */
    bool across;         /* the shorter side is Y */
    struct diagonals_side twisted, straight;
    unsigned *bits; /* the points, a row of words for each pixel of the shorter side */
    int row;        /* words of it */
};

/* Allocates what is not there yet. */
enum status diagonals_setup(struct diagonals_step *step, const struct image *in);
/* Finds the points and puts them on their diagonals. */
enum status diagonals_launch(struct diagonals_step *step, const struct image *in, const struct hough_params *params,
                             cudaStream_t stream);
void diagonals_teardown(struct diagonals_step *step);

/* Why points with an orientation cannot be added by diagonals. */
static inline const char *diagonals_declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct pclines_params *)params)->hough.half_width == HOUGH_ALL_ROWS
               ? NULL
               : "points of a diagonal that vote for different rows do not move together; cuda/v2.1 is for those";
}

/* What votes for some cells in a row of the accumulator: the first of them has place + slope i, divided by d, on
 * diagonal i; those from `begin` on and before `end` can have a point there, others have none. A warp whose rows are
 * close has ranges that nearly are one. */
struct diagonals_path {
    int place, slope, begin, end;
    const unsigned *words;
};

/* Only those i remain for which low < place + slope i < high; one or two more may. */
static inline __device__ void diagonals_narrow(struct diagonals_path *path, int place, int slope, int low, int high)
{
    if (slope == 0) {
        path->begin = place > low && place < high ? path->begin : path->end;
        return;
    }
    const int from = (low - place) / slope, to = (high - place) / slope;
    path->begin = max(path->begin, min(from, to));
    path->end = min(path->end, max(from, to) + 1);
}

/* For `cells` cells, the first of which is v away from the centre, in row n. */
static inline __device__ struct diagonals_path diagonals_find_path(const struct diagonals_step &step, int n, int v,
                                                                   int cells, const struct pclines_params &params)
{
    const bool twisted = n < params.d;
    const struct diagonals_side &side = twisted ? step.twisted : step.straight;
    const int d = params.d, move = side.turn * d - (n - d + 1), last = step.shorter - 1;
    struct diagonals_path path = {(v + side.origin) * d + d / 2 - 1 + side.first * move, side.step * move, 0,
                                  step.count, side.words};

    /* Places of the shorter side, then of the longer one, where diagonal i begins at i - last, or turned over at i. */
    diagonals_narrow(&path, path.place, path.slope, -cells * d, step.shorter * d);
    if (twisted && !step.across)
        diagonals_narrow(&path, -path.place, d - path.slope, -d, (step.longer + cells) * d);
    else
        diagonals_narrow(&path, path.place - last * d, d + path.slope, -(cells + 1) * d, (step.longer + 1) * d);
    return path;
}

/* The word of diagonal i that has a bit in the given place, times d, or zeros; others follow it. */
static inline __device__ const unsigned *diagonals_word(const struct diagonals_step &step,
                                                        const struct diagonals_path &path, int i, int place, int shift)
{
    const unsigned word = (unsigned)((place >> shift >> 5) + DIAGONALS_GUARD);

    return path.words + i * step.stride + min(word, (unsigned)(DIAGONALS_GUARD + step.words));
}

/* Writes the numbers whose bits `planes` are, of 32 cells from `cell` on in 32 rows from n on: thread `own` of
 * `threads` takes every eighth cell of every so many rows, a byte of a word each. */
static inline __device__ void diagonals_write(const struct diagonals_step &step,
                                              const unsigned (*planes)[DIAGONALS_LANES],
                                              const struct image &accumulator, int n, int cell, int own, int threads)
{
    for (int i = own; i < DIAGONALS_LANES * 8; i += threads) {
        const int lane = i / 8, from = cell + i % 8;
        int *row = (int *)image_row(&accumulator, n + lane), votes[4] = {};
        for (int p = 0; p < step.planes; p++) {
            const unsigned bits = planes[p][lane] >> i % 8;
            for (int k = 0; k < 4; k++)
                votes[k] |= (int)(bits >> 8 * k & 1) << p;
        }
        for (int k = 0; k < 4; k++)
            if (from + 8 * k < accumulator.width)
                row[from + 8 * k] = votes[k];
    }
}

#endif
