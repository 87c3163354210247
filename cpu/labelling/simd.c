/*
 * Idea:     nothing is done pixel by pixel. A row becomes bits, 64 pixels a word; x ^ (x << 1) marks where runs of
 *           foreground begin and end, and one compress instruction writes these positions, however many they are. Trees
 *           are of runs, not pixels: two pointers go through the runs of a row and of the one above. At the end an
 *           expansion of bits to lanes spreads 16 pixels' labels at once: a lane's run is the number of starts before.
 * Changed:  trees of runs, numbered in raster order, in place of trees of pixels; bands are as in omp.
 * Expect:   what is left is to write 4 bytes a pixel: 10 times faster than omp on photographs. In noise each run (2
 *           pixels of 4) still costs a mispredicted branch or two, some 10 ns: 5 times.
 */
/* Try: make bench-labelling VERSIONS=cpu,peer/opencv */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/labelling.h"
#include "common/simd/simd.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI2__) && defined(__AVX512VPOPCNTDQ__)
#define COMPRESS 1
#endif

/* What lies beside the image: a row's words of bits, its runs' [start, end) in pairs with the sentinel behind them, and
 * the tree of each run. Runs are numbered in raster order, and edges follow each other, with gaps before bands only: what
 * is touched is as small as the runs are few. */
struct scratch {
    int words, runs, pitch; /* of a row: 64-bit words, most runs, and most edges with the sentinel */
    uint64_t *bits;
    uint16_t *edges;
    size_t *edge; /* of each row, the first */
    int32_t *parent, *label;
    int32_t *count; /* of each row */
    int32_t *first; /* run of each row */
};

enum { SENTINEL = 65535, SLACK = 64 };

static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int32_t unite(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t root = a < b ? a : b;

    parent[a ^ b ^ root] = root;
    return root;
}

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

/* Appends the positions of the word's bits plus `base` and returns how many. Overwrites up to SLACK of `to`. */
SIMD_INLINE int positions(uint64_t word, int base, uint16_t *to)
{
#if defined(COMPRESS)
    static const uint8_t numbers[64] __attribute__((aligned(64))) = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i packed = _mm512_maskz_compress_epi8(word, _mm512_load_si512(numbers));
    const __m512i offset = _mm512_set1_epi16((short)base);
    const int count = __builtin_popcountll(word);
    _mm512_storeu_si512(to, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed)), offset));
    if (count > 32)
        _mm512_storeu_si512(to + 32,
                            _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1)), offset));
    return count;
#else
    int count = 0;
    for (; word; word &= word - 1)
        to[count++] = (uint16_t)(base + __builtin_ctzll(word));
    return count;
#endif
}

/* The runs of row y: bits, edges and how many. */
static void find_runs(const struct image *in, struct scratch *scratch, int y)
{
    const uint8_t *row = image_row(in, y);
    uint64_t *bits = scratch->bits + (size_t)y * scratch->words, carry = 0;
    uint16_t *edges = scratch->edges + scratch->edge[y];
    int count = 0;

    for (int word = 0; word < scratch->words; word++) {
        uint64_t x = nonzero(row + 64 * word);
        if (word == scratch->words - 1 && in->width % 64)
            x &= ((uint64_t)1 << in->width % 64) - 1;
        bits[word] = x;
        count += positions(x ^ (x << 1 | carry), 64 * word, edges + count);
        carry = x >> 63;
    }
    if (count % 2)
        edges[count++] = (uint16_t)in->width;
    edges[count] = edges[count + 1] = SENTINEL;
    scratch->count[y] = count / 2;
}

/* Unites the runs of row y with those they touch in the row above. */
SIMD_INLINE void join_above(struct scratch *scratch, int grow, int y)
{
    const uint16_t *run = scratch->edges + scratch->edge[y], *up = scratch->edges + scratch->edge[y - 1];
    int32_t *parent = scratch->parent, number = scratch->first[y], above = scratch->first[y - 1];
    const int32_t end = number + scratch->count[y];

    for (; number < end; number++, run += 2) {
        const int left = run[0] - grow, right = run[1] + grow < SENTINEL ? run[1] + grow : SENTINEL;
        for (; up[1] <= left; up += 2)
            above++;
        if (up[0] >= right)
            continue;
        int32_t root = find(parent, above);
        if (parent[number] != number) /* known already: this row is the first of a band */
            root = root == find(parent, number) ? root : unite(parent, root, find(parent, number));
        for (; up[2] < right; up += 2) {
            const int32_t other = find(parent, ++above);
            root = root == other ? root : unite(parent, root, other);
        }
        if (parent[number] == number && number != root)
            unite(parent, root, number);
    }
}

/* Trees of the rows from top to bottom, bottom excluded, whose paths end up one step long. */
static void scan(const struct image *in, struct scratch *scratch, int grow, int band, int top, int bottom)
{
    int32_t next = top * scratch->runs;
    size_t edge = (size_t)top * (size_t)scratch->pitch + (size_t)band * SLACK;

    for (int y = top; y < bottom; y++) {
        const uint16_t *edges = scratch->edges + edge;
        scratch->edge[y] = edge;
        find_runs(in, scratch, y);
        edge += 2 * (size_t)scratch->count[y] + 2;
        scratch->first[y] = next;
        for (int i = 0; i < scratch->count[y]; i++, next++) {
            scratch->parent[next] = next;
            scratch->label[next] = y * in->width + edges[2 * i] + 1;
        }
        if (y > top)
            join_above(scratch, grow, y);
    }
    for (int32_t i = scratch->first[top]; i < next; i++)
        scratch->parent[i] = scratch->parent[scratch->parent[i]];
}

/* Writes row y. `labels` has room for a row's runs with 16 to spare behind and 1 before. */
static void paint(const struct scratch *scratch, struct image *out, int32_t *labels, int y)
{
    int32_t *row = image_row(out, y);
    const int32_t *parent = scratch->parent + scratch->first[y];

    for (int i = 0; i < scratch->count[y]; i++) {
        int32_t root = parent[i];
        while (scratch->parent[root] != root)
            root = scratch->parent[root];
        labels[i] = scratch->label[root];
    }
#if defined(COMPRESS)
    const __m512i up_to_lane = _mm512_setr_epi32(0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff,
                                                 0x1fff, 0x3fff, 0x7fff, 0xffff);
    const uint64_t *bits = scratch->bits + (size_t)y * scratch->words;
    uint64_t carry = 0;
    labels--; /* lane 0 of what is loaded is the run that the previous 16 pixels ended in */
    for (int word = 0; word < scratch->words; word++) {
        const uint64_t starts = bits[word] & ~(bits[word] << 1 | carry);
        carry = bits[word] >> 63;
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
    }
#else
    const uint16_t *edges = scratch->edges + scratch->edge[y];
    int x = 0;
    for (int i = 0; i < scratch->count[y]; i++) {
        for (; x < edges[2 * i]; x++)
            row[x] = 0;
        for (; x < edges[2 * i + 1]; x++)
            row[x] = labels[i];
    }
    for (; x < out->width; x++)
        row[x] = 0;
#endif
}

/* `count` elements of `size` bytes out of the block that `at` counts the bytes of; NULL while there is no block. */
static void *part(uint8_t *block, size_t *at, size_t count, size_t size)
{
    void *here = block ? block + *at : NULL;

    *at += (count * size + 63) / 64 * 64;
    return here;
}

static size_t lay_out(struct scratch *scratch, uint8_t *block, size_t rows, size_t bands)
{
    const size_t runs = rows * (size_t)scratch->runs;
    size_t at = 0;

    scratch->bits = part(block, &at, rows * (size_t)scratch->words, sizeof *scratch->bits);
    scratch->edge = part(block, &at, rows, sizeof *scratch->edge);
    scratch->count = part(block, &at, rows, sizeof *scratch->count);
    scratch->first = part(block, &at, rows, sizeof *scratch->first);
    scratch->edges = part(block, &at, rows * (size_t)scratch->pitch + bands * SLACK, sizeof *scratch->edges);
    scratch->parent = part(block, &at, runs, sizeof *scratch->parent);
    scratch->label = part(block, &at, runs, sizeof *scratch->label);
    return at;
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    const int wanted = 4 * omp_get_max_threads(), bands = wanted < in->height ? wanted : in->height;
    const int grow = params->connectivity == 8;
    struct scratch scratch = {.words = (in->width + 63) / 64, .runs = (in->width + 1) / 2};
    uint8_t *block;

    scratch.pitch = 2 * scratch.runs + 2;
    /* One block: glibc learns to keep one of up to 32 MB from call to call, while several add up to what it gives back
     * to the system each time, and the system's clearing of new pages takes longer than everything below. */
    block = malloc(lay_out(&scratch, NULL, (size_t)in->height, (size_t)bands));
    if (!block)
        return status_set(STATUS_NO_MEMORY, "no memory for the runs of %dx%d pixels", in->width, in->height);
    lay_out(&scratch, block, (size_t)in->height, (size_t)bands);
#pragma omp parallel
    {
        int32_t labels[1 + 32768 + 16];
        labels[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            scan(in, &scratch, grow, b, (int)((int64_t)in->height * b / bands),
                 (int)((int64_t)in->height * (b + 1) / bands));
#pragma omp single
        for (int b = 1; b < bands; b++)
            join_above(&scratch, grow, (int)((int64_t)in->height * b / bands));
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < in->height; y++)
            paint(&scratch, out, labels + 1, y);
    }
    free(block);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only, .instruction_set = SIMD_NAME)
