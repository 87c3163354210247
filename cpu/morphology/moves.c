/*
 * Idea:     no lines at all: a column that has grown to a height that occurs is at once moved to the left and to the
 *           right, and collected. It stays in registers: the vector of results, and its neighbours on both sides, out
 *           of which bytes move in.
 * Changed:  the loops over a row's lines became one; a move is made of two registers (shared/moves.h) where it was a
 *           read between two places of a line. At the edges, pixels outside the image are masked.
 * Expect:   with AVX-512 VBMI, whose vpermt2b takes 64 bytes from any places of two registers, 1.3 times as fast as
 *           lines; no line is stored or read, but each column is made three times. Elsewhere a move is 3 to 5
 *           instructions, or two stores and a read that has to wait for both: several times slower than lines.
 * Result:   with AVX2, 3.9 times slower than lines (results/cpu2_avx2/morphology/morphology_1920x1080.json). It is the
 *           first step of four to cpu/registers, and runs everywhere so that it can be read and verified.
 * From:     cpu/lines
 */
/* Try: make bench-morphology VERSIONS=cpu/lines,cpu/moves,cpu/moved_pairs,cpu/registers */
#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/element.h"
#include "cpu/morphology/shared/moves.h"

/* A vector of results. */
SIMD_INLINE simd_u8 collect(const struct element *element, const uint8_t *const rows[], const uint8_t *inside, int x,
                            bool erode)
{
    const uint8_t *const *above = rows + element->radius, *const *below = above;
    simd_u8 both[3], v[3], result = (simd_u8){0} + (uint8_t)(erode ? 255 : 0);

    both[0] = both[1] = both[2] = result;
    for (int h = 0; h <= element->radius; h++) {
        const uint8_t *up = *above--, *down = *below++;
        const struct column *column = &element->columns[h];
#pragma GCC unroll 8
        for (int k = 0; k < 3; k++) {
            const int at = place(element, x, k, true);
            both[k] = best(both[k], best(simd_load(up + at), simd_load(down + at), erode), erode);
            v[k] = masked(element, both[k], inside, x, k, erode);
        }
        for (int n = 0; n < column->moves; n++)
            result = best(result, best(earlier(v[0], v[1], column->move[n]), later(v[1], v[2], column->move[n]), erode),
                          erode);
    }
    return result;
}

/* An output row. rows[]: those that the element reaches; inside: a line, 255 where pixels are in the image, else 0. */
SIMD_INLINE void morphology_row(const struct element *element, const uint8_t *const rows[], const uint8_t *inside,
                                uint8_t *to, bool erode)
{
    for (int x = 0; x < element->width; x += SIMD_BYTES) {
        const simd_u8 result = collect(element, rows, inside, x, erode);
        memcpy(to + x, &result, (size_t)minimum(element->width - x, SIMD_BYTES));
    }
}

/* `memory` has room for a row outside the image and the line `inside`, of each thread. */
static void morphology_step(const struct image *in, struct image *out, const struct element *element, uint8_t *memory,
                            bool erode)
{
    const size_t one_thread = 2 * element->pitch;

#pragma omp parallel
    {
        uint8_t *nothing = memory + (size_t)omp_get_thread_num() * one_thread, *inside = nothing + element->pitch;
        const uint8_t *rows[MORPHOLOGY_MAX_KSIZE];
        memset(nothing, erode ? 255 : 0, element->pitch);
        memset(inside, 0, element->pitch);
        memset(inside + MARGIN, 255, (size_t)in->width);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            for (int n = 0, v = y - element->radius; n < 2 * element->radius + 1; n++, v++)
                rows[n] = v < 0 || v >= in->height ? nothing : image_row(in, v);
            if (erode)
                morphology_row(element, rows, inside, image_row(out, y), true);
            else
                morphology_row(element, rows, inside, image_row(out, y), false);
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
    memory = aligned_alloc(64, (size_t)omp_get_max_threads() * 2 * element.pitch);
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
