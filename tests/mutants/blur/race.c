/*
 * Idea:     all threads collect their row in the same buffer.
 * Changed:  the buffer is made outside of the parallel loop.
 * Expect:   differs between runs
 */
#include <stdlib.h>
#include <string.h>

#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    const int rows = in->height;
    const size_t row_bytes = image_row_bytes(in);
    uint8_t *shared = malloc(row_bytes);

    if (!shared)
        return STATUS_NO_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(4)
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                shared[x * in->channels + c] = mutant_sample(in, weights, params->ksize, x, y, c);
        memcpy(image_row(out, y), shared, row_bytes);
    }
    free(shared);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
