/*
 * Problem:  cpu/omp branches at each of 225 mask positions per pixel, so nothing is vectorized.
 * Idea:     Loop interchange: take one position of the mask for all pixels of a row, then the next
 *           one. The inner loop compares neighbouring bytes without branches; the compiler
 *           vectorizes it.
 * Expect:   Over 50 times as fast as cpu/omp: an AVX2 instruction compares 32 bytes.
 * Result:   76 times as fast as cpu/omp with 16 threads, 4.7 ms
 *           (results/h100/morphology/morphology_3840x2160.json).
 * Run:      make diff-morphology A=cpu/omp B=cpu/loop_interchange
 */
#include <string.h>

#include "common/algo/morphology.h"

/* to[x] becomes the best of to[x] and from[x + shift], where that is inside the row. */
static void take(uint8_t *to, const uint8_t *from, int shift, int width, bool erode)
{
    const int first = shift < 0 ? -shift : 0, end = shift > 0 ? width - shift : width;

    if (erode)
#pragma omp simd
        for (int x = first; x < end; x++)
            to[x] = from[x + shift] < to[x] ? from[x + shift] : to[x];
    else
#pragma omp simd
        for (int x = first; x < end; x++)
            to[x] = from[x + shift] > to[x] ? from[x + shift] : to[x];
}

static void morphology_row(const struct image *in, uint8_t *to, const uint8_t *mask, int ksize, bool erode, int y)
{
    memset(to, erode ? 255 : 0, (size_t)in->width);
    for (int j = 0; j < ksize; j++)
        for (int i = 0; i < ksize; i++) {
            const int shift = i - ksize / 2, v = y + j - ksize / 2;
            if (mask[j * ksize + i] && v >= 0 && v < in->height)
                take(to, image_row(in, v), shift, in->width, erode);
        }
}

static void morphology_step(const struct image *in, struct image *out, const uint8_t *mask, int ksize, bool erode)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++)
        morphology_row(in, image_row(out, y), mask, ksize, erode, y);
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    uint8_t mask[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE];
    struct image between = {0};
    bool erodes[2];

    morphology_mask(params, mask);
    if (morphology_steps(params, erodes) == 1) {
        morphology_step(in, out, mask, params->ksize, erodes[0]);
        return STATUS_OK;
    }
    TRY(image_create_like(&between, in));
    morphology_step(in, &between, mask, params->ksize, erodes[0]);
    morphology_step(&between, out, mask, params->ksize, erodes[1]);
out:
    image_free(&between);
    return status;
}

RUNGS_CPU_VERSION(morphology)
