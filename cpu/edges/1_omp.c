/*
 * Problem:  cpu/serial leaves all rows to one thread, but rows are independent before hysteresis.
 * Idea:     The threads share the rows. For the list each thread collects the edge points of its
 *           rows, eight pixels at a time (SWAR, shared/places.c). For hysteresis it has a stack,
 *           and then looks for weak pixels beside its neighbours' points, until none is left.
 * Expect:   Nearly 2 times as fast on 2 cores where no weak pixel is followed.
 * Result:   10 times as fast as cpu/serial with 16 threads, 2.8 ms
 *           (results/h100/edges/edges_1920x1080.json).
 * Run:      make diff-edges A=cpu/serial B=cpu/omp
 */
#include <stdlib.h>

#include "common/algo/edges.h"
#include "cpu/edges/shared/places.h"

/* Magnitudes, with a frame of zeros one pixel wide. */
struct magnitudes {
    int16_t *data;
    size_t pitch;
};

static int16_t *magnitude_row(const struct magnitudes *magnitudes, int y)
{
    return magnitudes->data + (size_t)(y + 1) * magnitudes->pitch + 1;
}

static void find_magnitudes(const struct image *in, struct magnitudes *magnitudes, uint32_t *histogram)
{
#pragma omp parallel for schedule(static) reduction(+ : histogram[:EDGES_BINS])
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const int m = edges_magnitude(hough_sobel(in, x, y));
            magnitude_row(magnitudes, y)[x] = (int16_t)m;
            histogram[m >> EDGES_BIN_SHIFT]++;
        }
}

/* Marks weak and strong pixels. */
static void mark(const struct image *in, const struct magnitudes *magnitudes, const struct edges_params *params,
                 struct edges_thresholds thresholds, struct image *mask)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const int16_t *above = magnitude_row(magnitudes, y - 1), *row = magnitude_row(magnitudes, y);
        const int16_t *below = magnitude_row(magnitudes, y + 1);
        uint8_t *out = image_row(mask, y);
        for (int x = 0; x < in->width; x++) {
            out[x] = NOTHING;
            if (row[x] <= thresholds.weak ||
                (params->thin == EDGES_CANNY && !edges_is_ridge(hough_sobel(in, x, y), above, row, below, x)))
                continue;
            out[x] = row[x] > thresholds.strong ? EDGE : WEAK;
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct edges_params *params)
{
    const size_t pitch = (size_t)in->width + 2, pixels = (size_t)in->width * (size_t)in->height;
    struct magnitudes magnitudes = {calloc(pitch * ((size_t)in->height + 2), sizeof(int16_t)), pitch};
    const bool is_followed = params->low != EDGES_NO_LOW, wants_places = is_followed || out[1].data;
    uint32_t *places = wants_places ? malloc(pixels * sizeof *places) : NULL, histogram[EDGES_BINS] = {0};
    struct image scratch = {0}, *mask = out[0].data ? &out[0] : &scratch;
    enum status status = STATUS_OK;

    if (!magnitudes.data || (wants_places && !places)) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the gradients of %zu pixels", pixels);
        goto out;
    }
    if (!out[0].data)
        TRY(image_create(&scratch, in->width, in->height, 1, PIXEL_U8));
    find_magnitudes(in, &magnitudes, histogram);
    mark(in, &magnitudes, params, edges_find_thresholds(params, histogram), mask);
    if (is_followed)
        places_follow(mask, places);
    if (out[1].data)
        places_list(in, places, places_find(mask, places), &out[1]);
out:
    free(magnitudes.data);
    free(places);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(edges)
