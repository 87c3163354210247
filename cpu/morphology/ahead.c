/*
 * Idea:     the rows that the next pair of results adds are fetched while this pair is computed, and a result that no
 *           cache can keep until it is read is written past the cache.
 * Changed:  up_and_down fetches two rows ahead (rows of 4 KB are too short for the hardware to foresee the next one);
 *           along streams results of 32 MB and more.
 * Expect:   1920x1080 lies in the cache and gains nothing to speak of; 8192x8192 gains what a store's read of its line
 *           costs, a third of all that goes over the bus: 1.2 times as fast where memory is the limit.
 * Result:   missed at 1920x1080, for the better: 1.17 times (results/cpu2_avx2/morphology/morphology_1920x1080.json).
 *           Larger ones were not measured.
 * From:     cpu/ring
 */
/* Try: make bench-morphology VERSIONS=cpu/ring,cpu/ahead,cpu/simd,peer/opencv SIZE=8192x8192 */
#include "cpu/morphology/shared/bands.h"

enum {
    GROUP = 4, /* vectors at once, so that a row or a tap is looked up once for all of them */
    AHEAD = 2  /* rows below the last that a pair's first result sees: what the next pair adds */
};

/* Lines of all heights for two output rows, from pixel x on. */
SIMD_INLINE void up_and_down(const struct element *element, const struct pair *pair, uint8_t *lines, int x, int vectors,
                             bool erode)
{
    const uint8_t *const *above = pair->rows + element->radius, *const *below = above + 1;
    uint8_t *upper = lines + x, *lower = upper + (size_t)element->lines * element->pitch;
    simd_u8 both[GROUP]; /* over the rows that both columns reach */

    for (int i = 0; i < vectors * SIMD_BYTES; i += 64) {
        __builtin_prefetch(pair->ahead[0] + x + i);
        __builtin_prefetch(pair->ahead[1] + x + i);
    }
#pragma GCC unroll 4
    for (int k = 0; k < vectors; k++)
        both[k] = (simd_u8){0} + (uint8_t)(erode ? 255 : 0);
    for (int h = 0; h <= element->radius; h++) {
        const uint8_t *from_above = *above-- + x, *from_below = *below++ + x;
        simd_u8 up[GROUP], down[GROUP];
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            up[k] = simd_load(from_above + k * SIMD_BYTES);
            down[k] = simd_load(from_below + k * SIMD_BYTES);
        }
        if (element->occurs[h]) {
#pragma GCC unroll 4
            for (int k = 0; k < vectors; k++) {
                simd_store(upper + k * SIMD_BYTES, best(both[k], up[k], erode));
                simd_store(lower + k * SIMD_BYTES, best(both[k], down[k], erode));
            }
            upper += element->pitch;
            lower += element->pitch;
        }
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++)
            both[k] = best(both[k], best(up[k], down[k], erode), erode);
    }
}

/* The best of the element's taps, for the pixels from `lines` on. */
SIMD_INLINE void along(const struct element *element, const uint8_t *lines, uint8_t *to, int vectors, bool stream,
                       bool erode)
{
    simd_u8 result[GROUP];

#pragma GCC unroll 4
    for (int k = 0; k < vectors; k++)
        result[k] = simd_load(lines + element->tap[0] + k * SIMD_BYTES);
    for (int n = 1; n < element->taps; n++) {
        const uint8_t *from = lines + element->tap[n];
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++)
            result[k] = best(result[k], simd_load(from + k * SIMD_BYTES), erode);
    }
#pragma GCC unroll 4
    for (int k = 0; k < vectors; k++)
        if (stream)
            simd_stream(to + k * SIMD_BYTES, result[k]);
        else
            simd_store(to + k * SIMD_BYTES, result[k]);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool erode)
{
    const int end = element->end, whole = element->width / SIMD_BYTES * SIMD_BYTES, group = GROUP * SIMD_BYTES;
    const bool stream = pair->stream;
    uint8_t *lines = pair->lines + MARGIN;
    int x = 0;

    for (; x + group <= end; x += group)
        up_and_down(element, pair, lines, x, GROUP, erode);
    for (; x < end; x += SIMD_BYTES)
        up_and_down(element, pair, lines, x, 1, erode);
    for (int row = 0; row < 2 && pair->to[row]; row++, lines += (size_t)element->lines * element->pitch) {
        uint8_t *to = pair->to[row];
        if (whole < end)
            for (int n = 0; n < element->heights; n++)
                memset(lines + (size_t)n * element->pitch + element->width, erode ? 255 : 0,
                       (size_t)(end - element->width));
        for (x = 0; x + group <= whole; x += group)
            along(element, lines + x, to + x, GROUP, stream, erode);
        for (; x < whole; x += SIMD_BYTES)
            along(element, lines + x, to + x, 1, stream, erode);
        if (x < end) {
            uint8_t rest[SIMD_BYTES];
            along(element, lines + x, rest, 1, false, erode);
            memcpy(to + x, rest, (size_t)(element->width - x));
        }
    }
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
    return morphology_bands(in, out, params, &element, 2 * element.lines, AHEAD, work);
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
