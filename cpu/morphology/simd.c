/*
 * Idea:     columns of the same height beside each other (all of a square's, the middle of a disk) are taken 3 or 9 at
 *           once: a line of the best of 3 neighbours, or of those 3 apart once more, answers for all of them.
 * Changed:  widen() makes such lines behind the others, and shared/element.h is told to use them.
 * Expect:   disk of 15: 12 maxima up and down, 11 along, for 64 pixels; OpenCV takes 169. Loads set the pace: 11
 *           aligned and 10 that straddle two cache lines, 31 line accesses for 64 pixels. That is 16 cycles where a
 *           core makes two a cycle, 31 where it makes one: 15 to 20 times faster than OpenCV on two cores, where OpenCV
 *           gains nothing.
 * Result:   missed: 7.7 times (results/cpu2/morphology/morphology_1920x1080.json). The count leaves out that the lines
 *           are stored as well. With AVX2 8.9 times, as ahead within the noise
 *           (results/cpu2_avx2/morphology/morphology_1920x1080.json).
 * From:     cpu/ahead
 */
/* Try: make bench-morphology VERSIONS=cpu/omp,cpu/ahead,cpu/simd,cpu/registers,peer/opencv */
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

/* to[x] = best of from[x - shift], from[x] and from[x + shift], the nearest pixels outside included. */
SIMD_INLINE void widen(const uint8_t *from, uint8_t *to, int shift, int end, bool erode)
{
    for (int x = -SIMD_BYTES; x < end + SIMD_BYTES; x += SIMD_BYTES)
        simd_store(to + x, best(simd_load(from + x),
                                best(simd_load(from + x - shift), simd_load(from + x + shift), erode), erode));
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
        uint8_t *wide = lines + (size_t)element->heights * element->pitch;
        if (whole < end)
            for (int n = 0; n < element->heights; n++)
                memset(lines + (size_t)n * element->pitch + element->width, erode ? 255 : 0,
                       (size_t)(end - element->width));
        if (element->heights < element->lines)
            widen(lines + (size_t)element->wide_line * element->pitch, wide, 1, end, erode);
        if (element->heights + 1 < element->lines)
            widen(wide, wide + element->pitch, 3, end, erode);
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

    make_element(params, in->width, true, &element);
    return morphology_bands(in, out, params, &element, 2 * element.lines, AHEAD, work);
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
