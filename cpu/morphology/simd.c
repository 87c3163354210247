/*
 * Idea:     the rows of the element are chords, and few of them differ. A row's maxima over 2, 4, 8 pixels come from
 *           each other, one instruction each for a vector of pixels; two overlapping ones of them make each chord. The
 *           chords of the last ksize rows wait in a ring, for a strip of the image so narrow that the ring stays near,
 *           and two output rows at once collect what they need from it: what both need, they collect once.
 * Changed:  another algorithm and data flow than omp, the same comparisons. Erosion is dilation of the negative, whose
 *           outside is 0 as well. A square's ring holds its one chord over 1, 2, 4, 8 rows.
 * Expect:   disk of 15: 7 maxima for a row's chords and 11.5 to collect them, of 64 pixels each, where OpenCV takes 169:
 *           9 times fewer. Loads that straddle cache lines and 11 stores for each 64 pixels weigh as much as the maxima,
 *           so 6 times faster than OpenCV on one core, and nearly twice that on two, where OpenCV gains nothing.
 */
/* Try: make bench-morphology VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv */
#include <omp.h>

#include "common/algo/morphology.h"
#include "common/simd.h"

enum {
    STRIP = 512,    /* pixels of a row that go from the top of a band to its bottom */
    AHEAD = 4,      /* rows to prefetch; runs of 512 bytes are too short for the hardware to see them coming */
    MIN_BAND = 32,  /* rows that make a thread worth its start: each band finds the chords of ksize - 1 rows again */
    MAX_BAND = 256, /* rows whose pages the TLB still knows when the next strip comes by */
    GROUP = 4,      /* vectors that are collected at once, so that a place is looked up once for all of them */
    LINE = STRIP + 2 * MORPHOLOGY_MAX_RADIUS + 2 * SIMD_BYTES,
    TURN = 4, /* rows that come in at once: a line is read on long after it was written, see larger() */
    RING = MORPHOLOGY_MAX_KSIZE - 1 + TURN,
    KINDS = MORPHOLOGY_MAX_RADIUS + 1
};

/* What the ring keeps of a row (kinds): a disk's chords, or a square's chord over the last 1, 2, 4 ... rows. */
struct element {
    int radius, rows, kinds, lengths[KINDS];
    bool square;
    int counts[3]; /* of places that two output rows both need, only the upper one, only the lower one */
    int places[RING][3][MORPHOLOGY_MAX_KSIZE + 1]; /* [slot of the first row they see]: places in the ring */
};

struct scratch {
    uint8_t lines[TURN][LINE]
        __attribute__((aligned(64))); /* [i]: maximum over 2^level pixels from start - radius + i */
    uint8_t ring[RING * KINDS * STRIP] __attribute__((aligned(64))); /* [slot of a row][kind][pixel], without gaps */
    uint8_t result[2][STRIP] __attribute__((aligned(64)));
};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static int level_of(int length)
{
    return 31 - __builtin_clz((unsigned)length);
}

/* Row and kind are needed by list 0 (both), 1 (upper) or 2 (lower). */
static void add_place(struct element *element, int list, int row, int kind)
{
    for (int slot = 0; slot < element->rows; slot++)
        element->places[slot][list][element->counts[list]] =
            ((slot + row) % element->rows * element->kinds + kind) * STRIP;
    element->counts[list]++;
}

static void make_element(const struct morphology_params *params, struct element *element)
{
    const int ksize = params->ksize, radius = ksize / 2;
    int kinds[MORPHOLOGY_MAX_KSIZE];

    memset(element, 0, sizeof *element);
    element->radius = radius;
    element->rows = ksize - 1 + TURN;
    element->square = params->shape == MORPHOLOGY_SQUARE;
    for (int j = 0; j <= radius; j++) { /* from the longest chord, in the middle, outwards */
        const int length = 2 * morphology_reach(params->shape, radius, j) + 1;
        if (j == 0 || length != element->lengths[element->kinds - 1])
            element->lengths[element->kinds++] = length;
        kinds[radius + j] = kinds[radius - j] = element->kinds - 1;
    }
    if (element->square) {
        const int most = level_of(ksize);
        element->kinds = most + 1;
        for (int lower = 0; lower < 2; lower++) { /* the ksize rows as two overlapping runs of 2^most, by their ends */
            add_place(element, 1 + lower, lower + (1 << most) - 1, most);
            add_place(element, 1 + lower, lower + ksize - 1, most);
        }
        return;
    }
    for (int row = 0; row <= ksize; row++) {
        const int upper = row < ksize ? kinds[row] : -1, lower = row > 0 ? kinds[row - 1] : -1;
        if (upper == lower)
            add_place(element, 0, row, upper);
        if (upper != lower && upper >= 0)
            add_place(element, 1, row, upper);
        if (upper != lower && lower >= 0)
            add_place(element, 2, row, lower);
    }
}

/* to[i] = the larger of a[i] and b[i], for `count` pixels rounded up to whole vectors; `to` may be a. Reads that straddle
 * two vectors just written would wait until these have reached the cache, some 30 cycles; hence TURN. */
SIMD_INLINE void larger(const uint8_t *a, const uint8_t *b, uint8_t *to, int count)
{
    for (int i = 0; i < count; i += SIMD_BYTES)
        simd_store(to + i, simd_max(simd_load(a + i), simd_load(b + i)));
}

/* The strip of row y from column `start` on, and `radius` pixels on both sides, into a line; 0 outside the image. */
SIMD_INLINE void fetch(const struct image *in, int y, int start, int radius, uint8_t flip, uint8_t *line)
{
    const uint8_t *row = image_row(in, y), *ahead = image_row(in, minimum(y + AHEAD, in->height - 1));
    const int readable = (in->width + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
    const int first = start ? 0 : radius, end = minimum(STRIP + 2 * radius, in->width - start + radius);

    for (int i = first; i < end; i += SIMD_BYTES) {
        const int at = start - radius + i, past = at + SIMD_BYTES - readable;
        __builtin_prefetch(ahead + at);
        if (past > 0) /* the last readable vector, as far to the left as it must be */
            simd_store(line + i - past, simd_load(row + at - past) ^ flip);
        else
            simd_store(line + i, simd_load(row + at) ^ flip);
    }
    if (first > 0)
        memset(line, 0, (size_t)first);
    if (end < STRIP + 2 * radius)
        memset(line + end, 0, (size_t)(LINE - end));
}

/* Rows y to y + TURN - 1 into the ring, from `slot` on; a row outside the image is 0. */
SIMD_INLINE void fill(const struct image *in, const struct element *element, int y, int start, int slot, int count,
                      uint8_t flip, struct scratch *scratch)
{
    const int radius = element->radius, rows = element->rows, row_size = element->kinds * STRIP;
    const int chords = element->square ? 1 : element->kinds;

    for (int n = 0; n < TURN; n++)
        if (y + n < 0 || y + n >= in->height)
            memset(scratch->lines[n], 0, LINE);
        else
            fetch(in, y + n, start, radius, flip, scratch->lines[n]);
    for (int level = 0; 1 << level <= element->lengths[0]; level++) {
        for (int n = 0; n < TURN && level > 0; n++)
            larger(scratch->lines[n], scratch->lines[n] + (1 << (level - 1)), scratch->lines[n], count + 2 * radius);
        for (int k = 0; k < chords; k++)
            for (int n = 0; n < TURN && level_of(element->lengths[k]) == level; n++) {
                const uint8_t *from = scratch->lines[n] + radius - element->lengths[k] / 2;
                larger(from, from + element->lengths[k] - (1 << level),
                       scratch->ring + (slot + n) % rows * row_size + k * STRIP, count);
            }
    }
    for (int k = 1; element->square && k < element->kinds; k++)
        for (int n = 0; n < TURN; n++) { /* a band's first rows read what is never used */
            uint8_t *row = scratch->ring + (slot + n) % rows * row_size + k * STRIP;
            const int above = (slot + n + rows - (1 << (k - 1))) % rows;
            larger(row - STRIP, scratch->ring + above * row_size + (k - 1) * STRIP, row, count);
        }
}

SIMD_INLINE void collect_list(const uint8_t *ring, const int *places, int count, simd_u8 best[GROUP])
{
    for (int n = 0; n < count; n++)
#pragma GCC unroll 4
        for (int k = 0; k < GROUP; k++)
            best[k] = simd_max(best[k], simd_load(ring + places[n] + k * SIMD_BYTES));
}

/* Two output rows; the first of the rows that they see is in `slot`. */
SIMD_INLINE void collect(const struct element *element, int slot, int count, uint8_t flip, struct scratch *scratch)
{
    const int *counts = element->counts;

    for (int i = 0; i < count; i += GROUP * SIMD_BYTES) {
        simd_u8 upper[GROUP] = {0}, lower[GROUP];
        collect_list(scratch->ring + i, element->places[slot][0], counts[0], upper);
        memcpy(lower, upper, sizeof lower);
        collect_list(scratch->ring + i, element->places[slot][1], counts[1], upper);
        collect_list(scratch->ring + i, element->places[slot][2], counts[2], lower);
#pragma GCC unroll 4
        for (int k = 0; k < GROUP; k++) {
            simd_store(scratch->result[0] + i + k * SIMD_BYTES, upper[k] ^ flip);
            simd_store(scratch->result[1] + i + k * SIMD_BYTES, lower[k] ^ flip);
        }
    }
}

SIMD_INLINE void put(const uint8_t *result, uint8_t *to, int count)
{
    int i = 0;

    for (; i + SIMD_BYTES <= count; i += SIMD_BYTES)
        simd_store(to + i, simd_load(result + i));
    if (i < count)
        memcpy(to + i, result + i, (size_t)(count - i));
}

static void morphology_strip(const struct image *in, struct image *out, const struct element *element, uint8_t flip,
                             int start, int top, int bottom)
{
    struct scratch scratch;
    const int radius = element->radius, count = minimum(STRIP, in->width - start);
    const int before = (2 * radius + TURN - 1) / TURN * TURN; /* rows to come in before there is a result */

    /* From y = top on, the rows that come in complete the output rows from y on. */
    for (int n = 0, y = top - before; y < bottom; n += TURN, y += TURN) {
        fill(in, element, y + radius, start, n % element->rows, count, flip, &scratch);
        for (int pair = 0; pair < TURN && y >= top && y + pair < bottom; pair += 2) {
            collect(element, (n - 2 * radius + pair) % element->rows, count, flip, &scratch);
            for (int row = 0; row < minimum(2, bottom - y - pair); row++)
                put(scratch.result[row], (uint8_t *)image_row(out, y + pair + row) + start, count);
        }
    }
}

static void morphology_step(const struct image *in, struct image *out, const struct element *element, bool erode)
{
    const int strips = (in->width + STRIP - 1) / STRIP;
    const int most = (in->height + MIN_BAND - 1) / MIN_BAND, least = (in->height + MAX_BAND - 1) / MAX_BAND;
    const int threads = omp_get_max_threads(), bands = threads < least ? least : minimum(threads, most);

#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int band = 0; band < bands; band++)
        for (int strip = 0; strip < strips; strip++)
            morphology_strip(in, out, element, erode ? 255 : 0, strip * STRIP, in->height * band / bands,
                             in->height * (band + 1) / bands);
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    struct element element;
    struct image between = {0};
    bool erodes[2];

    make_element(params, &element);
    if (morphology_steps(params, erodes) == 1) {
        morphology_step(in, out, &element, erodes[0]);
        return STATUS_OK;
    }
    TRY(image_create_like(&between, in));
    morphology_step(in, &between, &element, erodes[0]);
    morphology_step(&between, out, &element, erodes[1]);
out:
    image_free(&between);
    return status;
}

RUNGS_CPU_VERSION(morphology, .instruction_set = SIMD_NAME)
