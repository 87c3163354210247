/*
 * Idea:     the element by its columns: out(x) is the largest of V[i](x+i), V[i] the maximum over the rows that column i
 *           of the element reaches. Rows lie aligned in memory, so these are cheap, and taller columns come out of lower
 *           ones: two output rows at once start from the rows between them and grow, a row up and a row down a step;
 *           each height that occurs is stored as a line on the way. Only then come the unaligned reads along the lines.
 * Changed:  another algorithm and data flow than omp, the same comparisons. Columns of the same height beside each other
 *           (all of a square's) are first taken 3 or 9 at once. Open and close keep between their steps only a ring of
 *           rows that stays in the cache, and each band of rows finds the few beyond its ends itself.
 * Expect:   disk of 15: 12 maxima up and down, 11 along, for 64 pixels; OpenCV takes 169. Loads set the pace: 11 aligned
 *           and 10 that straddle two cache lines, 31 line accesses for 64 pixels. That is 16 cycles where a core makes
 *           two a cycle, 31 where it makes one: 15 to 20 times faster than OpenCV on two cores, where OpenCV gains
 *           nothing.
 * Result:   missed: 7.7 times (results/cpu2/morphology/morphology_1920x1080.json). The count leaves out that the lines
 *           are stored as well.
 */
/* Try: make bench-morphology VERSIONS=cpu/serial,cpu/omp,cpu/simd,cpu/registers,peer/opencv */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/morphology.h"
#include "common/simd/simd.h"

enum {
    GROUP = 4,                         /* vectors at once, so that a row or a tap is looked up once for all of them */
    MARGIN = 128,                      /* bytes on both sides of a line that hold what never wins */
    WINDOW = MORPHOLOGY_MAX_KSIZE + 3, /* rows that two output rows see, and the two that the next pair adds */
    HEIGHTS = MORPHOLOGY_MAX_RADIUS + 1,
    WIDENED = 2,        /* lines at most that hold 3 and 9 columns of one height */
    BANDS = 4,          /* for each thread, so that a thread that ends early takes another */
    STREAMED = 32 << 20 /* bytes of a result that no cache is likely to keep until it is read */
};

/* A thread's lines and rows are `pitch` bytes each; a line's first pixel is MARGIN behind its start. */
struct element {
    int radius, width, end; /* the image's width, and that in whole vectors */
    int heights, widened, taps;
    size_t pitch;
    bool occurs[HEIGHTS];       /* [h]: columns of 2h + 1 rows; line 0 is of the lowest of these, and so on */
    int wide_line;              /* whose pixels are taken 3 at once, in line `heights`, and those again in the next */
    ptrdiff_t tap[2 * HEIGHTS]; /* out(x) is the best of lines[x + tap[n]] */
};

/* One thread's, for one of the steps. */
struct step {
    bool erode;
    uint8_t *nothing; /* a row outside the image */
    uint8_t *lines;   /* of the upper output row, then of the lower one */
};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static int maximum(int a, int b)
{
    return a > b ? a : b;
}

static int lines_of(const struct element *element)
{
    return element->heights + element->widened;
}

static void make_element(const struct morphology_params *params, int width, struct element *element)
{
    const int radius = params->ksize / 2;
    int reach[HEIGHTS + 1];

    memset(element, 0, sizeof *element);
    element->radius = radius;
    element->width = width;
    element->end = (width + SIMD_BYTES - 1) / SIMD_BYTES * SIMD_BYTES;
    /* An odd number of cache lines: else the lines' same columns share few places in the cache. */
    element->pitch = (size_t)((element->end + 2 * MARGIN + 63) / 64 | 1) * 64;
    reach[radius + 1] = -1;
    for (int h = 0; h <= radius; h++)
        reach[h] = morphology_reach(params->shape, radius, h);
    for (int h = 0; h <= radius; h++) {
        element->occurs[h] = reach[h + 1] < reach[h];
        element->heights += element->occurs[h];
    }
    for (int h = 0, line = 0; h <= radius; h++) { /* columns of this height are reach[h + 1] < |i| <= reach[h] */
        int at = line, columns = 1;
        if (!element->occurs[h])
            continue;
        for (; reach[h + 1] <= 0 && 2 * reach[h] + 1 > 5 * columns; columns *= 3) {
            element->wide_line = line;
            at = element->heights + element->widened++;
        }
        for (int shift = reach[h] - columns / 2;; shift -= columns) { /* may take in taller columns: they win anyway */
            shift = maximum(shift, 0);
            element->tap[element->taps++] = at * (ptrdiff_t)element->pitch + shift;
            if (shift > 0)
                element->tap[element->taps++] = at * (ptrdiff_t)element->pitch - shift;
            if (shift - columns / 2 <= maximum(reach[h + 1] + 1, 0))
                break;
        }
        line++;
    }
}

SIMD_INLINE simd_u8 best(simd_u8 a, simd_u8 b, bool erode)
{
    return erode ? simd_min(a, b) : simd_max(a, b);
}

/* Lines of all heights for two output rows, from pixel x on. */
SIMD_INLINE void up_and_down(const struct element *element, const uint8_t *const rows[], uint8_t *lines, int x,
                             int vectors, bool erode)
{
    const uint8_t *const *above = rows + element->radius, *const *below = above + 1;
    const uint8_t *const *next = below + element->radius + 1;
    uint8_t *upper = lines + x, *lower = upper + (size_t)lines_of(element) * element->pitch;
    simd_u8 both[GROUP]; /* over the rows that both columns reach */

    for (int i = 0; i < vectors * SIMD_BYTES; i += 64) { /* rows of 4 KB are too short for the hardware to foresee */
        __builtin_prefetch(next[0] + x + i);
        __builtin_prefetch(next[1] + x + i);
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

/* Two output rows; of these, to[] may be NULL. */
SIMD_INLINE void row_pair(const struct element *element, const struct step *step, const uint8_t *const rows[],
                          uint8_t *const to[2], bool stream, bool erode)
{
    const int end = element->end, whole = element->width / SIMD_BYTES * SIMD_BYTES, group = GROUP * SIMD_BYTES;
    uint8_t *lines = step->lines + MARGIN;
    int x = 0;

    for (; x + group <= end; x += group)
        up_and_down(element, rows, lines, x, GROUP, erode);
    for (; x < end; x += SIMD_BYTES)
        up_and_down(element, rows, lines, x, 1, erode);
    for (int row = 0; row < 2; row++, lines += (size_t)lines_of(element) * element->pitch) {
        uint8_t *wide = lines + (size_t)element->heights * element->pitch;
        if (!to[row])
            continue;
        if (whole < end)
            for (int n = 0; n < element->heights; n++)
                memset(lines + (size_t)n * element->pitch + element->width, erode ? 255 : 0,
                       (size_t)(end - element->width));
        if (element->widened > 0)
            widen(lines + (size_t)element->wide_line * element->pitch, wide, 1, end, erode);
        if (element->widened > 1)
            widen(wide, wide + element->pitch, 3, end, erode);
        for (x = 0; x + group <= whole; x += group)
            along(element, lines + x, to[row] + x, GROUP, stream, erode);
        for (; x < whole; x += SIMD_BYTES)
            along(element, lines + x, to[row] + x, 1, stream, erode);
        if (x < end) {
            uint8_t rest[SIMD_BYTES];
            along(element, lines + x, rest, 1, false, erode);
            memcpy(to[row] + x, rest, (size_t)(element->width - x));
        }
    }
}

static void work(const struct element *element, const struct step *step, const uint8_t *const rows[],
                 uint8_t *const to[2], bool stream)
{
    if (step->erode)
        row_pair(element, step, rows, to, stream, true);
    else
        row_pair(element, step, rows, to, stream, false);
}

/* Output rows from top to bottom, bottom excluded. Between two steps, row y waits in slot y % slots of the ring. */
static void morphology_band(const struct image *in, struct image *out, const struct element *element,
                            const struct step steps[], int count, uint8_t *ring, int top, int bottom, bool stream)
{
    const int radius = element->radius, slots = 2 * radius + 3, last = in->height - 1;
    const uint8_t *rows[WINDOW];
    int next = maximum(top - radius, 0); /* the row that the first of two steps is at */

    for (int y = top; y < bottom; y += 2) {
        if (count == 2)
            for (; next <= minimum(y + 1 + radius, last); next += 2) {
                uint8_t *const to[2] = {ring + (size_t)(next % slots) * element->pitch,
                                        next < last ? ring + (size_t)((next + 1) % slots) * element->pitch : NULL};
                for (int n = 0, v = next - radius; n < 2 * radius + 4; n++, v++)
                    rows[n] = v < 0 || v > last ? steps[0].nothing : image_row(in, v);
                work(element, &steps[0], rows, to, false);
            }
        for (int n = 0, v = y - radius; n < 2 * radius + 4; n++, v++)
            rows[n] = v < 0 || v > last ? steps[count - 1].nothing
                      : count == 2      ? ring + (size_t)(v % slots) * element->pitch
                                        : image_row(in, v);
        uint8_t *const to[2] = {image_row(out, y), y + 1 < bottom ? image_row(out, y + 1) : NULL};
        work(element, &steps[count - 1], rows, to, stream);
    }
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    const int threads = omp_get_max_threads();
    const bool stream = (size_t)in->width * (size_t)in->height >= STREAMED && (uintptr_t)out->data % SIMD_BYTES == 0 &&
                        out->stride % SIMD_BYTES == 0;
    struct element element;
    bool erodes[2];
    uint8_t *memory;

    make_element(params, in->width, &element);
    const int count = morphology_steps(params, erodes), pairs = (in->height + 1) / 2;
    const int bands = minimum(count == 1 ? BANDS * threads : threads, pairs);
    const size_t one_step = (size_t)(1 + 2 * lines_of(&element)) * element.pitch;
    const size_t one_thread = (size_t)count * one_step + (size_t)(count == 2 ? params->ksize + 2 : 0) * element.pitch;

    memory = aligned_alloc(64, (size_t)threads * one_thread);
    if (!memory)
        return status_set(STATUS_NO_MEMORY, "no memory for the lines of %d pixels", in->width);
#pragma omp parallel
    {
        uint8_t *mine = memory + (size_t)omp_get_thread_num() * one_thread;
        struct step steps[2];
        for (int n = 0; n < count; n++, mine += one_step) {
            steps[n] = (struct step){erodes[n], mine, mine + element.pitch};
            memset(mine, erodes[n] ? 255 : 0, one_step);
        }
#pragma omp for schedule(dynamic)
        for (int band = 0; band < bands; band++)
            morphology_band(in, out, &element, steps, count, mine, (int)((int64_t)pairs * band / bands) * 2,
                            minimum((int)((int64_t)pairs * (band + 1) / bands) * 2, in->height), stream);
        if (stream)
            simd_stream_end();
    }
    free(memory);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
