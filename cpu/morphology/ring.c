/*
 * Idea:     open and close in one pass. What the first step writes is read by the second while it still lies in the
 *           cache: between them waits no image, only a ring of the rows that the second step sees. Threads take bands
 *           of rows instead of all the rows of one step.
 * Changed:  run() calls shared/bands.h, which goes down a band by pairs of rows and gives each its rows, of the image or
 *           of the ring. Each band makes the few rows of the first step beyond its ends itself, once more.
 * Expect:   dilate and erode stay as they are. Open and close of an image beyond the cache (8 MB and more) lose the way
 *           of the image between to memory and back, one access in two: 1.1 times as fast, since lines set the pace.
 * Result:   dilate stays as it is (results/cpu2_avx2/morphology/morphology_1920x1080.json).
 * From:     cpu/pairs
 */
/* Try: make bench-morphology VERSIONS=cpu/pairs,cpu/ring,cpu/ahead,peer/opencv PARAMS="op=close" */
#include "cpu/morphology/shared/bands.h"

enum { GROUP = 4 /* vectors at once, so that a row or a tap is looked up once for all of them */ };

/* Lines of all heights for two output rows, from pixel x on. */
SIMD_INLINE void up_and_down(const struct element *element, const uint8_t *const rows[], uint8_t *lines, int x,
                             int vectors, bool erode)
{
    const uint8_t *const *above = rows + element->radius, *const *below = above + 1;
    uint8_t *upper = lines + x, *lower = upper + (size_t)element->lines * element->pitch;
    simd_u8 both[GROUP]; /* over the rows that both columns reach */

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
SIMD_INLINE void along(const struct element *element, const uint8_t *lines, uint8_t *to, int vectors, bool erode)
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
        simd_store(to + k * SIMD_BYTES, result[k]);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool erode)
{
    const int end = element->end, whole = element->width / SIMD_BYTES * SIMD_BYTES, group = GROUP * SIMD_BYTES;
    uint8_t *lines = pair->lines + MARGIN;
    int x = 0;

    for (; x + group <= end; x += group)
        up_and_down(element, pair->rows, lines, x, GROUP, erode);
    for (; x < end; x += SIMD_BYTES)
        up_and_down(element, pair->rows, lines, x, 1, erode);
    for (int row = 0; row < 2 && pair->to[row]; row++, lines += (size_t)element->lines * element->pitch) {
        uint8_t *to = pair->to[row];
        if (whole < end)
            for (int n = 0; n < element->heights; n++)
                memset(lines + (size_t)n * element->pitch + element->width, erode ? 255 : 0,
                       (size_t)(end - element->width));
        for (x = 0; x + group <= whole; x += group)
            along(element, lines + x, to + x, GROUP, erode);
        for (; x < whole; x += SIMD_BYTES)
            along(element, lines + x, to + x, 1, erode);
        if (x < end) {
            uint8_t rest[SIMD_BYTES];
            along(element, lines + x, rest, 1, erode);
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
    return morphology_bands(in, out, params, &element, 2 * element.lines, 0, work);
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
