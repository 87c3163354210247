/*
 * element.h: the structuring element for cpu/columns and the rungs above it: its columns by height, how far each is
 * moved, and where that is in a thread's lines. A disk of 5:
 *
 *      . . # . .      column of 5 rows, h = 2: at distance 0
 *      # # # # #      columns of 3 rows, h = 1: at distances 1 and 2 to the left and to the right
 *      # # # # #
 *      # # # # #
 *      . . # . .
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_ELEMENT_H
#define RUNGS_MORPHOLOGY_STEPS_ELEMENT_H

#include "common/algo/morphology.h"
#include "common/simd/simd.h"

enum {
    HEIGHTS = MORPHOLOGY_MAX_RADIUS + 1,
    MARGIN = 128 /* bytes on both sides of a line that hold what never wins */
};

/* Columns of one height. */
struct column {
    int widen; /* how often the best of 3 neighbours is taken first: of pixels 1 apart, then of those 3 apart */
    int moves, move[HEIGHTS]; /* and then how far that is moved to the left and to the right */
};

struct element {
    int radius, width, end; /* the image's width, and that in whole vectors */
    bool occurs[HEIGHTS];   /* [h]: there are columns of 2h + 1 rows */
    struct column columns[HEIGHTS];
    /* A line for each height that occurs, the lowest first, and behind these the widened ones: `pitch` bytes each. */
    int heights, lines, wide_line; /* the line that is widened */
    size_t pitch;                  /* a line's first pixel is MARGIN behind its start */
    int taps;
    ptrdiff_t tap[2 * HEIGHTS]; /* out(x) is the best of lines[x + tap[n]] */
};

static inline int minimum(int a, int b)
{
    return a < b ? a : b;
}

static inline int maximum(int a, int b)
{
    return a > b ? a : b;
}

SIMD_INLINE simd_u8 best(simd_u8 a, simd_u8 b, bool erode)
{
    return erode ? simd_min(a, b) : simd_max(a, b);
}

static inline void make_taps(struct element *element)
{
    int line = 0;

    element->lines = element->heights;
    for (int h = 0; h <= element->radius; h++) {
        const struct column *column = &element->columns[h];
        if (!element->occurs[h])
            continue;
        element->lines += column->widen;
        const ptrdiff_t at = (ptrdiff_t)element->pitch * (column->widen > 0 ? element->lines - 1 : line);
        for (int n = 0; n < column->moves; n++) {
            element->tap[element->taps++] = at + column->move[n];
            if (column->move[n] > 0)
                element->tap[element->taps++] = at - column->move[n];
        }
        line++;
    }
}

/* With `widens` one tap covers 3 or 9 neighbouring columns of equal height. */
static inline void make_element(const struct morphology_params *params, int width, bool widens, struct element *element)
{
    const int radius = params->ksize / 2;

    memset(element, 0, sizeof *element);
    element->radius = radius;
    element->width = width;
    element->end = (width + SIMD_BYTES - 1) / SIMD_BYTES * SIMD_BYTES;
    /* An odd number of cache lines: else the lines' same columns share few places in the cache. */
    element->pitch = (size_t)((element->end + 2 * MARGIN + 63) / 64 | 1) * 64;
    for (int h = 0; h <= radius; h++) { /* these are inner <= |i| <= outer; what is nearer is taller, and wins anyway */
        const int outer = morphology_reach(params->shape, radius, h);
        const int inner = h == radius ? 0 : morphology_reach(params->shape, radius, h + 1) + 1;
        struct column *column = &element->columns[h];
        int wide = 1;
        if (inner > outer)
            continue;
        element->occurs[h] = true;
        for (; widens && inner <= 1 && 2 * outer + 1 > 5 * wide; wide *= 3)
            column->widen++;
        for (int move = outer - wide / 2;; move -= wide) {
            column->move[column->moves++] = maximum(move, 0);
            if (move - wide / 2 <= inner)
                break;
        }
        if (column->widen > 0)
            element->wide_line = element->heights;
        element->heights++;
    }
    make_taps(element);
}

#endif
