/*
 * mutant.h: what the morphology mutants share: a step that takes the pixels under the mask one by one, from a reader
 * that each mutant spoils in its own way. `rungs check` must fail a mutant, and its diagnosis must hold the text after
 * "Expect:".
 */
#ifndef RUNGS_MORPHOLOGY_MUTANT_H
#define RUNGS_MORPHOLOGY_MUTANT_H

#include "common/algo/morphology.h"

/* What counts for pixel (x, y), which may lie outside the image; `nothing` is what changes no result. */
typedef int mutant_reader(const struct image *in, int x, int y, int nothing);

static inline void mutant_step(const struct image *in, struct image *out, const uint8_t *mask, int ksize, bool erode,
                               mutant_reader *read)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            int best = erode ? 255 : 0;

            for (int k = 0; k < ksize * ksize; k++) {
                const int sample =
                    mask[k] ? read(in, x + k % ksize - ksize / 2, y + k / ksize - ksize / 2, erode ? 255 : 0) : best;
                best = erode == (sample < best) ? sample : best;
            }
            ((uint8_t *)image_row(out, y))[x] = (uint8_t)best;
        }
}

static inline enum status mutant_run(const struct image *in, struct image *out, const struct morphology_params *params,
                                     mutant_reader *read)
{
    enum status status = STATUS_OK;
    uint8_t mask[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE];
    struct image between = {0};
    bool erodes[2];
    const int steps = morphology_steps(params, erodes);

    morphology_mask(params, mask);
    TRY(image_create_like(&between, in));
    mutant_step(in, steps == 1 ? out : &between, mask, params->ksize, erodes[0], read);
    if (steps == 2)
        mutant_step(&between, out, mask, params->ksize, erodes[1], read);
out:
    image_free(&between);
    return status;
}

#endif
