/*
 * Idea:     keep the columns' maxima in registers. For a few neighbouring vectors, and one more on each side, a column
 *           that has grown to a height that occurs is at once moved left and right and collected: a result costs aligned
 *           loads and one store, and no other memory.
 * Changed:  the loops over a row's lines became one; a move is AVX-512 VBMI's vpermt2b, which takes 64 bytes from any
 *           places of two registers, in place of an unaligned load. Without it a move is 3 to 5 instructions, there are
 *           half as many registers, and lines are faster: this version then does not run.
 * Expect:   disk of 15: 17 maxima up and down, 13 along and 11 moves for 64 pixels, where OpenCV takes 169 maxima; at two
 *           instructions a cycle 20 cycles, 0.1 ms for 1920x1080 on two cores: 20 times faster than OpenCV, which gains
 *           nothing from the second, while memory keeps up.
 * Result:   missed: 10.9 times (results/cpu2/morphology/morphology_1920x1080.json). The prediction counts groups of 5
 *           vectors, which do not stay in 32 registers; groups of 3 compute more of their neighbours again.
 * From:     cpu/simd
 */
/* Try: make bench-morphology VERSIONS=cpu/omp,cpu/simd,cpu/registers,peer/opencv */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/morphology.h"
#include "common/simd/simd.h"

#if defined(__AVX512VBMI__)
enum {
    GROUP = 3,                         /* vectors of results at once: more do not fit into 32 registers */
    HALO = GROUP + 2,                  /* and one on each side */
    WINDOW = MORPHOLOGY_MAX_KSIZE + 1, /* rows that two output rows see */
    HEIGHTS = MORPHOLOGY_MAX_RADIUS + 1,
    BANDS = 4,          /* for each thread, so that a thread that ends early takes another */
    AHEAD = 4,          /* rows from now, to be prefetched: 4 KB are too short for the hardware to foresee them all */
    STREAMED = 32 << 20 /* bytes of a result that no cache is likely to keep until it is read */
};

/* Columns of one height. */
struct column {
    int widen; /* how often the best of 3 is taken: of pixels 1 apart, then of those 3 apart */
    int moves, move[HEIGHTS];
};

struct element {
    int radius, width, end; /* the image's width, and that in whole vectors */
    bool occurs[HEIGHTS];   /* [h]: there are columns of 2h + 1 rows */
    struct column columns[HEIGHTS];
    uint8_t *inside; /* [SIMD_BYTES + x]: 255 where x is in the image, else 0 */
};

/* Two output rows, of which the second may be NULL, and the rows that they see. */
struct pair {
    const uint8_t *rows[WINDOW], *ahead[2]; /* soon to be read */
    uint8_t *to[2], *after[2];              /* soon to be written */
};

/* One of the steps of an op. */
struct step {
    bool erode;
    uint8_t *nothing; /* a row outside the image */
};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static int maximum(int a, int b)
{
    return a > b ? a : b;
}

static void make_element(const struct morphology_params *params, int width, struct element *element)
{
    const int radius = params->ksize / 2;

    memset(element, 0, sizeof *element);
    element->radius = radius;
    element->width = width;
    element->end = (width + SIMD_BYTES - 1) / SIMD_BYTES * SIMD_BYTES;
    for (int h = 0; h <= radius; h++) { /* these are inner <= |i| <= outer, and what is nearer may be included */
        const int outer = morphology_reach(params->shape, radius, h);
        const int inner = h == radius ? 0 : morphology_reach(params->shape, radius, h + 1) + 1;
        struct column *column = &element->columns[h];
        int wide = 1;
        if (inner > outer)
            continue;
        element->occurs[h] = true;
        for (; inner <= 1 && 2 * outer + 1 > 5 * wide; wide *= 3)
            column->widen++;
        for (int move = outer - wide / 2;; move -= wide) {
            column->move[column->moves++] = maximum(move, 0);
            if (move - wide / 2 <= inner)
                break;
        }
    }
}

SIMD_INLINE simd_u8 best(simd_u8 a, simd_u8 b, bool erode)
{
    return erode ? simd_min(a, b) : simd_max(a, b);
}

/* Where vector k of a group with its halo is read. At an edge some lie outside the image; these read anything. */
SIMD_INLINE int place(const struct element *element, int x, int k, bool edge)
{
    const int at = x + (k - 1) * SIMD_BYTES;

    return edge ? maximum(minimum(at, element->end - SIMD_BYTES), 0) : at;
}

/* Adds to result[] what columns of 2h + 1 rows find: the best of all but the last of these, and the last. */
SIMD_INLINE void along(const struct element *element, int h, const simd_u8 both[HALO], const uint8_t *row, int x,
                       simd_u8 result[GROUP], bool erode, bool edge)
{
    const struct column *column = &element->columns[h];
    simd_u8 v[HALO];

#pragma GCC unroll 8
    for (int k = 0; k < HALO; k++) {
        v[k] = best(both[k], simd_load(row + place(element, x, k, edge)), erode);
        if (edge) {
            const simd_u8 inside = simd_load(element->inside + x + k * SIMD_BYTES);
            v[k] = erode ? v[k] | ~inside : v[k] & inside;
        }
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

SIMD_INLINE void put(const simd_u8 result[GROUP], uint8_t *to, int count, bool stream, bool edge)
{
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++) {
        const int left = count - k * SIMD_BYTES;
        const simd_u8 vector = result[k];
        if (edge && left < SIMD_BYTES) {
            if (left > 0)
                memcpy(to + k * SIMD_BYTES, &vector, (size_t)left);
        } else if (stream)
            simd_stream(to + k * SIMD_BYTES, vector);
        else
            simd_store(to + k * SIMD_BYTES, vector);
    }
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
            along(element, h, both, up, x, upper, erode, edge);
            along(element, h, both, down, x, lower, erode, edge);
        }
#pragma GCC unroll 8
        for (int k = 0; k < HALO; k++)
            both[k] = best(
                both[k],
                best(simd_load(up + place(element, x, k, edge)), simd_load(down + place(element, x, k, edge)), erode),
                erode);
    }
    put(upper, pair->to[0] + x, element->width - x, stream, edge);
    if (pair->to[1])
        put(lower, pair->to[1] + x, element->width - x, stream, edge);
}

SIMD_INLINE void work_as(const struct element *element, const struct pair *pair, bool stream, bool erode)
{
    for (int x = 0; x < element->width; x += GROUP * SIMD_BYTES)
        if (x > 0 && x + (GROUP + 1) * SIMD_BYTES <= element->width)
            group(element, pair, x, stream, erode, false);
        else
            group(element, pair, x, stream, erode, true);
}

static void work(const struct element *element, const struct pair *pair, bool stream, bool erode)
{
    if (erode)
        work_as(element, pair, stream, true);
    else
        work_as(element, pair, stream, false);
}

/* Output rows from top to bottom, bottom excluded. Between two steps, row y waits in slot y % slots of the ring. */
static void morphology_band(const struct image *in, struct image *out, const struct element *element,
                            const struct step steps[], int count, uint8_t *ring, int top, int bottom, bool stream)
{
    const int radius = element->radius, slots = 2 * radius + 3, last = in->height - 1;
    struct pair first, second;
    int next = maximum(top - radius, 0); /* the row that the first of two steps is at */

    for (int y = top; y < bottom; y += 2) {
        if (count == 2)
            for (; next <= minimum(y + 1 + radius, last); next += 2) {
                for (int n = 0, v = next - radius; n < 2 * radius + 2; n++, v++)
                    first.rows[n] = v < 0 || v > last ? steps[0].nothing : image_row(in, v);
                for (int n = 0; n < 2; n++) {
                    first.ahead[n] = image_row(in, minimum(next + radius + AHEAD + n, last));
                    first.to[n] = first.after[n] = ring + (size_t)((next + n) % slots) * (size_t)element->end;
                }
                work(element, &first, false, steps[0].erode);
            }
        for (int n = 0, v = y - radius; n < 2 * radius + 2; n++, v++)
            second.rows[n] = v < 0 || v > last ? steps[count - 1].nothing
                             : count == 2      ? ring + (size_t)(v % slots) * (size_t)element->end
                                               : image_row(in, v);
        for (int n = 0; n < 2; n++) {
            second.ahead[n] = count == 2 ? second.rows[n] : image_row(in, minimum(y + radius + AHEAD + n, last));
            second.to[n] = y + n < bottom ? image_row(out, y + n) : NULL;
            second.after[n] = image_row(out, minimum(y + AHEAD + n, bottom - 1));
        }
        work(element, &second, stream, steps[count - 1].erode);
    }
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    const int threads = omp_get_max_threads();
    const bool stream = (size_t)in->width * (size_t)in->height >= STREAMED && (uintptr_t)out->data % SIMD_BYTES == 0 &&
                        out->stride % SIMD_BYTES == 0;
    struct element element;
    struct step steps[2];
    bool erodes[2];
    uint8_t *memory;

    make_element(params, in->width, &element);
    const int count = morphology_steps(params, erodes), pairs = (in->height + 1) / 2;
    const int bands = minimum(count == 1 ? BANDS * threads : threads, pairs);
    const size_t row = (size_t)element.end, inside = row + 2 * HALO * SIMD_BYTES;
    const size_t ring = count == 2 ? (size_t)(params->ksize + 2) * row : 0;

    memory = aligned_alloc(64, (inside + 2 * row + (size_t)threads * ring + 63) / 64 * 64);
    if (!memory)
        return status_set(STATUS_NO_MEMORY, "no memory for rows of %d pixels", in->width);
    element.inside = memory + (size_t)threads * ring;
    memset(element.inside, 0, inside);
    memset(element.inside + SIMD_BYTES, 255, (size_t)in->width);
    for (int n = 0; n < count; n++) {
        steps[n] = (struct step){erodes[n], element.inside + inside + (size_t)n * row};
        memset(steps[n].nothing, erodes[n] ? 255 : 0, row);
    }
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int band = 0; band < bands; band++)
            morphology_band(in, out, &element, steps, count, memory + (size_t)omp_get_thread_num() * ring,
                            (int)((int64_t)pairs * band / bands) * 2,
                            minimum((int)((int64_t)pairs * (band + 1) / bands) * 2, in->height), stream);
        if (stream)
            simd_stream_end();
    }
    free(memory);
    return STATUS_OK;
}

static const char *unavailable(void)
{
    return NULL;
}
#else
static const char *unavailable(void)
{
    return "built without AVX-512 VBMI, which ARCH=native has on Intel Ice Lake, AMD Zen 4 and later";
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_UNSUPPORTED, "%s", unavailable());
}
#endif

RUNGS_CPU_VERSION(morphology, .instruction_set = "AVX-512 VBMI", .unavailable = unavailable)
