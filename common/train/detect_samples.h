/*
 * detect_samples.h: the windows that a detector is trained with.
 */
#ifndef RUNGS_DETECT_SAMPLES_H
#define RUNGS_DETECT_SAMPLES_H

#include "common/algo/detect.h"

enum {
    SAMPLES_BLOCK = 128, /* samples side by side: two vectors of 64 bytes */
    SAMPLES_CELLS = 4,   /* sizes of a cell: 1 x 1, 2 x 1, 1 x 2, 2 x 2 */
    SAMPLES_NO_SEARCH = -1
};

/* A set of windows of one class, with what the stages so far make of them. */
struct samples {
    int window, count, capacity;
    int feature;      /* that can be searched on them, or SAMPLES_NO_SEARCH */
    uint8_t *pixels;  /* window x window each */
    float *responses; /* H */
    bool *alive;      /* rejected by no stage */
    uint8_t *planes;  /* NULL, or cell means: by block, size of cell, pixel, sample of the block */
    int32_t *sums;    /* of haar: of what lies above and to the left, at (window + 1)^2 places, stored as planes are */
    int32_t *deviations; /* of haar, of each sample (detect_haar_deviation()) */
    uint32_t *weights;   /* where features are searched: shares of 2^31; 0 behind the last sample of the last block */
};

/* Which of the sizes of cells. */
static inline int samples_cell_kind(int width, int height)
{
    return width - 1 + 2 * (height - 1);
}

static inline int samples_blocks(const struct samples *samples)
{
    return (samples->count + SAMPLES_BLOCK - 1) / SAMPLES_BLOCK;
}

/* The SAMPLES_BLOCK means of a block's cells of one size at pixel 0; those of pixel p follow SAMPLES_BLOCK * p bytes
 * on. */
const uint8_t *samples_plane(const struct samples *samples, int block, int kind);

/* The SAMPLES_BLOCK sums of a block at place 0; those of place p follow SAMPLES_BLOCK * p numbers on. */
const int32_t *samples_sums(const struct samples *samples, int block);

/* Room for `capacity` samples, and for what a search for a feature needs. */
enum status samples_create(struct samples *samples, int window, int capacity, int feature);
void samples_free(struct samples *samples);

/* Adds a window: from row-major pixels, `stride` bytes from row to row, mirrored or not. There must be room. */
void samples_add(struct samples *samples, const uint8_t *pixels, size_t stride, bool mirrored);
/* Drops those that are not alive; the others stay in their order. */
void samples_drop(struct samples *samples);
/* Makes the planes or sums anew, after samples came or went. */
void samples_transpose(struct samples *samples, int threads);

/* Responses and alive by all stages of a model, for the samples from `first` on. */
void samples_evaluate(struct samples *samples, int first, const struct detect_model *model, int stages, int threads);
/* Weights proportional to exp(-sign * H), 0 for those that are not alive. */
void samples_weigh(struct samples *samples, int sign);
int samples_alive(const struct samples *samples);

#endif
