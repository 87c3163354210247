/*
 * words.h: edge points as words of two halves, what cpu/simd and the rungs above it vote with.
 */
#ifndef RUNGS_PCLINES_STEPS_WORDS_H
#define RUNGS_PCLINES_STEPS_WORDS_H

#include "common/algo/pclines.h"
#include "cpu/hough/shared/points.h"

/* x in the lower half of a word, y in the upper one, from the middle of the picture; a vector of room behind them. */
struct words {
    size_t count, capacity;
    uint32_t *both;
    uint16_t *bins; /* NULL where all points vote for all rows */
};

static inline uint32_t words_pack(int lower, int upper)
{
    return (uint16_t)lower | (uint32_t)upper << 16;
}

static inline void words_free(struct words *words)
{
    free(words->both);
    free(words->bins);
    *words = (struct words){0};
}

/* Makes room for so many points, if there is not enough, whatever there was before; `room`: of a vector. */
static inline enum status words_reserve(struct words *words, size_t capacity, size_t room,
                                        const struct pclines_params *params)
{
    const bool all = params->hough.half_width == HOUGH_ALL_ROWS;

    if (words->capacity >= capacity + room)
        return STATUS_OK;
    free(words->both);
    free(words->bins);
    words->both = calloc(capacity + room, sizeof *words->both);
    words->bins = all ? NULL : malloc((capacity + room) * sizeof *words->bins);
    if (!words->both || (!all && !words->bins))
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", capacity);
    words->capacity = capacity + room;
    return STATUS_OK;
}

/* Word i becomes point `from`. */
static inline void words_set(struct words *words, size_t i, const struct points *points, size_t from,
                             const struct image *in)
{
    words->both[i] = words_pack((int)points->x[from] - in->width / 2, (int)points->y[from] - in->height / 2);
    if (words->bins)
        words->bins[i] = points->bins[from];
}

/* Brings the cells of those points that vote for row n to the front, and says how many there are; `bins` NULL: all. */
static inline size_t words_keep(int32_t *offset, size_t count, const uint16_t *bins,
                                const struct pclines_params *params, int n)
{
    size_t kept = 0;

    if (!bins)
        return count;
    for (size_t i = 0; i < count; i++) {
        offset[kept] = offset[i];
        kept += pclines_votes_for(params, bins[i], n);
    }
    return kept;
}

#endif
