/*
 * mutant.h: what the mutants of pca share: the definition, whose parts each of them spoils by a macro.
 *
 *     MUTANT_VECTOR(k)      the column of the eigenvectors that component k is made of
 *     MUTANT_ROWS(height)   the rows of the picture that the ranges come from
 */
#ifndef RUNGS_PCA_MUTANT_H
#define RUNGS_PCA_MUTANT_H

#include "common/algo/pca.h"

#ifndef MUTANT_VECTOR
#define MUTANT_VECTOR(k) (k)
#endif
#ifndef MUTANT_ROWS
#define MUTANT_ROWS(height) (height)
#endif

struct state {
    struct pca_steps steps;
};

static enum status run(struct state *state, const struct image *in, struct image *out, const struct pca_params *params)
{
    static const struct pca_versions versions = {.correlation = "cpu/serial", .eigen = "cpu/serial"};
    struct pca_range ranges[PCA_MAX_COMPONENTS];
    enum status status = STATUS_OK;

    TRY(pca_solve(&state->steps, in, out, params, &versions));
    for (int k = 0; k < params->components; k++) {
        ranges[k] = (struct pca_range){INFINITY, -INFINITY, 0, 0, 0};
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++) {
                double sum = 0;
                for (int band = 0; band < in->channels; band++)
                    sum += image_sample(in, x, y, band) *
                           image_sample(&state->steps.vectors, MUTANT_VECTOR(k) % in->channels, band, 0);
                image_set_sample(&out[PCA_COMPONENTS], x, y, k, sum);
                if (y >= MUTANT_ROWS(in->height))
                    continue;
                ranges[k].smallest = fmin(ranges[k].smallest, sum);
                ranges[k].largest = fmax(ranges[k].largest, sum);
                ranges[k].sum += sum;
                ranges[k].squares += sum * sum;
                ranges[k].longest = fmax(ranges[k].longest, (double)pca_squares(in, pca_pixel(in, x, y)));
            }
    }
    pca_colour(out, ranges, params, 0, in->height);
out:
    return status;
}

static void teardown(struct state *state)
{
    pca_free(&state->steps);
}

#endif
