/*
 * Problem:  Each of the 30 comparisons per pixel in cpu/columns also costs two loads and a store.
 * Idea:     Register tile: 4 vectors of results stay in registers for the whole disk, which saves a
 *           load and the store. Two output rows share the rows that both need. Maxima of 3 or 9
 *           neighbours replace equal columns. The next rows are prefetched.
 * Expect:   2.5 times as fast as cpu/columns: 12 + 11 comparisons, each with one load and no store.
 * Result:   2.3 times as fast as cpu/columns with 16 threads, 373 us
 *           (results/h100/morphology/morphology_3840x2160.json).
 * Run:      make diff-morphology A=cpu/columns B=cpu/simd
 */
#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/pair.h"

enum { GROUP = 4 /* vectors at once: a row or a tap is looked up for all of them */ };

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

/* `memory` has room for a row outside the image and the lines of two rows, of each thread. */
static void morphology_step(const struct image *in, struct image *out, const struct element *element, uint8_t *memory,
                            bool erode)
{
    const size_t one_thread = (size_t)(1 + 2 * element->lines) * element->pitch;

#pragma omp parallel
    {
        uint8_t *nothing = memory + (size_t)omp_get_thread_num() * one_thread;
        struct pair pair = {.lines = nothing + element->pitch};
        memset(nothing, erode ? 255 : 0, one_thread);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y += 2) {
            find_pair(in, out, element->radius, nothing, y, &pair);
            if (erode)
                row_pair(element, &pair, true);
            else
                row_pair(element, &pair, false);
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    struct image between = {0};
    struct element element;
    uint8_t *memory;
    bool erodes[2];

    make_element(params, in->width, true, &element);
    memory = aligned_alloc(64, (size_t)omp_get_max_threads() * (size_t)(1 + 2 * element.lines) * element.pitch);
    if (!memory)
        return status_set(STATUS_NO_MEMORY, "no memory for the lines of %d pixels", in->width);
    if (morphology_steps(params, erodes) == 1) {
        morphology_step(in, out, &element, memory, erodes[0]);
        goto out;
    }
    TRY(image_create_like(&between, in));
    morphology_step(in, &between, &element, memory, erodes[0]);
    morphology_step(&between, out, &element, memory, erodes[1]);
out:
    image_free(&between);
    free(memory);
    return status;
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
