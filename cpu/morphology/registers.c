/*
 * Idea:     the columns' maxima stay in registers, and all that cpu/simd does is added: a result costs aligned loads
 *           and one store, and no other memory. Columns of one height beside each other are taken 3 or 9 at once; rows
 *           are fetched ahead, those to be written too; results that no cache keeps are streamed.
 * Changed:  along() widens, group() fetches and streams. Without AVX-512 VBMI's vpermt2b a move is 3 to 5 instructions,
 *           there are half as many registers, and lines are faster: this version then does not run.
 * Expect:   disk of 15: 17 maxima up and down, 13 along and 11 moves for 64 pixels, where OpenCV takes 169 maxima; at
 *           two instructions a cycle 20 cycles, 0.1 ms for 1920x1080 on two cores: 20 times faster than OpenCV, which
 *           gains nothing from the second, while memory keeps up.
 * Result:   missed: 10.9 times (results/cpu2/morphology/morphology_1920x1080.json). The prediction counts groups of 5
 *           vectors, which do not stay in 32 registers; groups of 3 compute more of their neighbours again.
 * From:     cpu/moved_groups
 */
/* Try: make bench-morphology VERSIONS=cpu/moved_groups,cpu/registers,cpu/simd,peer/opencv */
#include "cpu/morphology/shared/bands.h"
#include "cpu/morphology/shared/moves.h"

enum {
    GROUP = 3,        /* vectors of results at once: more do not fit into 32 registers */
    HALO = GROUP + 2, /* and one on each side */
    AHEAD = 4         /* rows below the last that a pair's first result sees: what the next pair but one adds */
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
    for (int n = 0, apart = 1; n < column->widen; n++, apart = 3) {
        simd_u8 before = v[0]; /* the first and the last pixels come out wrong, and are too far away to be used */
#pragma GCC unroll 8
        for (int k = 0; k < HALO; k++) {
            const simd_u8 here = v[k];
            v[k] = best(best(earlier(before, here, apart), later(here, v[minimum(k + 1, HALO - 1)], apart), erode),
                        here, erode);
            before = here;
        }
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
SIMD_INLINE void group(const struct element *element, const struct pair *pair, int x, bool stream, bool erode,
                       bool edge)
{
    const uint8_t *const *above = pair->rows + element->radius, *const *below = above + 1;
    const simd_u8 nothing = (simd_u8){0} + (uint8_t)(erode ? 255 : 0);
    simd_u8 both[HALO], upper[GROUP], lower[GROUP]; /* both: the best over the rows that the two columns share */

    for (int row = 0; row < 2; row++)
#pragma GCC unroll 8
        for (int i = 0; i < GROUP * SIMD_BYTES; i += 64) {
            __builtin_prefetch(pair->ahead[row] + x + i);
            if (!stream)
                __builtin_prefetch(pair->after[row] + x + i, 1);
        }
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
    put(upper, GROUP, pair->to[0] + x, element->width - x, stream, edge);
    if (pair->to[1])
        put(lower, GROUP, pair->to[1] + x, element->width - x, stream, edge);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool stream, bool erode)
{
    for (int x = 0; x < element->width; x += GROUP * SIMD_BYTES)
        if (x > 0 && x + (GROUP + 1) * SIMD_BYTES <= element->width)
            group(element, pair, x, stream, erode, false);
        else
            group(element, pair, x, stream, erode, true);
}

static void work(const struct element *element, const struct pair *pair)
{
    if (pair->erode)
        row_pair(element, pair, pair->stream, true);
    else
        row_pair(element, pair, pair->stream, false);
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    struct element element;

    make_element(params, in->width, true, &element);
    return morphology_bands(in, out, params, &element, 0, AHEAD, work);
}

static const char *unavailable(void)
{
#if defined(__AVX512VBMI__)
    return NULL;
#else
    return "built without AVX-512 VBMI, which ARCH=native has on Intel Ice Lake, AMD Zen 4 and later";
#endif
}

RUNGS_CPU_VERSION(morphology, .instruction_set = "AVX-512 VBMI", .unavailable = unavailable)
