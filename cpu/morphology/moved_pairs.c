/*
 * Idea:     two output rows at once, as in cpu/pairs: the columns of both grow from the rows between them.
 * Changed:  collect() became group(), which makes two results, and along(), which collects one height of one of them.
 * Expect:   1.3 times as fast as moves: a disk of 15 loads 16 rows for two results and 8 once more, where it loaded 15
 *           for each; the moves stay as many.
 * Result:   with AVX2 as moves, within the noise (results/cpu2_avx2/morphology/morphology_1920x1080.json): the moves
 *           set the pace.
 * From:     cpu/moves
 */
/* Try: make bench-morphology VERSIONS=cpu/moves,cpu/moved_pairs,cpu/moved_ring,cpu/pairs */
#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/element.h"
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
SIMD_INLINE void group(const struct element *element, const uint8_t *const rows[], const uint8_t *inside,
                       uint8_t *const to[2], int x, bool erode)
{
    const uint8_t *const *above = rows + element->radius, *const *below = above + 1;
    simd_u8 both[3], upper = (simd_u8){0} + (uint8_t)(erode ? 255 : 0), lower = upper;
    const size_t bytes = (size_t)minimum(element->width - x, SIMD_BYTES);

    both[0] = both[1] = both[2] = upper; /* the best over the rows that the two columns share */
    for (int h = 0; h <= element->radius; h++) {
        const uint8_t *up = *above--, *down = *below++;
        if (element->occurs[h]) {
            along(element, h, both, up, inside, x, &upper, erode);
            along(element, h, both, down, inside, x, &lower, erode);
        }
#pragma GCC unroll 8
        for (int k = 0; k < 3; k++) {
            const int at = place(element, x, k, true);
            both[k] = best(both[k], best(simd_load(up + at), simd_load(down + at), erode), erode);
        }
    }
    memcpy(to[0] + x, &upper, bytes);
    if (to[1])
        memcpy(to[1] + x, &lower, bytes);
}

/* Two output rows, the second may be NULL. inside: a line, 255 where pixels are in the image, else 0. */
SIMD_INLINE void row_pair(const struct element *element, const uint8_t *const rows[], const uint8_t *inside,
                          uint8_t *const to[2], bool erode)
{
    for (int x = 0; x < element->width; x += SIMD_BYTES)
        group(element, rows, inside, to, x, erode);
}

/* `memory` has room for a row outside the image and the line `inside`, of each thread. */
static void morphology_step(const struct image *in, struct image *out, const struct element *element, uint8_t *memory,
                            bool erode)
{
    const size_t one_thread = 2 * element->pitch;

#pragma omp parallel
    {
        uint8_t *nothing = memory + (size_t)omp_get_thread_num() * one_thread, *inside = nothing + element->pitch;
        const uint8_t *rows[MORPHOLOGY_MAX_KSIZE + 1];
        memset(nothing, erode ? 255 : 0, element->pitch);
        memset(inside, 0, element->pitch);
        memset(inside + MARGIN, 255, (size_t)in->width);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y += 2) {
            uint8_t *const to[2] = {image_row(out, y), y + 1 < in->height ? image_row(out, y + 1) : NULL};
            for (int n = 0, v = y - element->radius; n < 2 * element->radius + 2; n++, v++)
                rows[n] = v < 0 || v >= in->height ? nothing : image_row(in, v);
            if (erode)
                row_pair(element, rows, inside, to, true);
            else
                row_pair(element, rows, inside, to, false);
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
