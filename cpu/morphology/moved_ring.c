/*
 * Idea:     open and close in one pass, as in cpu/ring: the second step reads rows that still lie in the cache.
 * Changed:  run() calls shared/bands.h, which goes down a band by pairs of rows and gives each its rows.
 * Expect:   dilate and erode stay as they are; open and close of an image beyond the cache 1.1 times as fast.
 * Result:   missed: dilate, too, is 1.1 times as fast (results/cpu2_avx2/morphology/morphology_1920x1080.json), probably
 *           because bands are shared out once, not once a step.
 * From:     cpu/moved_pairs
 */
/* Try: make bench-morphology VERSIONS=cpu/moved_pairs,cpu/moved_ring,cpu/moved_groups,cpu/ring */
#include "cpu/morphology/shared/bands.h"
#include "cpu/morphology/shared/moves.h"

/* Adds to *result what columns of 2h + 1 rows find: the best of all but the last of these, and the last. */
SIMD_INLINE void along(const struct element *element, int h, const simd_u8 both[3], const uint8_t *row,
                       const uint8_t *inside, int x, simd_u8 *result, bool erode)
{
    const struct column *column = &element->columns[h];
    simd_u8 v[3];

#pragma GCC unroll 8
    for (int k = 0; k < 3; k++) {
        v[k] = best(both[k], simd_load(row + place(element, x, k, true)), erode);
        v[k] = masked(element, v[k], inside, x, k, erode);
    }
    for (int n = 0; n < column->moves; n++)
        *result =
            best(*result, best(earlier(v[0], v[1], column->move[n]), later(v[1], v[2], column->move[n]), erode), erode);
}

/* A vector of results in both output rows. */
SIMD_INLINE void group(const struct element *element, const struct pair *pair, int x, bool erode)
{
    const uint8_t *const *above = pair->rows + element->radius, *const *below = above + 1;
    simd_u8 both[3], upper = (simd_u8){0} + (uint8_t)(erode ? 255 : 0), lower = upper;
    const size_t bytes = (size_t)minimum(element->width - x, SIMD_BYTES);

    both[0] = both[1] = both[2] = upper; /* the best over the rows that the two columns share */
    for (int h = 0; h <= element->radius; h++) {
        const uint8_t *up = *above--, *down = *below++;
        if (element->occurs[h]) {
            along(element, h, both, up, pair->inside, x, &upper, erode);
            along(element, h, both, down, pair->inside, x, &lower, erode);
        }
#pragma GCC unroll 8
        for (int k = 0; k < 3; k++) {
            const int at = place(element, x, k, true);
            both[k] = best(both[k], best(simd_load(up + at), simd_load(down + at), erode), erode);
        }
    }
    memcpy(pair->to[0] + x, &upper, bytes);
    if (pair->to[1])
        memcpy(pair->to[1] + x, &lower, bytes);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool erode)
{
    for (int x = 0; x < element->width; x += SIMD_BYTES)
        group(element, pair, x, erode);
}

static void work(const struct element *element, const struct pair *pair)
{
    if (pair->erode)
        row_pair(element, pair, true);
    else
        row_pair(element, pair, false);
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    struct element element;

    make_element(params, in->width, false, &element);
    return morphology_bands(in, out, params, &element, 0, 0, work);
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
