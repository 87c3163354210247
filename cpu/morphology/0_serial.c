/*
 * Idea:     The definition: each output pixel is the largest (dilation) or smallest (erosion) of
 *           the input pixels under the structuring element, a disk or a square. Pixels outside the
 *           image do not count.
 * Expect:   1 to 2 seconds at 1920x1080 with a disk of ksize 15: the loop tests 15 * 15 = 225
 *           positions per pixel, of which 169 lie in the disk. It is compute-bound.
 * Run:      make bench-morphology
 */
#include "common/algo/morphology.h"

static uint8_t morphology_sample(const struct image *in, const uint8_t *mask, int ksize, bool erode, int x, int y)
{
    uint8_t best = erode ? 255 : 0;

    for (int j = 0; j < ksize; j++)
        for (int i = 0; i < ksize; i++) {
            const int u = x + i - ksize / 2, v = y + j - ksize / 2;
            if (!mask[j * ksize + i] || u < 0 || u >= in->width || v < 0 || v >= in->height)
                continue;
            const uint8_t sample = ((const uint8_t *)image_row(in, v))[u];
            if (erode ? sample < best : sample > best)
                best = sample;
        }
    return best;
}

static void morphology_step(const struct image *in, struct image *out, const uint8_t *mask, int ksize, bool erode)
{
    for (int y = 0; y < in->height; y++) {
        uint8_t *row = image_row(out, y);
        for (int x = 0; x < in->width; x++)
            row[x] = morphology_sample(in, mask, ksize, erode, x, y);
    }
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
