/*
 * runs.h: the rows of a mask as bits and runs, with a tree for each run, and the memory for them.
 *
 * Runs are numbered in raster order, with gaps between bands only, so the memory in use is as small as the runs are
 * few. The smaller root wins: a component's root is the run that begins with its first pixel.
 */
#ifndef RUNGS_LABELLING_RUNS_H
#define RUNGS_LABELLING_RUNS_H

#include <stdlib.h>

#include "common/algo/labelling.h"
#include "cpu/labelling/shared/bands.h"

/* RUNS_SLACK: how many runs a row may write beyond its own, where the next row of its band then writes its own. */
enum { RUNS_SLACK = 64, RUNS_MOST = 32768 /* of a row */ };

struct runs {
    int words, most, bands;  /* words of 64 pixels and most runs of a row; bands of the image */
    uint64_t *bits;          /* the mask, pixel 0 in bit 0; a word of zeros stands before each row */
    uint16_t *before;        /* of each word: how many runs of its row begin in words before it */
    int32_t *first, *count;  /* of each row: its first run, and how many */
    int32_t *parent, *label; /* of each run; label: 1 + raster index of its first pixel */
    int32_t *end;            /* of each run the column behind its last pixel, in cpu/runs */
    int32_t *hung; /* of each root of a band, where bands are joined in a forest of their own: its parent there */
};

static inline uint64_t *runs_bits(const struct runs *runs, int y)
{
    return runs->bits + (size_t)y * (runs->words + 1) + 1;
}

static inline void runs_free(struct runs *runs)
{
    free(runs->bits);
    free(runs->before);
    free(runs->first);
    free(runs->parent);
    *runs = (struct runs){0};
}

/* The first call allocates; later calls find the memory there. */
static inline enum status runs_setup(struct runs *runs, const struct image *in)
{
    const int words = (in->width + 63) / 64, most = (in->width + 1) / 2, bands = bands_count(in->height);
    const size_t rows = (size_t)in->height, nodes = rows * most + (size_t)bands * RUNS_SLACK;

    if (runs->bits)
        return STATUS_OK;
    *runs = (struct runs){.words = words, .most = most, .bands = bands};
    runs->bits = calloc(rows * (words + 1), sizeof *runs->bits);
    runs->before = malloc(rows * words * sizeof *runs->before);
    runs->first = malloc(2 * rows * sizeof *runs->first);
    runs->parent = malloc(4 * nodes * sizeof *runs->parent);
    if (!runs->bits || !runs->before || !runs->first || !runs->parent) {
        runs_free(runs);
        return status_set(STATUS_NO_MEMORY, "no memory for the runs of %dx%d pixels", in->width, in->height);
    }
    runs->count = runs->first + rows;
    runs->label = runs->parent + nodes;
    runs->hung = runs->label + nodes;
    runs->end = runs->hung + nodes;
    return STATUS_OK;
}

#endif
