/*
 * Problem:  cpu/shifted copies integers of more than 6 bands as f32 and multiplies pixel by pixel.
 * Idea:     Dot products: a lane holds a band of two pixels as 16-bit halves, an instruction adds
 *           the products of both. shared/shifted.h and shared/prefetch_tile.h serve as before.
 * Expect:   31 bands of u8: 24 vector instructions per pixel instead of 48, and a cheaper copy.
 * Result:   2.98 times as fast as cpu/shifted with 31 bands of u8, one thread
 *           (results/cpu2_xeon/correlation/correlation_1024x1024x31_u8_one.json).
 * Run:      build/rungs bench correlation --versions cpu/shifted,cpu/dot_product -p type=u8
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/prefetch_tile.h"
#include "cpu/correlation/shared/shifted.h"

/* Pixels whose sums fit 32 bits, and those of a panel, which stays in the L1 cache. */
enum { WHOLE_RUN = 4096, PANEL = 256, MANY_PANEL = 64 };

/* The sums of one tile over `pairs` pairs of pixels: rows u to u + ROWS - 1, `vectors` vectors from plane v on. */
SIMD_INLINE void add_dots(const int32_t *panel, int stride, int pairs, int u, int v, int vectors, int32_t *sums)
{
    simd_i32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < pairs; i++, panel += stride) {
        simd_i16 right[2];
        for (int column = 0; column < vectors; column++)
            right[column] = (simd_i16)simd_load(panel + v + column * LANES);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; row++) {
            const simd_i16 left = (simd_i16)simd_splat((uint32_t)panel[u + row]);
            for (int column = 0; column < vectors; column++)
                tile[row][column] = simd_dot2(tile[row][column], left, right[column]);
        }
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < vectors; column++) {
            int32_t *const to = sums + (u + row) * stride + v + column * LANES;
            simd_store(to, (simd_u8)((simd_i32)simd_load(to) + tile[row][column]));
        }
}

/* A vector of consecutive bands as 32-bit lanes. */
SIMD_INLINE simd_u32 load_bands(const char *samples, bool words)
{
#if defined(__AVX512BW__)
    return words ? (simd_u32)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)samples))
                 : (simd_u32)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)samples));
#elif defined(__AVX2__)
    return words ? (simd_u32)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)samples))
                 : (simd_u32)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)samples));
#else
    simd_u32 lanes;
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = words ? ((const uint16_t *)(const void *)samples)[lane] : ((const uint8_t *)samples)[lane];
    return lanes;
#endif
}

/* Pairs of `count` pixels that lie side by side; of words planes of lower, then of upper bytes. Vectors reach beyond
 * n bands, into what is written later. */
SIMD_INLINE void make_pairs(const char *pixels, int count, int n, bool words, int ones, int32_t *panel, int stride)
{
    const ptrdiff_t bytes = (ptrdiff_t)n << words;

    for (int i = 0; i < count; i += 2, pixels += 2 * bytes, panel += stride) {
        for (int k = 0; k < n; k += LANES) {
            const char *const at = pixels + ((ptrdiff_t)k << words);
            const simd_u32 pair = load_bands(at, words) | load_bands(at + bytes, words) << 16;
            simd_store(panel + k, (simd_u8)(words ? pair & 0xff00ff : pair));
        }
        for (int k = 0; k < n && words; k += LANES) {
            const char *const at = pixels + 2 * k;
            const simd_u32 pair = load_bands(at, true) | load_bands(at + bytes, true) << 16;
            simd_store(panel + n + k, (simd_u8)(pair >> 8 & 0xff00ff));
        }
        if (ones)
            panel[words ? 2 * n : n] = i + 1 < count ? 0x10001 : 1;
    }
}

/* The same of pixels of any rows: those that end a row, which have nothing behind them to read, are copied first. */
static void load_pairs(const struct image *in, int64_t first, int count, int ones, int32_t *panel, int stride,
                       char *scratch)
{
    const int n = in->channels;
    const bool words = in->type == PIXEL_U16;
    const size_t bytes = (size_t)n << words;
    const char *pixels = correlation_pixel(in, first);

    if (count % 2 || first % in->width + count + SIMD_BYTES / 2 > in->width) {
        for (int i = 0, row; i < count; i += row) {
            const int64_t left = in->width - (first + i) % in->width;
            row = left < count - i ? (int)left : count - i;
            memcpy(scratch + (size_t)i * bytes, correlation_pixel(in, first + i), (size_t)row * bytes);
        }
        memset(scratch + (size_t)count * bytes, 0, bytes + SIMD_BYTES);
        pixels = scratch;
    }
    if (words)
        make_pairs(pixels, count, n, true, ones, panel, stride);
    else
        make_pairs(pixels, count, n, false, ones, panel, stride);
}

/* Adds the products of all pairs of planes of `count` pixels, which `whole` holds as integers meanwhile. */
static void add_whole(const struct image *in, const struct correlation_params *params, int64_t first, int count,
                      int32_t *panel, int stride, int32_t *whole, double *sums)
{
    const int planes = correlation_planes(in, params), most = planes >= MANY ? MANY_PANEL : PANEL;

    memset(whole, 0, sizeof *whole * (size_t)stride * (size_t)stride);
    for (int i = 0; i < count; i += most) {
        const int pixels = count - i < most ? count - i : most, pairs = (pixels + 1) / 2;
        load_pairs(in, first + i, pixels, params->center, panel, stride, (char *)(panel + PANEL / 2 * stride + LANES));
        for (int u = 0; u < planes; u += ROWS) {
            int v = u / LANES * LANES;
            for (; v + LANES < planes; v += 2 * LANES)
                add_dots(panel, stride, pairs, u, v, 2, whole);
            if (v < planes)
                add_dots(panel, stride, pairs, u, v, 1, whole);
        }
    }
    for (int i = 0; i < stride * stride; i++)
        sums[i] += whole[i];
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    /* f32 pixels are read where they lie, row by row; others through a panel, as one long row. */
    const bool in_place = in->type == PIXEL_F32 && !params->center && in->width >= CORRELATION_RUN;
    const int64_t width = in_place ? in->width : pixels, lines = pixels / width;
    const bool shifted = shifted_fits(in, params), whole = in->type != PIXEL_F32 && !shifted;
    const int64_t run_pixels = shifted                            ? shifted_run(planes)
                               : whole                            ? WHOLE_RUN
                               : in_place && in->channels >= MANY ? MANY_RUN
                                                                  : CORRELATION_RUN;
    const int64_t chunks = (width + run_pixels - 1) / run_pixels, tail = stride / in->channels + 1;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc((size_t)stride * (size_t)stride, sizeof *sums);
        const size_t room =
            (sizeof(float) * (size_t)((whole ? PANEL : run_pixels) + LANES) * (size_t)stride + 63) / 64 * 64;
        float *panel = aligned_alloc(64, room);
        int32_t *integers = calloc((size_t)stride * (size_t)stride, sizeof *integers);
        const bool ready = totals && sums && panel && integers;

        if (ready && whole)
            memset(panel, 0, room); /* planes that only fill a vector are bytes, too */

#pragma omp for schedule(static)
        for (int64_t chunk = 0; chunk < chunks * lines; chunk++) {
            const int64_t begin = chunk / chunks * width + chunk % chunks * run_pixels;
            const int64_t end = begin + run_pixels, line = (chunk / chunks + 1) * width;
            const int count = (int)((end < line ? end : line) - begin);
            /* The last pixels of a row have no whole vector behind them to read: they go through the panel. */
            int direct = in_place ? (int)(line - tail - begin) : 0;
            direct = direct < 0 ? 0 : direct < count ? direct : count;
            if (!ready)
                continue;
            if (whole) {
                add_whole(in, params, begin, count, (int32_t *)panel, stride, integers, sums);
                continue;
            }
            if (shifted) {
                if (!in_place)
                    shifted_load(in, begin, count, planes, panel);
                shifted_add(in_place ? correlation_pixel(in, begin) : panel, count,
                            in_place ? line - begin : count + LANES, planes, in->type == PIXEL_U16, stride, sums);
                continue;
            }
            add_run(correlation_pixel(in, begin), in->channels, direct, planes, stride, sums);
            correlation_load(in, params, begin + direct, count - direct, panel, stride);
            add_run(panel, stride, count - direct, planes, stride, sums);
        }
#pragma omp critical
        {
            for (size_t i = 0; ready && i < entries; i++)
                totals[i] += sums[i / (size_t)planes * (size_t)stride + i % (size_t)planes];
            if (!ready)
                status = STATUS_NO_MEMORY;
        }
        free(sums);
        free(panel);
        free(integers);
    }
    if (status == STATUS_OK)
        correlation_finish(totals, in, params, out);
    else
        status_set(status, "no memory for the sums of %d planes", planes);
    free(totals);
    return status;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
