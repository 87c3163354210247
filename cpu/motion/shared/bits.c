#include "cpu/motion/shared/bits.h"

#include <stdlib.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "common/algo/morphology.h"

/* The longest row of an image, with a word on both sides. */
enum { MOST_WORDS = IMAGE_MAX_SIDE / BITS_WORD + 3 };

enum status motion_bits_create(struct motion_bits *bits, int width, int rows)
{
    *bits = (struct motion_bits){.width = width, .rows = rows, .words = (width + BITS_WORD - 1) / BITS_WORD};
    bits->data = calloc((size_t)(bits->words + 2) * (size_t)rows, sizeof *bits->data);
    return bits->data ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for a mask of %dx%d", width, rows);
}

void motion_bits_free(struct motion_bits *bits)
{
    free(bits->data);
    *bits = (struct motion_bits){0};
}

/* Bit i: |a[i] - b[i]| > value. Reads 64 of each, which the rows of an image have (image.h). */
static uint64_t differing(const uint8_t *a, const uint8_t *b, int value)
{
    uint64_t bits = 0;
#if defined(__AVX512BW__)
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const __m512i difference = _mm512_or_si512(_mm512_subs_epu8(x, y), _mm512_subs_epu8(y, x));
    bits = _mm512_cmpgt_epu8_mask(difference, _mm512_set1_epi8((char)value));
#else
    uint8_t over[BITS_WORD];
    for (int i = 0; i < BITS_WORD; i++)
        over[i] = (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) > value;
    for (int i = 0; i < BITS_WORD; i += 8) { /* the product's top byte gathers the lowest bits of eight bytes */
        uint64_t eight;
        memcpy(&eight, over + i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << i;
    }
#endif
    return bits;
}

/* The bits of word `word` that are pixels. */
static uint64_t inside(const struct motion_bits *bits, int word)
{
    const int left = bits->width - word * BITS_WORD;

    return left < BITS_WORD ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0);
}

/* A row of what a row of the element finds is wider by `by` places on both sides. */
static void widen(const uint64_t *restrict from, uint64_t *restrict to, int words, int by)
{
    for (int w = 0; w < words; w++)
        to[w] =
            from[w] | from[w] << by | from[w - 1] >> (BITS_WORD - by) | from[w] >> by | from[w + 1] << (BITS_WORD - by);
}

/*
 * Row y of a dilation. Rows y - j and y + j of the element have the same width, and widths only get smaller with j: so
 * unite rows from the centre outwards, and after each pair widen the union by as much as this pair is wider than the
 * next.
 *
 *      . . # . .     j = 2: width 1, widen by 0
 *      # # # # #     j = 1: width 5, widen by 2
 *      # # # # #     j = 0: width 5, widen by 0
 *
 * Steps 1, 2, 4 ... leave no gap, although bits that leave the row are lost. With `negative` the complement is written.
 */
static void dilate_row(const struct motion_bits *in, struct motion_bits *out, int y, const struct motion_params *params,
                       bool negative)
{
    const int radius = params->disk / 2, words = in->words;
    uint64_t memory[2][MOST_WORDS], *line = memory[0] + 1, *wider = memory[1] + 1;
    int reach = morphology_reach(params->shape, radius, 0);

    memset(memory[0], 0, (size_t)(words + 2) * sizeof *line);
    wider[-1] = wider[words] = 0;
    for (int j = 0; j <= radius; j++) {
        for (int side = 0; side < 2; side++) {
            const int v = side ? y + j : y - j;
            const uint64_t *row = motion_bits_row(in, v);
            for (int w = 0; v >= 0 && v < in->rows && w < words; w++)
                line[w] |= row[w];
        }
        const int next = j < radius ? morphology_reach(params->shape, radius, j + 1) : 0;
        for (int done = 0, step; done < reach - next; done += step) {
            step = done + 1 < reach - next - done ? done + 1 : reach - next - done;
            widen(line, wider, words, step);
            uint64_t *swap = line;
            line = wider;
            wider = swap;
        }
        reach = next;
    }
    for (int w = 0; w < words; w++)
        motion_bits_row(out, y)[w] = (negative ? ~line[w] : line[w]) & inside(in, w);
}

void motion_bits_find(const struct image *a, const struct image *b, int value, const struct motion_params *params,
                      struct motion_bits *mask, struct motion_bits *between)
{
    const int passes = motion_has_opening(params) ? 4 : 2;

#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < mask->rows; y++)
            for (int w = 0; w < mask->words; w++)
                motion_bits_row(mask, y)[w] = differing((const uint8_t *)image_row(a, y) + w * BITS_WORD,
                                                        (const uint8_t *)image_row(b, y) + w * BITS_WORD, value) &
                                              inside(mask, w);
#pragma omp master
        step_begin("morphology", NULL);
        /* An erosion is a dilation of the complement. Between close and open two complements cancel. */
        for (int pass = 0; pass < passes; pass++)
#pragma omp for schedule(static)
            for (int y = 0; y < mask->rows; y++)
                dilate_row(pass % 2 ? between : mask, pass % 2 ? mask : between, y, params,
                           pass % 2 == 0 || passes == 2);
    }
}
