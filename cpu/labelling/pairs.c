/*
 * Idea:     which runs touch is read off the bits. Let a run cover its pixels and, for connectivity 8, the one behind
 *           them. Two runs of neighbouring rows touch where both cover a pixel, and the first such pixel begins one of
 *           them: (starts of either row) & (cover of one) & (cover of the other) has exactly one bit for each pair. Its
 *           rank among a row's starts, a population count, is the number of the run.
 * Changed:  no edges and no two pointers: one loop over a word's pairs, without a branch that depends on how runs lie.
 *           Two steps to the root are taken always, for nearly all paths are that short. Statistics come from runs, not
 *           pixels: a run adds its length and the sum of its columns.
 * Expect:   photographs as in simd, where painting dominates. In noise 1.5 to 2 times faster: simd mispredicts one or
 *           two branches a run, this one about two a word of 64 pixels.
 * From:     cpu/simd
 */
/* Try: make bench-labelling VERSIONS=cpu/simd,cpu/pairs,peer/opencv */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/labelling.h"
#include "common/simd/simd.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI2__) && defined(__AVX512VPOPCNTDQ__)
#define COMPRESS 1
#endif

/* What lies beside the image: a row's words of bits, and the tree of each run. Runs are numbered in raster order, with
 * gaps before bands only: what is touched is as small as the runs are few. */
struct scratch {
    int words, runs; /* of a row: 64-bit words and most runs */
    uint64_t *bits;
    int32_t *parent, *label; /* of each run; label: of its first pixel */
    int32_t *number;         /* of each root, from 1: with statistics only */
    int32_t *first, *count;  /* of each row: run, and how many */
};

enum { SLACK = 64 };

/* Bit i: byte i is not 0. */
SIMD_INLINE uint64_t nonzero(const uint8_t *from)
{
    uint64_t bits = 0;
#if defined(__AVX512BW__)
    const __m512i bytes = _mm512_loadu_si512(from);
    bits = _mm512_test_epi8_mask(bytes, bytes);
#elif defined(__SSSE3__)
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)from + i);
        bits |= (uint64_t)(~_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) & 0xffff) << (16 * i);
    }
#else
    for (int i = 0; i < 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, from + 8 * i, 8);
        bytes = ((bytes & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | bytes; /* bit 7 of each byte that is not 0 */
        bits |= ((bytes >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) << (8 * i);
    }
#endif
    return bits;
}

/* Writes the positions of the word's bits plus `base`, at most 32, and returns how many. Overwrites 32 of `to`. */
SIMD_INLINE int positions(uint64_t word, int32_t base, int32_t *to)
{
#if defined(COMPRESS)
    static const uint8_t numbers[64] __attribute__((aligned(64))) = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i packed = _mm512_maskz_compress_epi8(word, _mm512_load_si512(numbers)),
                  offset = _mm512_set1_epi32(base);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed)), offset));
    _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 1)), offset));
    return __builtin_popcountll(word);
#else
    int count = 0;
    for (; word; word &= word - 1)
        to[count++] = base + __builtin_ctzll(word);
    return count;
#endif
}

/* The bits of row y, and a tree for each of its runs, the first of which is number `next`. Returns how many. */
static int find_runs(const struct image *in, struct scratch *scratch, int y, int32_t next)
{
    const uint8_t *row = image_row(in, y);
    uint64_t *bits = scratch->bits + (size_t)y * scratch->words, carry = 0;
    int count = 0;

    for (int word = 0; word < scratch->words; word++) {
        uint64_t x = nonzero(row + 64 * word);
        if (word == scratch->words - 1 && in->width % 64)
            x &= ((uint64_t)1 << in->width % 64) - 1;
        bits[word] = x;
        count += positions(x & ~(x << 1 | carry), y * in->width + 64 * word + 1, scratch->label + next + count);
        carry = x >> 63;
    }
    for (int32_t i = next; i < next + count; i++)
        scratch->parent[i] = i;
    return count;
}

SIMD_INLINE int32_t find(const int32_t *parent, int32_t i)
{
    int32_t root = parent[parent[i]];

    while (parent[root] != root)
        root = parent[root];
    return root;
}

/* Unites the runs of row y with those they touch in the row above. */
SIMD_INLINE void join_above(struct scratch *scratch, int grow, int y)
{
    const uint64_t *row = scratch->bits + (size_t)y * scratch->words, *up = row - scratch->words;
    int32_t *parent = scratch->parent, own = scratch->first[y] - 1, above = scratch->first[y - 1] - 1;
    uint64_t row_carry = 0, up_carry = 0;

    for (int word = 0; word < scratch->words; word++) {
        const uint64_t row_left = row[word] << 1 | row_carry, up_left = up[word] << 1 | up_carry;
        const uint64_t row_starts = row[word] & ~row_left, up_starts = up[word] & ~up_left;
        uint64_t pairs = (row_starts | up_starts) & row[word] & up[word];
        if (grow)
            pairs = (row_starts | up_starts) & (row[word] | row_left) & (up[word] | up_left);
        for (; pairs; pairs &= pairs - 1) {
            const uint64_t up_to = pairs ^ (pairs - 1);
            const int32_t i = own + __builtin_popcountll(row_starts & up_to);
            const int32_t k = above + __builtin_popcountll(up_starts & up_to);
            const int32_t a = find(parent, i), b = find(parent, k), root = a < b ? a : b;
            parent[a] = parent[b] = parent[i] = parent[k] = root;
        }
        own += __builtin_popcountll(row_starts);
        above += __builtin_popcountll(up_starts);
        row_carry = row[word] >> 63;
        up_carry = up[word] >> 63;
    }
}

/* Trees of the rows from top to bottom, bottom excluded, whose paths end up one step long. */
static void scan(const struct image *in, struct scratch *scratch, int grow, int band, int top, int bottom)
{
    int32_t next = top * scratch->runs + band * SLACK;

    for (int y = top; y < bottom; y++) {
        scratch->first[y] = next;
        scratch->count[y] = find_runs(in, scratch, y, next);
        next += scratch->count[y];
        if (y > top)
            join_above(scratch, grow, y);
    }
    for (int32_t i = scratch->first[top]; i < next; i++)
        scratch->parent[i] = scratch->parent[scratch->parent[i]];
}

/* Writes row y. `labels` has room for a row's runs with 16 to spare behind and 1 before. */
static void paint(const struct scratch *scratch, struct image *out, int32_t *labels, int y)
{
    const uint64_t *bits = scratch->bits + (size_t)y * scratch->words;
    int32_t *row = image_row(out, y);
    uint64_t carry = 0;

    for (int i = 0; i < scratch->count[y]; i++)
        labels[i] = scratch->label[find(scratch->parent, scratch->first[y] + i)];
    labels--; /* the run that the previous pixels ended in */
    for (int word = 0; word < scratch->words; word++) {
        const uint64_t starts = bits[word] & ~(bits[word] << 1 | carry);
        carry = bits[word] >> 63;
#if defined(COMPRESS)
        const __m512i up_to_lane = _mm512_setr_epi32(0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff,
                                                     0xfff, 0x1fff, 0x3fff, 0x7fff, 0xffff);
        for (int i = 0; i < 4; i++) {
            const int x = 64 * word + 16 * i;
            const uint32_t begin = starts >> 16 * i & 0xffff;
            const __mmask16 inside = x + 16 <= out->width ? 0xffff : x < out->width ? (1 << (out->width - x)) - 1 : 0;
            const __m512i before = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32((int)begin), up_to_lane));
            _mm512_mask_storeu_epi32(
                row + x, inside,
                _mm512_maskz_permutexvar_epi32((__mmask16)(bits[word] >> 16 * i), before, _mm512_loadu_si512(labels)));
            labels += __builtin_popcount(begin);
        }
#else
        for (int i = 0; i < 64 && 64 * word + i < out->width; i++) {
            labels += starts >> i & 1;
            row[64 * word + i] = bits[word] >> i & 1 ? *labels : 0;
        }
#endif
    }
}

/* `count` elements of `size` bytes out of the block that `at` counts the bytes of; NULL while there is no block. */
static void *part(uint8_t *block, size_t *at, size_t count, size_t size)
{
    void *here = block ? block + *at : NULL;

    *at += (count * size + 63) / 64 * 64;
    return here;
}

static size_t lay_out(struct scratch *scratch, uint8_t *block, size_t rows, size_t bands, bool statistics)
{
    const size_t runs = rows * (size_t)scratch->runs + bands * SLACK;
    size_t at = 0;

    scratch->bits = part(block, &at, rows * (size_t)scratch->words, sizeof *scratch->bits);
    scratch->count = part(block, &at, rows, sizeof *scratch->count);
    scratch->first = part(block, &at, rows, sizeof *scratch->first);
    scratch->parent = part(block, &at, runs, sizeof *scratch->parent);
    scratch->label = part(block, &at, runs, sizeof *scratch->label);
    scratch->number = part(block, &at, statistics ? runs : 0, sizeof *scratch->number);
    return at;
}

/* Numbers the components by their first runs, for labels, the table or both. Returns how many there are. */
static int32_t number_components(struct scratch *scratch, struct image out[], const struct labelling_params *params)
{
    int32_t count = 0;

    for (int y = 0; y < out->height; y++)
        for (int32_t i = scratch->first[y]; i < scratch->first[y] + scratch->count[y]; i++) {
            if (scratch->parent[i] != i)
                continue;
            count++;
            if (params->consecutive)
                scratch->label[i] = count;
            if (params->statistics)
                scratch->number[i] = count;
            if (params->statistics && count <= params->max_components)
                *(int32_t *)image_row(&out[1], count) = scratch->label[i];
        }
    return count;
}

/* Adds the runs of row y to the components that the table has a row for. */
static void add_runs(const struct scratch *scratch, struct boxes_sums *sums, int rows, int y)
{
    const uint64_t *bits = scratch->bits + (size_t)y * scratch->words;
    uint64_t carry = 0;
    int32_t i = scratch->first[y];
    int start = -1;

    for (int word = 0; word <= scratch->words; word++) { /* the last run may end behind the last word */
        const uint64_t x = word < scratch->words ? bits[word] : 0;
        for (uint64_t edges = x ^ (x << 1 | carry); edges; edges &= edges - 1) {
            const int at = 64 * word + __builtin_ctzll(edges);
            if (start < 0) {
                start = at;
                continue;
            }
            const int32_t number = scratch->number[find(scratch->parent, i++)];
            if (number <= rows)
                boxes_add_run(&sums[number - 1], start, at, y);
            start = -1;
        }
        carry = x >> 63;
    }
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    const int threads = omp_get_max_threads(), bands = 4 * threads < in->height ? 4 * threads : in->height;
    const int grow = params->connectivity == 8, rows = params->statistics ? params->max_components : 0;
    struct scratch scratch = {.words = (in->width + 63) / 64, .runs = (in->width + 1) / 2};
    struct boxes_sums *sums = rows ? calloc((size_t)threads * rows, sizeof *sums) : NULL;
    uint8_t *block;
    int32_t count = 0;

    /* One block: glibc learns to keep one of up to 32 MB from call to call, while several add up to what it gives back
     * to the system each time, and the system's clearing of new pages takes longer than everything below. */
    block = malloc(lay_out(&scratch, NULL, (size_t)in->height, (size_t)bands, rows));
    if (!block || (rows && !sums)) {
        free(block);
        free(sums);
        return status_set(STATUS_NO_MEMORY, "no memory for the runs of %dx%d pixels", in->width, in->height);
    }
    lay_out(&scratch, block, (size_t)in->height, (size_t)bands, rows);
    if (rows)
        image_fill(&out[1], 0);
#pragma omp parallel
    {
        struct boxes_sums *own = rows ? sums + (size_t)omp_get_thread_num() * rows : NULL;
        int32_t labels[1 + 32768 + 16];
        labels[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            scan(in, &scratch, grow, b, (int)((int64_t)in->height * b / bands),
                 (int)((int64_t)in->height * (b + 1) / bands));
#pragma omp single
        {
            for (int b = 1; b < bands; b++)
                join_above(&scratch, grow, (int)((int64_t)in->height * b / bands));
            if (params->consecutive || rows)
                count = number_components(&scratch, out, params);
        }
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < in->height; y++) {
            paint(&scratch, out, labels + 1, y);
            if (rows)
                add_runs(&scratch, own, rows, y);
        }
    }
    for (int i = 0; i < rows && i < count; i++) {
        for (int t = 1; t < threads; t++)
            boxes_add_sums(&sums[i], &sums[(size_t)t * rows + i]);
        boxes_write_row(&sums[i], *(int32_t *)image_row(&out[1], 1 + i), image_row(&out[1], 1 + i));
    }
    if (rows)
        *(int32_t *)out[1].data = count;
    free(block);
    free(sums);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .instruction_set = SIMD_NAME)
