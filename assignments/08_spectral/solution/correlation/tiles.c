/*
 * Idea:     a tile of 8 rows and 2 vectors of the matrix stays in registers for a run of 256 pixels.
 * Changed:  threads.c with the loop over tiles outside of the one over pixels, and planes padded to whole tiles.
 * Expect:   6 bands: nothing gained, padding is most of the work. 31 bands: 2 times, for a product no longer loads and
 *           stores its sum; 198: more, for those sums lay in the second-level cache.
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { PIECES = 16 };

enum { LANES = SIMD_BYTES / 4, ROWS = 8, MULTIPLE = LANES > ROWS ? LANES : ROWS };

static int padded(int planes)
{
    return (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

/* Rows u to u + ROWS - 1 of `vectors` vectors of columns from v on, over `count` pixels; then added to `sums`. */
SIMD_INLINE void add_tile(const float *panel, int stride, int count, int u, int v, int vectors, double *sums)
{
    simd_f32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < count; i++, panel += stride)
        for (int k = 0; k < vectors; k++) {
            const simd_f32 beside = (simd_f32)simd_load(panel + v + k * LANES);
#pragma GCC unroll 8
            for (int row = 0; row < ROWS; row++)
                tile[row][k] = simd_multiply_add(tile[row][k], panel[u + row] + (simd_f32){0}, beside);
        }
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < vectors * LANES; k++)
            sums[(u + row) * stride + v + k] += (double)tile[row][k / LANES][k % LANES];
}

/* The tiles on and above the diagonal. */
static void add_run(const float *panel, int count, int planes, double *sums)
{
    const int stride = padded(planes);

    for (int u = 0; u < planes; u += ROWS)
        for (int v = u / LANES * LANES; v < planes; v += 2 * LANES) {
            if (v + LANES < planes)
                add_tile(panel, stride, count, u, v, 2, sums);
            else
                add_tile(panel, stride, count, u, v, 1, sums);
        }
}

/* The sums of the pixels from `first` to `last` - 1. */
static bool add_piece(const struct image *in, const struct correlation_params *params, int64_t first, int64_t last,
                      double *sums)
{
    const int planes = correlation_planes(in, params), stride = padded(planes);
    float *panel = malloc(sizeof *panel * CORRELATION_RUN * (size_t)stride);
    const bool ready = panel;

    for (; ready && first < last; first += CORRELATION_RUN) {
        const int count = (int)(last - first < CORRELATION_RUN ? last - first : CORRELATION_RUN);
        correlation_load(in, params, first, count, panel, stride);
        add_run(panel, count, planes, sums);
    }
    free(panel);
    return ready;
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params);
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t stride = (size_t)padded(planes), entries = stride * stride;
    double *sums = calloc(PIECES * entries, sizeof *sums);
    bool ready = sums;

#pragma omp parallel for schedule(dynamic) reduction(&& : ready)
    for (int piece = 0; piece < PIECES; piece++)
        ready = ready && add_piece(in, params, pixels * piece / PIECES, pixels * (piece + 1) / PIECES,
                                   sums + (size_t)piece * entries);
    for (size_t k = entries; ready && k < PIECES * entries; k++)
        sums[k % entries] += sums[k];
    for (size_t k = 0; ready && k < (size_t)planes * (size_t)planes; k++) /* without the padding, in place */
        sums[k] = sums[k / (size_t)planes * stride + k % (size_t)planes];
    if (ready)
        correlation_finish(sums, in, params, out);
    free(sums);
    return ready ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for the sums of %d planes", planes);
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
