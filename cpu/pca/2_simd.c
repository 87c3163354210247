/*
 * Problem:  The projection of cpu/omp makes 93 f64 multiply-adds per pixel, one after another.
 * Idea:     A vector of f32 holds 4 components: a sample, repeated, times a row of eigenvectors. 8
 *           pixels go together, so no multiply-add waits for the one before. The matrix is
 *           correlation's cpu/prefetch, the eigenvectors are eigen's cpu/cache_blocking.
 * Expect:   12 ms for a million pixels on two cores: 31 vector multiply-adds per pixel, not 93.
 * Result:   2.6 times as fast as cpu/omp with 2 threads, 44 ms
 *           (results/cpu2/pca/pca_1024x1024.json); the reason is not known.
 * Run:      make diff-pca A=cpu/omp B=cpu/simd
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/pca.h"
#include "common/simd/simd.h"

enum { LANES = 4, PIXELS = 8 /* of a tile */ };

typedef float lanes __attribute__((vector_size(4 * LANES)));

static const struct pca_versions versions = {.correlation = "cpu/prefetch", .eigen = "cpu/cache_blocking"};

struct state {
    struct pca_steps steps;
    float *table; /* a row of components for each band, padded to whole vectors */
};

/* Adds a row's components to their ranges. */
static void add_row(const float *values, int width, int components, double longest, struct pca_range *ranges)
{
    for (int x = 0; x < width; x++)
        for (int k = 0; k < components; k++) {
            const double value = values[x * components + k];
            ranges[k].smallest = fmin(ranges[k].smallest, value);
            ranges[k].largest = fmax(ranges[k].largest, value);
            ranges[k].sum += value;
            ranges[k].squares += value * value;
            ranges[k].longest = fmax(ranges[k].longest, longest);
        }
}

/* The products of `count` pixels with a vector of components, from column k of the table on; the pixels' own
 * products with themselves. */
static inline void project_tile(const struct image *in, const char *pixel, size_t bytes, int count, const float *table,
                                int stride, lanes sums[PIXELS], float squares[PIXELS])
{
    for (int i = 0; i < PIXELS; i++)
        sums[i] = (lanes){0}, squares[i] = 0;
    for (int band = 0; band < in->channels; band++, table += stride) {
        lanes right;
        memcpy(&right, table, sizeof right);
#pragma GCC unroll 8
        for (int i = 0; i < PIXELS; i++) {
            const float sample = pca_sample(in, pixel + (size_t)(i < count ? i : 0) * bytes, band);
            sums[i] += sample * right;
            squares[i] += sample * sample;
        }
    }
}

/* Components of one row of pixels; their ranges. */
static void project_row(const struct image *in, struct image out[], int y, const float *table, struct pca_range *ranges)
{
    const int components = out[PCA_COMPONENTS].channels, stride = (components + LANES - 1) / LANES * LANES;
    const size_t bytes = (size_t)in->channels * pixel_size(in->type);
    float *to = image_row(&out[PCA_COMPONENTS], y), longest = 0;

    for (int x = 0; x < in->width; x += PIXELS)
        for (int k = 0; k < components; k += LANES) {
            const int count = in->width - x < PIXELS ? in->width - x : PIXELS;
            lanes sums[PIXELS];
            float squares[PIXELS];
            project_tile(in, pca_pixel(in, x, y), bytes, count, table + k, stride, sums, squares);
            for (int i = 0; i < count; i++) {
                longest = fmaxf(longest, squares[i]);
                for (int lane = 0; lane < LANES && k + lane < components; lane++)
                    to[(x + i) * components + k + lane] = sums[i][lane];
            }
        }
    add_row(to, in->width, components, longest, ranges);
}

/* The vectors as f32, in rows of whole vectors. */
static void fill_table(float *table, const struct image *vectors, int stride)
{
    for (int band = 0; band < vectors->height; band++)
        for (int k = 0; k < stride; k++)
            table[band * stride + k] = k < vectors->width ? (float)((const double *)image_row(vectors, band))[k] : 0;
}

static enum status run(struct state *state, const struct image *in, struct image *out, const struct pca_params *params)
{
    struct pca_range ranges[PCA_MAX_COMPONENTS];
    enum status status = STATUS_OK;

    const int stride = (params->components + LANES - 1) / LANES * LANES;
    if (!state->table)
        state->table = malloc(sizeof *state->table * (size_t)in->channels * (size_t)stride);
    if (!state->table)
        return status_set(STATUS_NO_MEMORY, "no memory for %d vectors", params->components);
    TRY(pca_solve(&state->steps, in, out, params, &versions));
    fill_table(state->table, &out[PCA_VECTORS], stride);
    for (int k = 0; k < params->components; k++)
        ranges[k] = (struct pca_range){INFINITY, -INFINITY, 0, 0, 0};
#pragma omp parallel
    {
        struct pca_range own[PCA_MAX_COMPONENTS];
        for (int k = 0; k < params->components; k++)
            own[k] = (struct pca_range){INFINITY, -INFINITY, 0, 0, 0};
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++)
            project_row(in, out, y, state->table, own);
#pragma omp critical
        for (int k = 0; k < params->components; k++) {
            ranges[k].smallest = fmin(ranges[k].smallest, own[k].smallest);
            ranges[k].largest = fmax(ranges[k].largest, own[k].largest);
            ranges[k].sum += own[k].sum;
            ranges[k].squares += own[k].squares;
            ranges[k].longest = fmax(ranges[k].longest, own[k].longest);
        }
#pragma omp barrier
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++)
            pca_colour(out, ranges, params, y, y + 1);
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    pca_free(&state->steps);
    free(state->table);
}

RUNGS_CPU_VERSION_WITH_STATE(pca, .instruction_set = SIMD_NAME)
