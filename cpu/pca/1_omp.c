/*
 * Problem:  cpu/serial uses one core; covariance matrix and projection treat all pixels alike.
 * Idea:     Threads share the rows. Each thread keeps its own range (smallest, largest value) of
 *           each component (privatization); they are joined before the colours. The steps are
 *           cpu/omp of their ladders.
 * Expect:   As many times as fast as there are cores.
 * Result:   3.4 times as fast as cpu/serial with 2 threads (results/cpu2/pca/pca_1024x1024.json);
 *           the reason is not known.
 * Run:      make diff-pca A=cpu/serial B=cpu/omp
 */
#include <stdlib.h>

#include "common/algo/pca.h"

static const struct pca_versions versions = {.correlation = "cpu/omp", .eigen = "cpu/omp"};

struct state {
    struct pca_steps steps;
};

/* Adds a row's components to their ranges. */
static void add_row(const struct image *in, int y, const float *values, int components, struct pca_range *ranges)
{
    for (int x = 0; x < in->width; x++) {
        const double longest = pca_squares(in, pca_pixel(in, x, y));
        for (int k = 0; k < components; k++) {
            const double value = values[x * components + k];
            ranges[k].smallest = fmin(ranges[k].smallest, value);
            ranges[k].largest = fmax(ranges[k].largest, value);
            ranges[k].sum += value;
            ranges[k].squares += value * value;
            ranges[k].longest = fmax(ranges[k].longest, longest);
        }
    }
}

/* Components of one row of pixels; their ranges. */
static void project_row(const struct image *in, struct image out[], int y, struct pca_range *ranges)
{
    const int components = out[PCA_COMPONENTS].channels;
    float *to = image_row(&out[PCA_COMPONENTS], y);

    for (int x = 0; x < in->width; x++)
        for (int k = 0; k < components; k++) {
            const void *pixel = pca_pixel(in, x, y);
            double sum = 0;
            for (int band = 0; band < in->channels; band++)
                sum += pca_sample(in, pixel, band) * ((const double *)image_row(&out[PCA_VECTORS], band))[k];
            to[x * components + k] = (float)sum;
        }
    add_row(in, y, to, components, ranges);
}

static enum status run(struct state *state, const struct image *in, struct image *out, const struct pca_params *params)
{
    struct pca_range ranges[PCA_MAX_COMPONENTS];
    enum status status = STATUS_OK;

    TRY(pca_solve(&state->steps, in, out, params, &versions));
    for (int k = 0; k < params->components; k++)
        ranges[k] = (struct pca_range){INFINITY, -INFINITY, 0, 0, 0};
#pragma omp parallel
    {
        struct pca_range own[PCA_MAX_COMPONENTS];
        for (int k = 0; k < params->components; k++)
            own[k] = (struct pca_range){INFINITY, -INFINITY, 0, 0, 0};
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++)
            project_row(in, out, y, own);
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
}

RUNGS_CPU_VERSION_WITH_STATE(pca)
