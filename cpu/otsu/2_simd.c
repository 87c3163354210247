/*
 * Problem:  Where neighbours are equal, the load of a counter waits for the store of the pixel
 *           before.
 * Idea:     A table of 65536 counters counts pairs of pixels, so one load, add and store count two
 *           pixels; 8 equal pixels are one addition of 8. (No vector instruction counts values.)
 * Expect:   1.5 times as fast, not 2: the table (256 KB) is larger than the first-level cache, so
 *           more counters miss it.
 * Result:   1.5 times as fast as cpu/omp with 16 threads (results/h100/otsu/otsu_3840x2160.json).
 * Run:      make diff-otsu A=cpu/omp B=cpu/simd
 */
#include <omp.h>
#include <string.h>

#include "common/algo/otsu.h"
#include "common/simd/simd.h"

/* A thread with fewer pixels has 8 histograms instead: to add up all 65536 counters takes some 10 us. */
enum { PAIRS = OTSU_BINS * OTSU_BINS, WORTH_PAIRS = 3 << 15 };

/* All 0 between calls; too large for a stack. */
static _Thread_local uint32_t pairs[PAIRS] __attribute__((aligned(64)));

static inline uint64_t load8(const uint8_t *from)
{
    uint64_t bytes;

    memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

/* All 8 bytes the same. */
static inline int is_flat(uint64_t bytes)
{
    return bytes == (bytes << 8 | bytes >> 56);
}

static void count_pairs(const uint8_t *row, int width, uint32_t *histogram)
{
    int x = 0;

    for (; x + 8 <= width; x += 8) {
        const uint64_t bytes = load8(row + x);
        if (is_flat(bytes)) {
            histogram[bytes & 0xff] += 8;
            continue;
        }
        pairs[bytes & 0xffff]++;
        pairs[bytes >> 16 & 0xffff]++;
        pairs[bytes >> 32 & 0xffff]++;
        pairs[bytes >> 48]++;
    }
    for (; x < width; x++)
        histogram[row[x]]++;
}

/* Counts of pairs into counts of their two pixels; the table is 0 again. */
static void add_pairs(uint32_t *histogram)
{
    enum { LANES = SIMD_BYTES / 4 };

    for (int high = 0; high < OTSU_BINS; high++) {
        simd_u32 sums = {0};
        for (int low = 0; low < OTSU_BINS; low += LANES) {
            uint32_t *counters = &pairs[high * OTSU_BINS + low];
            const simd_u32 counts = (simd_u32)simd_load(counters);
            simd_store(counters, (simd_u8){0});
            simd_store(histogram + low, (simd_u8)((simd_u32)simd_load(histogram + low) + counts));
            sums += counts;
        }
        for (int lane = 0; lane < LANES; lane++)
            histogram[high] += sums[lane];
    }
}

/* Each byte of a word has its own histogram, so that equal neighbours do not wait for each other's counter. */
static void count_single(const uint8_t *row, int width, uint32_t parts[8][OTSU_BINS])
{
    int x = 0;

    for (; x + 8 <= width; x += 8) {
        const uint64_t bytes = load8(row + x);
        for (int i = 0; i < 8; i++)
            parts[i][bytes >> 8 * i & 0xff]++;
    }
    for (; x < width; x++)
        parts[0][row[x]]++;
}

static void count(const struct image *in, uint32_t *histogram)
{
#pragma omp parallel reduction(+ : histogram[:OTSU_BINS])
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int top = (int)(in->height * thread / threads), bottom = (int)(in->height * (thread + 1) / threads);
        uint32_t parts[8][OTSU_BINS] = {{0}};

        if ((int64_t)(bottom - top) * in->width >= WORTH_PAIRS) {
            for (int y = top; y < bottom; y++)
                count_pairs(image_row(in, y), in->width, histogram);
            add_pairs(histogram);
        } else {
            for (int y = top; y < bottom; y++)
                count_single(image_row(in, y), in->width, parts);
            for (int i = 0; i < 8 * OTSU_BINS; i++)
                histogram[i % OTSU_BINS] += parts[i / OTSU_BINS][i % OTSU_BINS];
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0};

    (void)params;
    count(in, histogram);
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu, .instruction_set = SIMD_NAME)
