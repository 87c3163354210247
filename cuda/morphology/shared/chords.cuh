/*
 * chords.cuh: the element's rows as chords, known to the compiler. A disk of 5 has two kinds:
 *
 *      . . # . .      kind 1, length 1
 *      # # # # #      kind 0, length 5
 *      # # # # #      kind 0
 *      # # # # #      kind 0
 *      . . # . .      kind 1
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_CHORDS_CUH
#define RUNGS_MORPHOLOGY_STEPS_CHORDS_CUH

#include "common/algo/morphology.h"

/* The element's rows by kind: a kind is a chord, 0 the longest one. */
struct chords {
    int kinds, lengths[MORPHOLOGY_MAX_RADIUS + 1], kind[MORPHOLOGY_MAX_KSIZE]; /* kind[radius + j] of row j */
};

static constexpr struct chords find_chords(int shape, int radius)
{
    struct chords chords = {};

    for (int j = 0; j <= radius; j++) {
        const int length = 2 * morphology_reach(shape, radius, j) + 1;
        if (j == 0 || length != chords.lengths[chords.kinds - 1])
            chords.lengths[chords.kinds++] = length;
        chords.kind[radius + j] = chords.kind[radius - j] = chords.kinds - 1;
    }
    return chords;
}

/* What a kernel knows of its element, and of the words of 4 pixels that a thread takes of a row: its own and a halo. */
template <int SHAPE, int RADIUS, int OWN_WORDS> struct shape {
    static constexpr struct chords CHORDS = find_chords(SHAPE, RADIUS);
    static constexpr int OWN = OWN_WORDS, HALO = (RADIUS + 3) / 4, WORDS = OWN + 2 * HALO;
};

#define MORPHOLOGY_LAUNCHES_OF(launch, shape)                                                                          \
    {                                                                                                                  \
        launch<shape, 1>, launch<shape, 2>, launch<shape, 3>, launch<shape, 4>, launch<shape, 5>, launch<shape, 6>,    \
            launch<shape, 7>, launch<shape, 8>, launch<shape, 9>, launch<shape, 10>, launch<shape, 11>,                \
            launch<shape, 12>, launch<shape, 13>, launch<shape, 14>, launch<shape, 15>                                 \
    }
/* A function for each shape and, from 1 on, each radius. */
#define MORPHOLOGY_LAUNCHES(launch)                                                                                    \
    {                                                                                                                  \
        MORPHOLOGY_LAUNCHES_OF(launch, MORPHOLOGY_DISK), MORPHOLOGY_LAUNCHES_OF(launch, MORPHOLOGY_SQUARE)             \
    }

#endif
