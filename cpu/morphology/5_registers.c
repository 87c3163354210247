/*
 * Problem:  cpu/simd stores and loads the column maxima of each height: 31 accesses per 64 pixels.
 * Idea:     Column maxima stay in registers: vpermt2b (AVX-512 VBMI) takes 64 bytes out of two
 *           neighbouring vectors, so a shift to the left or right needs no memory.
 * Expect:   1.5 times as fast as cpu/simd: per 64 pixels 41 instructions take 20 cycles, not 31.
 * Result:   0.84 times as fast as cpu/simd with 16 threads, 446 us
 *           (results/h100/morphology/morphology_3840x2160.json); the reason is not known. 1.4 times
 *           with 2 threads (results/cpu2/morphology/morphology_1920x1080.json).
 * Run:      make diff-morphology A=cpu/simd B=cpu/registers
 */
#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/pair.h"

enum {
    GROUP = 3,       /* vectors of results at once: more do not fit into 32 registers */
    HALO = GROUP + 2 /* and one on each side */
};

#if defined(__AVX512VBMI__)
/* Where the vector k - 1 places right of x is read. At an edge some lie outside the image; these read anything. */
SIMD_INLINE int place(const struct element *element, int x, int k, bool edge)
{
    const int at = x + (k - 1) * SIMD_BYTES;

    return edge ? maximum(minimum(at, element->end - SIMD_BYTES), 0) : at;
}

/* Pixels of that vector that are outside the image become what never wins. `inside` is a line: 255 inside, else 0. */
SIMD_INLINE simd_u8 masked(const struct element *element, simd_u8 v, const uint8_t *inside, int x, int k, bool erode)
{
    const simd_u8 mask = simd_load(inside + MARGIN + minimum(x + (k - 1) * SIMD_BYTES, element->end));

    return erode ? v | ~mask : v & mask;
}

/* Writes vectors of results. At an edge, only the `count` pixels up to the end of the row. */
SIMD_INLINE void put(const simd_u8 result[], int vectors, uint8_t *to, int count, bool edge)
{
#pragma GCC unroll 8
    for (int k = 0; k < vectors; k++) {
        const int left = count - k * SIMD_BYTES;
        const simd_u8 vector = result[k];
        if (edge && left < SIMD_BYTES) {
            if (left > 0)
                memcpy(to + k * SIMD_BYTES, &vector, (size_t)left);
        } else
            simd_store(to + k * SIMD_BYTES, vector);
    }
}

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
            v[k] = best(
                best(simd_earlier(before, here, apart), simd_later(here, v[minimum(k + 1, HALO - 1)], apart), erode),
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
                result[k] = best(result[k],
                                 best(simd_earlier(v[k], v[k + 1], column->move[n]),
                                      simd_later(v[k + 1], v[k + 2], column->move[n]), erode),
                                 erode);
}

/* A group of results in both output rows, from pixel x on. At an edge, vectors or pixels are outside the image. */
SIMD_INLINE void group(const struct element *element, const struct pair *pair, int x, bool erode, bool edge)
{
    const uint8_t *const *above = pair->rows + element->radius, *const *below = above + 1;
    const simd_u8 nothing = (simd_u8){0} + (uint8_t)(erode ? 255 : 0);
    simd_u8 both[HALO], upper[GROUP], lower[GROUP]; /* both: the best over the rows that the two columns share */

    for (int row = 0; row < 2; row++)
#pragma GCC unroll 8
        for (int i = 0; i < GROUP * SIMD_BYTES; i += 64) {
            __builtin_prefetch(pair->ahead[row] + x + i);
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
            along(element, h, both, up, pair->lines, x, upper, erode, edge);
            along(element, h, both, down, pair->lines, x, lower, erode, edge);
        }
#pragma GCC unroll 8
        for (int k = 0; k < HALO; k++)
            both[k] = best(
                both[k],
                best(simd_load(up + place(element, x, k, edge)), simd_load(down + place(element, x, k, edge)), erode),
                erode);
    }
    put(upper, GROUP, pair->to[0] + x, element->width - x, edge);
    if (pair->to[1])
        put(lower, GROUP, pair->to[1] + x, element->width - x, edge);
}

SIMD_INLINE void row_pair(const struct element *element, const struct pair *pair, bool erode)
{
    for (int x = 0; x < element->width; x += GROUP * SIMD_BYTES)
        if (x > 0 && x + (GROUP + 1) * SIMD_BYTES <= element->width)
            group(element, pair, x, erode, false);
        else
            group(element, pair, x, erode, true);
}

/* `memory` has room for a row outside the image and the line `inside`, of each thread. */
static void morphology_step(const struct image *in, struct image *out, const struct element *element, uint8_t *memory,
                            bool erode)
{
    const size_t one_thread = 2 * element->pitch;

#pragma omp parallel
    {
        uint8_t *nothing = memory + (size_t)omp_get_thread_num() * one_thread;
        struct pair pair = {.lines = nothing + element->pitch};
        memset(nothing, erode ? 255 : 0, element->pitch);
        memset(pair.lines, 0, element->pitch);
        memset(pair.lines + MARGIN, 255, (size_t)in->width);
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

static const char *unavailable(void)
{
    return NULL;
}
#else
static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    (void)in, (void)out, (void)params;
    return STATUS_OK;
}

static const char *unavailable(void)
{
    return "built without AVX-512 VBMI, which ARCH=native has on Intel Ice Lake, AMD Zen 4 and later";
}
#endif

RUNGS_CPU_VERSION(morphology, .instruction_set = "AVX-512 VBMI", .unavailable = unavailable)
