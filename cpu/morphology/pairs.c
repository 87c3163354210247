/*
 * Idea:     two output rows at once. Their columns of one height share all rows but the first and the last: what both
 *           reach grows from the middle by a row above and a row below a step, and each adds one of the next two to it.
 * Changed:  up_and_down makes the lines of two rows; the loop over y takes pairs.
 * Expect:   1.2 times as fast as taps: a disk of 15 takes 12 maxima up and down for a row in place of 15, and reads 8
 *           rows in place of 15. The 14 maxima along stay.
 * Result:   1.06 times, within the noise (results/cpu2_avx2/morphology/morphology_1920x1080.json): the maxima along,
 *           which stay, are probably most of it.
 * From:     cpu/taps
 */
/* Try: make bench-morphology VERSIONS=cpu/taps,cpu/pairs,cpu/ring,peer/opencv */
#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/element.h"

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

/* Two output rows; the second may be NULL. */
SIMD_INLINE void row_pair(const struct element *element, const uint8_t *const rows[], uint8_t *lines,
                          uint8_t *const to[2], bool erode)
{
    const int end = element->end, whole = element->width / SIMD_BYTES * SIMD_BYTES, group = GROUP * SIMD_BYTES;
    int x = 0;

    lines += MARGIN;
    for (; x + group <= end; x += group)
        up_and_down(element, rows, lines, x, GROUP, erode);
    for (; x < end; x += SIMD_BYTES)
        up_and_down(element, rows, lines, x, 1, erode);
    for (int row = 0; row < 2 && to[row]; row++, lines += (size_t)element->lines * element->pitch) {
        if (whole < end)
            for (int n = 0; n < element->heights; n++)
                memset(lines + (size_t)n * element->pitch + element->width, erode ? 255 : 0,
                       (size_t)(end - element->width));
        for (x = 0; x + group <= whole; x += group)
            along(element, lines + x, to[row] + x, GROUP, erode);
        for (; x < whole; x += SIMD_BYTES)
            along(element, lines + x, to[row] + x, 1, erode);
        if (x < end) {
            uint8_t rest[SIMD_BYTES];
            along(element, lines + x, rest, 1, erode);
            memcpy(to[row] + x, rest, (size_t)(element->width - x));
        }
    }
}

/* `memory` has room for a row outside the image and the lines, of each thread. */
static void morphology_step(const struct image *in, struct image *out, const struct element *element, uint8_t *memory,
                            bool erode)
{
    const size_t one_thread = (size_t)(1 + 2 * element->lines) * element->pitch;

#pragma omp parallel
    {
        uint8_t *nothing = memory + (size_t)omp_get_thread_num() * one_thread, *lines = nothing + element->pitch;
        const uint8_t *rows[MORPHOLOGY_MAX_KSIZE + 1];
        memset(nothing, erode ? 255 : 0, one_thread);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y += 2) {
            uint8_t *const to[2] = {image_row(out, y), y + 1 < in->height ? image_row(out, y + 1) : NULL};
            for (int n = 0, v = y - element->radius; n < 2 * element->radius + 2; n++, v++)
                rows[n] = v < 0 || v >= in->height ? nothing : image_row(in, v);
            if (erode)
                row_pair(element, rows, lines, to, true);
            else
                row_pair(element, rows, lines, to, false);
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

    make_element(params, in->width, false, &element);
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
