/*
 * Idea:     a thread takes a band of rows, and copies the rows that it needs to a buffer of its own, one behind the
 *           other.
 * Changed:  bands of BAND rows are shared out, where omp shares out single rows.
 * Expect:   the buffer of a band stays in its core's first-level cache, so that a wide image costs as little as a
 *           narrow one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/morphology.h"

enum { BAND = 16 };

static uint8_t best_of(const uint8_t *rows, int width, int first, int last, const uint8_t *mask, int ksize, bool erode,
                       int x, int y)
{
    const int radius = ksize / 2;
    uint8_t best = erode ? 255 : 0;

    for (int v = y - radius < first ? first : y - radius; v <= y + radius && v < last; v++)
        for (int u = x - radius < 0 ? 0 : x - radius; u <= x + radius && u < width; u++) {
            const uint8_t sample = rows[(v - first) * width + u];
            if (mask[(v - y + radius) * ksize + u - x + radius] && (erode ? sample < best : sample > best))
                best = sample;
        }
    return best;
}

static bool morphology_step(const struct image *in, struct image *out, const uint8_t *mask, int ksize, bool erode)
{
    const int radius = ksize / 2, width = in->width, height = in->height;
    bool lost = false;

#pragma omp parallel for schedule(dynamic) reduction(|| : lost)
    for (int begin = 0; begin < height; begin += BAND) {
        const int end = begin + BAND < height ? begin + BAND : height;
        const int first = begin > radius ? begin - radius : 0;
        const int last = end < height ? end : height;
        uint8_t *rows = malloc((size_t)(last - first) * (size_t)width);

        lost = lost || !rows;
        for (int y = first; rows && y < last; y++)
            memcpy(rows + (y - first) * width, image_row(in, y), (size_t)width);
        for (int y = begin; rows && y < end; y++)
            for (int x = 0; x < width; x++)
                ((uint8_t *)image_row(out, y))[x] = best_of(rows, width, first, last, mask, ksize, erode, x, y);
        free(rows);
    }
    return !lost;
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    uint8_t mask[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE];
    struct image between = {0};
    bool erodes[2], done;

    morphology_mask(params, mask);
    if (morphology_steps(params, erodes) == 1) {
        done = morphology_step(in, out, mask, params->ksize, erodes[0]);
    } else {
        TRY(image_create_like(&between, in));
        done = morphology_step(in, &between, mask, params->ksize, erodes[0]) &&
               morphology_step(&between, out, mask, params->ksize, erodes[1]);
    }
    if (!done)
        status = status_set(STATUS_NO_MEMORY, "no memory for a band of rows");
out:
    image_free(&between);
    return status;
}

RUNGS_CPU_VERSION(morphology)
