/*
 * runs.h: what the rungs above cpu/omp stand on: the rows of a mask as runs of foreground, a tree for each run, and the
 * memory for both.
 *
 * Runs are numbered in raster order, with gaps before bands only: what is touched is as small as the runs are few. The
 * smaller root wins, so a component's root is the run that begins with its first pixel.
 */
#ifndef RUNGS_LABELLING_STEPS_RUNS_H
#define RUNGS_LABELLING_STEPS_RUNS_H

#include "common/algo/labelling.h"

/* RUNS_SLACK: how many runs a row may write beyond its own, before the next row writes its own there. */
enum { RUNS_SLACK = 64, RUNS_MOST = 32768 /* of a row */ };

struct runs {
    int words, most;         /* of a row: 64-bit words and most runs */
    uint64_t *bits;          /* `words` a row: the mask, pixel 0 in bit 0 */
    uint16_t *edges;         /* of each run [start, end) */
    int32_t *parent, *label; /* of each run; label: 1 + raster index of its first pixel */
    int32_t *number;         /* of each root, from 1, for rungs that number components */
    int32_t *hung;           /* of each root of a band, where bands are joined apart: the root that it hangs under */
    int32_t *first, *count;  /* of each row: its first run, and how many */
    int32_t *roots;          /* of each row, where there are numbers: how many of its runs are roots */
    void *block;
    size_t bytes; /* of the block */
};

/* Memory for the runs of `in`, whose rows are cut into so many bands; nothing is initialised. Edges, numbers and what is hung
 * are there where `wanted` has them. */
enum { RUNS_EDGES = 1, RUNS_NUMBERS = 2, RUNS_HUNG = 4 };
enum status runs_create(struct runs *runs, const struct image *in, int bands, int wanted);
/* The same for runs that are all zero or were created for another image: their memory serves again if it is enough. */
enum status runs_reserve(struct runs *runs, const struct image *in, int bands, int wanted);
void runs_free(struct runs *runs);

/* The number of the first run of a band, which begins with row `top`. */
static inline int32_t runs_first(const struct runs *runs, int band, int top)
{
    return top * runs->most + band * RUNS_SLACK;
}

static inline uint16_t *runs_edges(const struct runs *runs, int y)
{
    return runs->edges + 2 * (size_t)runs->first[y];
}

/* Finds the runs of row y pixel by pixel. Returns how many. */
int runs_find(const struct image *in, struct runs *runs, int y);
/* Makes each run of row y, whose first[y] and edges are there, a tree of its own. Returns the number of the next run. */
int32_t runs_plant(struct runs *runs, int y, int width, int count);
/* Paths of one step for runs from `first` to `next`, excluded, whose parents lie there as well. */
void runs_flatten(struct runs *runs, int32_t first, int32_t next);
/* Writes the labels of row y run by run. Only reads the trees. */
void runs_label_row(const struct runs *runs, struct image *out, int y);

#endif
