/*
 * Idea:     three vectors of results at once. They and their two neighbours are five columns where one result and its
 *           neighbours are three: 1.7 a result in place of 3.
 * Changed:  GROUP vectors in all loops; only the first and the last group of a row ask where the image ends, in a
 *           function that the compiler makes twice.
 * Expect:   with AVX-512 VBMI 1.7 times as fast as moved_ring. More than three do not fit: 5 columns, 5 of a height,
 *           and 2 * 3 results are 16 registers, 4 * 7 with five. Elsewhere the moves go through memory and set the
 *           pace.
 * Result:   with AVX2, which has 16 registers, 1.05 times as fast
 *           (results/cpu2_avx2/morphology/morphology_1920x1080.json).
 * From:     cpu/moved_ring
 */
/* Try: make bench-morphology VERSIONS=cpu/moved_ring,cpu/moved_groups,cpu/registers */
#include "cpu/morphology/shared/bands.h"
#include "cpu/morphology/shared/moves.h"

enum {
    GROUP = 3,       /* vectors of results at once: more do not fit into 32 registers */
    HALO = GROUP + 2 /* and one on each side */
};

/* Adds to result[] what columns of 2h + 1 rows find: the best of all but the last of these, and the last. */
SIMD_INLINE void along(const struct element *element, int h, const simd_u8 both[HALO], const uint8_t *row,
                       const uint8_t *inside, int x, simd_u8 result[GROUP], bool erode, bool edge)
{
    const struct column *column = &element->columns[h];
    simd_u8 v[HALO];

#pragma GCC unroll 8
    for (int k = 0; k < HALO; k++) {
        v[k] = best(both[k], simd_load(row + place(element, x, k, edge)), erode);
        if (edge)
            v[k] = masked(element, v[k], inside, x, k, erode);
    }
    for (int n = 0; n < column->moves; n++)
        if (column->move[n] == 0)
#pragma GCC unroll 8
            for (int k = 0; k < GROUP; k++)
                result[k] = best(result[k], v[k + 1], erode);
        else
#pragma GCC unroll 8
            for (int k = 0; k < GROUP; k++)
                result[k] = best(
                    result[k],
                    best(earlier(v[k], v[k + 1], column->move[n]), later(v[k + 1], v[k + 2], column->move[n]), erode),
                    erode);
}

/* A group of results in both output rows, from pixel x on. At an edge, vectors or pixels are outside the image. */
SIMD_INLINE void group(const struct element *element, const struct pair *pair, int x, bool erode, bool edge)
{
    const uint8_t *const *above = pair->rows + element->radius, *const *below = above + 1;
    const simd_u8 nothing = (simd_u8){0} + (uint8_t)(erode ? 255 : 0);
    simd_u8 both[HALO], upper[GROUP], lower[GROUP]; /* both: the best over the rows that the two columns share */

#pragma GCC unroll 8
    for (int k = 0; k < HALO; k++)
        both[k] = nothing;
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++)
        upper[k] = lower[k] = nothing;
    for (int h = 0; h <= element->radius; h++) {
        const uint8_t *up = *above--, *down = *below++;
        if (element->occurs[h]) {
            along(element, h, both, up, pair->inside, x, upper, erode, edge);
            along(element, h, both, down, pair->inside, x, lower, erode, edge);
        }
#pragma GCC unroll 8
        for (int k = 0; k < HALO; k++)
            both[k] = best(
                both[k],
                best(simd_load(up + place(element, x, k, edge)), simd_load(down + place(element, x, k, edge)), erode),
                erode);
    }
    put(upper, GROUP, pair->to[0] + x, element->width - x, false, edge);
    if (pair->to[1])
        put(lower, GROUP, pair->to[1] + x, element->width - x, false, edge);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool erode)
{
    for (int x = 0; x < element->width; x += GROUP * SIMD_BYTES)
        if (x > 0 && x + (GROUP + 1) * SIMD_BYTES <= element->width)
            group(element, pair, x, erode, false);
        else
            group(element, pair, x, erode, true);
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
