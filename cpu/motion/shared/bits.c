#include "cpu/motion/shared/bits.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "common/algo/morphology.h"

enum status motion_bits_create(struct motion_bits *bits, int width, int rows)
{
    bits->width = width;
    bits->words = (width + BITS_WORD * BITS_VECTOR - 1) / (BITS_WORD * BITS_VECTOR) * BITS_VECTOR;
    bits->rows = rows;
    const size_t bytes = (size_t)(bits->words + 2 * BITS_VECTOR) * (size_t)rows * sizeof *bits->data;
    bits->data = aligned_alloc(IMAGE_ALIGNMENT, bytes);
    if (!bits->data)
        return status_set(STATUS_NO_MEMORY, "no memory for a mask of %dx%d", width, rows);
    memset(bits->data, 0, bytes);
    return STATUS_OK;
}

void motion_bits_free(struct motion_bits *bits)
{
    free(bits->data);
    *bits = (struct motion_bits){0};
}

/* ------------------------------------------------------------------------------------ difference and threshold */

/* Bit i: |a[i] - b[i]| > value. Reads 64 of each, which the rows of an image have (image.h). */
static uint64_t differing(const uint8_t *a, const uint8_t *b, int value)
{
#if defined(__AVX512BW__)
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const __m512i difference = _mm512_or_si512(_mm512_subs_epu8(x, y), _mm512_subs_epu8(y, x));
    return _mm512_cmpgt_epu8_mask(difference, _mm512_set1_epi8((char)value));
#elif defined(__AVX2__)
    uint64_t bits = 0;
    for (int half = 0; half < 2; half++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)a + half),
                      y = _mm256_loadu_si256((const __m256i *)b + half);
        const __m256i difference = _mm256_or_si256(_mm256_subs_epu8(x, y), _mm256_subs_epu8(y, x));
        const __m256i not_over =
            _mm256_cmpeq_epi8(_mm256_subs_epu8(difference, _mm256_set1_epi8((char)value)), _mm256_setzero_si256());
        bits |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(not_over) << (32 * half);
    }
    return bits;
#else
    uint8_t over[BITS_WORD];
    uint64_t bits = 0;
    for (int i = 0; i < BITS_WORD; i++)
        over[i] = (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) > value;
    for (int i = 0; i < BITS_WORD; i += 8) { /* the product's top byte gathers the lowest bits of eight bytes */
        uint64_t eight;
        memcpy(&eight, over + i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << i;
    }
    return bits;
#endif
}

/* Each thread of a parallel region calls it, and it returns when all are done. */
static void pack(const struct image *a, const struct image *b, int value, struct motion_bits *mask)
{
    const int whole = a->width / BITS_WORD, rest = a->width % BITS_WORD;

#pragma omp for schedule(static)
    for (int y = 0; y < a->height; y++) {
        const uint8_t *left = image_row(a, y), *right = image_row(b, y);
        uint64_t *to = motion_bits_row(mask, y);
        for (int w = 0; w < whole; w++)
            to[w] = differing(left + BITS_WORD * w, right + BITS_WORD * w, value);
        if (rest)
            to[whole] = differing(left + BITS_WORD * whole, right + BITS_WORD * whole, value) &
                        (~UINT64_C(0) >> (BITS_WORD - rest));
    }
}

/* ---------------------------------------------------------------------------------------------- close and open */

/* Bits of `from` have been widened by `reach` to both sides before; `to` widens them by `by` more. by <= reach + 1: what
 * was shifted over the row's end is lost, so each side must be covered by shifts away from it alone. */
static void widen(const uint64_t *restrict from, uint64_t *restrict to, int words, int by)
{
    for (int w = 0; w < words; w++)
        to[w] =
            from[w] | from[w] << by | from[w - 1] >> (BITS_WORD - by) | from[w] >> by | from[w + 1] << (BITS_WORD - by);
}

static void or_into(uint64_t *restrict to, const uint64_t *restrict from, int words)
{
    for (int w = 0; w < words; w++)
        to[w] |= from[w];
}

/* Rows first..last-1 of `to` from rows of `from`, both buffers of the rows from `origin` on; rows outside 0..height-1
 * count for nothing. A row of `from`, widened step by step, is or-ed into the rows above and below that see so much of
 * it: farthest first, for there the element is narrowest. tail: the bits of the last used word that are pixels. */
static void dilate(const struct motion_bits *from, struct motion_bits *to, int origin, int first, int last, int height,
                   int radius, int shape, int last_word, uint64_t tail, uint64_t *scratch)
{
    const int words = from->words;
    const int from_first = first - radius < 0 ? 0 : first - radius;
    const int from_last = last + radius > height ? height : last + radius;

    for (int y = first; y < last; y++)
        memset(motion_bits_row(to, y - origin), 0, (size_t)words * sizeof *to->data);
    for (int y = from_first; y < from_last; y++) {
        uint64_t *row = scratch, *wider = scratch + words + 2 * BITS_VECTOR;
        int reach = 0;

        memcpy(row, motion_bits_row(from, y - origin), (size_t)words * sizeof *row);
        for (int j = radius; j >= 0; j--) {
            const int wanted = morphology_reach(shape, radius, j);
            while (reach < wanted) {
                const int by = wanted - reach < reach + 1 ? wanted - reach : reach + 1;
                widen(row, wider, words, by);
                uint64_t *swap = row;
                row = wider;
                wider = swap;
                reach += by;
            }
            if (y - j >= first && y - j < last)
                or_into(motion_bits_row(to, y - j - origin), row, words);
            if (j > 0 && y + j >= first && y + j < last)
                or_into(motion_bits_row(to, y + j - origin), row, words);
        }
    }
    for (int y = first; y < last; y++) {
        uint64_t *row = motion_bits_row(to, y - origin);
        row[last_word] &= tail;
        memset(row + last_word + 1, 0, (size_t)(words - last_word - 1) * sizeof *row);
    }
}

static void complement(struct motion_bits *bits, int origin, int first, int last, int last_word, uint64_t tail)
{
    for (int y = first; y < last; y++) {
        uint64_t *row = motion_bits_row(bits, y - origin);
        for (int w = 0; w <= last_word; w++)
            row[w] = ~row[w];
        row[last_word] &= tail;
    }
}

static int at_least_0(int y)
{
    return y < 0 ? 0 : y;
}

static int at_most(int y, int height)
{
    return y > height ? height : y;
}

/* This thread's rows of `cleaned`: a band, and around it as many rows as later passes look at, computed again by each thread rather
 * than waited for. */
static enum status clean(const struct motion_params *params, const struct motion_bits *mask,
                         struct motion_bits *cleaned)
{
    const int passes = motion_has_opening(params) ? 4 : 2;
    const int height = mask->rows, radius = params->disk / 2, shape = params->shape;
    const int band = (height + omp_get_num_threads() - 1) / omp_get_num_threads();
    const int first = at_most(omp_get_thread_num() * band, height), last = at_most(first + band, height);
    const int origin = at_least_0(first - passes * radius), end = at_most(last + passes * radius, height);
    const int width = mask->width, last_word = (width - 1) / BITS_WORD;
    const uint64_t tail = ~UINT64_C(0) >> (BITS_WORD - 1 - (width - 1) % BITS_WORD);
    struct motion_bits a = {0}, b = {0}, scratch = {0};
    enum status status = STATUS_OK;

    if (first == last)
        return STATUS_OK;
    TRY(motion_bits_create(&a, width, end - origin));
    TRY(motion_bits_create(&b, width, end - origin));
    TRY(motion_bits_create(&scratch, width, 2));
    for (int y = origin; y < end; y++)
        memcpy(motion_bits_row(&a, y - origin), motion_bits_row(mask, y), (size_t)a.words * sizeof *a.data);
    for (int pass = 0; pass < passes; pass++) {
        const int margin = (passes - 1 - pass) * radius;
        const int from = at_least_0(first - margin), to = at_most(last + margin, height);
        struct motion_bits *in = pass % 2 ? &b : &a, *out = pass % 2 ? &a : &b;

        dilate(in, out, origin, from, to, height, radius, shape, last_word, tail, motion_bits_row(&scratch, 0));
        /* close = dilate, complement, dilate, complement; open = complement, dilate, complement, dilate: between close
         * and open two complements cancel. */
        if (pass % 2 == 0 || passes == 2)
            complement(out, origin, from, to, last_word, tail);
    }
    for (int y = first; y < last; y++)
        memcpy(motion_bits_row(cleaned, y), motion_bits_row(&a, y - origin), (size_t)a.words * sizeof *a.data);
out:
    motion_bits_free(&a);
    motion_bits_free(&b);
    motion_bits_free(&scratch);
    return status;
}

enum status motion_bits_find(const struct image *a, const struct image *b, int value,
                             const struct motion_params *params, struct motion_bits *mask, struct motion_bits *cleaned)
{
    enum status status = STATUS_OK;
    char message[256];

#pragma omp parallel
    {
        pack(a, b, value, mask);
#pragma omp master
        step_begin("morphology", NULL);
        const enum status own = clean(params, mask, cleaned);
        if (own != STATUS_OK) /* its message is this thread's own */
#pragma omp critical
        {
            status = own;
            snprintf(message, sizeof message, "%s", status_message());
        }
    }
    return status == STATUS_OK ? STATUS_OK : status_set(status, "%s", message);
}

/* Bit k of a byte becomes byte k, 255 or 0. */
static uint64_t spread(uint64_t byte)
{
    const uint64_t apart = byte * 0x0101010101010101u & 0x8040201008040201u; /* bit k of byte k, or nothing */

    return ((apart + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u) * 255;
}

void motion_bits_unpack(const struct motion_bits *bits, const struct image *mask)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < mask->height; y++) {
        const uint64_t *row = motion_bits_row(bits, y);
        uint8_t *to = image_row(mask, y);
        for (int x = 0; x < mask->width; x += 8) { /* the last ones may be padding, which a row has (image.h) */
            const uint64_t eight = spread(row[x / BITS_WORD] >> x % BITS_WORD & 255);
            memcpy(to + x, &eight, 8);
        }
    }
}
