/*
 * rows.cuh: a warp looks at a row of pixels, and its nodes are the first pixels of runs.
 */
#ifndef RUNGS_LABELLING_STEPS_ROWS_CUH
#define RUNGS_LABELLING_STEPS_ROWS_CUH

#include "cuda/labelling/shared/pixels.cuh"
#include "cuda/labelling/shared/trees.cuh"

/* A warp's row, 32 pixels at a time from the left: which are foreground, and how many pixels of a run lie before them. */
struct row {
    unsigned mask;
    int carry; /* length of the run that the pixels before these ended in */
};

static inline __device__ unsigned row_mask(const struct image &in, int x, int y)
{
    return __ballot_sync(0xffffffff, is_foreground(in, x, y));
}

/* Pixels of a run just left of this lane. */
static inline __device__ int run_before(struct row row, int lane)
{
    int here = lane > 0 ? __clz((int)~(row.mask << (32 - lane))) : 0; /* shifts by 32 are undefined */

    return here == lane ? here + row.carry : here;
}

static inline __device__ struct row next_row(struct row row)
{
    int ones = __clz((int)~row.mask);

    return {0, ones == 32 ? row.carry + 32 : ones};
}

/* Unites the run of pixel i with that above where one of both begins, so once a pair. Only runs' first pixels are
 * nodes. */
static inline __device__ void join(int *parent, int i, int width, struct row row, struct row up, int lane,
                                   int connectivity)
{
    bool own = row.mask >> lane & 1, above = up.mask >> lane & 1;
    int before = run_before(row, lane), before_up = run_before(up, lane);

    if (own && above && (before == 0 || before_up == 0))
        unite(parent, i - before, i - width - before_up);
    else if (connectivity == 8 && own && !above && before == 0 && before_up > 0)
        unite(parent, i, i - width - before_up);
    else if (connectivity == 8 && !own && above && before > 0 && before_up == 0)
        unite(parent, i - before, i - width);
}

#endif
