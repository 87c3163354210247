/*
 * Idea:     lanes are pixels. Turned by 90 degrees, a vector has one plane of 16 pixels, and the product of two such vectors is one pair's,
 *           so that no lane is empty on the diagonal or behind the last plane.
 * Changed:  a run is turned into such vectors, which stay in the second-level cache; tiles are 5 by 5 pairs, or what the diagonal and a
 *           last plane leave of them. Their sums' lanes are added up at the end of the run, and they fetch the next one as those of ahead.
 * Expect:   81 bands: 208 multiply-adds of vectors a pixel in place of 328. Turning and adding up cost half of what that saves: 18 ms on two
 *           cores in place of ahead's 27, 70 % of what the multipliers can do. 31 bands are hardly worth turning, fewer not.
 * Result:   one thread, 81 bands: 38 ms in place of ahead's 56, 67 % of what the multipliers can do, 3.9 times OpenBLAS
 *           (results/cpu2/correlation/correlation_1024x1024x81_turned_one.json). Two threads: 20 ms
 *           in place of 28 (x81_turned.json). 31 bands, one thread: 8.7 ms where ahead has 8.1 (x31_turned_one.json). A prototype had been
 *           timed when this was expected.
 * From:     cpu/registers
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/turn.h"

enum { LANES = SIMD_BYTES / 4 };

/* AVX2 has 16 registers in place of 32, for the sums, a side of planes and one more. ENTRIES: sums of a tile, in whole vectors. */
enum { ROWS = LANES == 16 ? 5 : 3, ENTRIES = (ROWS * ROWS + LANES - 1) / LANES * LANES };

/* The sums of one tile over `count` pixels: `rows` are ROWS planes, `columns` are `width` planes, the same ones on the diagonal. */
SIMD_INLINE void add_tile(const simd_f32 *rows, const simd_f32 *columns, int stride, int count, int width,
                          bool diagonal, double *sums, const char *next, int ahead)
{
    simd_f32 tile[ROWS][ROWS] = {{{0}}}, entries[ENTRIES] = {{0}};

    for (int i = 0; i < count; i += LANES, rows += stride, columns += stride, next += ahead) {
        simd_f32 left[ROWS];
        __builtin_prefetch(next, 0, 2);
#pragma GCC unroll 5
        for (int row = 0; row < ROWS; row++)
            left[row] = rows[row];
#pragma GCC unroll 5
        for (int column = 0; column < width; column++) {
            const simd_f32 right = diagonal ? left[column] : columns[column];
#pragma GCC unroll 5
            for (int row = 0; row < ROWS; row++)
                if (!diagonal || row <= column)
                    tile[row][column] = simd_multiply_add(tile[row][column], left[row], right);
        }
    }
#pragma GCC unroll 32
    for (int i = 0; i < ROWS * ROWS; i++)
        entries[i] = tile[i / ROWS][i % ROWS];
    turn_add(entries, ENTRIES, sums);
}

/* Adds the products of all pairs of planes of `count` pixels. Tiles fetch equal shares of as many that lie at `next`. */
static void add_run(const simd_f32 *panel, int stride, int count, int planes, double *sums, const char *next)
{
    const int blocks = (planes + ROWS - 1) / ROWS, ahead = planes * SIMD_BYTES * 2 / (blocks * blocks + blocks) + 1;

    for (int u = 0; u < planes; u += ROWS) {
        double *to = sums + turn_place(u, u, blocks, ROWS, ENTRIES);
        for (int v = u; v < planes; v += ROWS, to += ENTRIES, next += (count + LANES - 1) / LANES * ahead)
            if (v == u)
                add_tile(panel + u, panel + v, stride, count, ROWS, true, to, next, ahead);
            else if (v + 1 == planes)
                add_tile(panel + u, panel + v, stride, count, 1, false, to, next, ahead);
            else
                add_tile(panel + u, panel + v, stride, count, ROWS, false, to, next, ahead);
    }
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = ((planes + LANES - 1) / LANES * LANES + ROWS) | 1;
    const int64_t pixels = (int64_t)in->width * in->height;
    const int blocks = (planes + ROWS - 1) / ROWS;
    const size_t entries = (size_t)planes * (size_t)planes, bytes = CORRELATION_RUN * sizeof(float) * (size_t)stride;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc((size_t)blocks * (size_t)blocks * ENTRIES, sizeof *sums);
        float *panel = aligned_alloc(64, bytes);
        simd_f32 *turned = aligned_alloc(64, bytes);
        const bool ready = totals && sums && panel && turned && memset(turned, 0, bytes);

#pragma omp for schedule(static)
        for (int64_t first = 0; first < pixels; first += CORRELATION_RUN) {
            const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
            if (!ready)
                continue;
            turn_run(in, params, first, count, panel, turned, stride);
            add_run(turned, stride, count, planes, sums, turn_next(in, first, count));
        }
#pragma omp critical
        {
            for (size_t i = 0; ready && i < entries; i++)
                totals[i] += sums[turn_place((int)i / planes, (int)i % planes, blocks, ROWS, ENTRIES)];
            if (!ready)
                status = STATUS_NO_MEMORY;
        }
        free(sums);
        free(panel);
        free(turned);
    }
    if (status == STATUS_OK)
        correlation_finish(totals, in, params, out);
    else
        status_set(status, "no memory for the sums of %d planes", planes);
    free(totals);
    return status;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
