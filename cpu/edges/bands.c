/*
 * Idea:     one pass in place of one for each step. A thread goes down a band of rows with the last three rows of
 *           pixels and magnitudes, 17 KB that stay in first-level cache, and marks a row as soon as the one below it is
 *           there.
 * Changed:  planes hold three rows, each thread its own; find_band() in place of a pass for each step. Otsu's threshold, which
 *           all magnitudes make, takes a first turn through the picture.
 * Expect:   3 times as fast as rows: 8 MB of planes are neither written nor read nor made of fresh pages.
 * Result:   1.1 times rows, within the noise (results/cpu2/edges/edges_1920x1080.json), not 3: the pages of the planes cost less
 *           than was thought.
 * From:     cpu/rows
 */
/* Try: make bench-edges */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/edges.h"
#include "cpu/edges/shared/places.h"

enum { ROWS = 3 };

/* The last three rows of planes with a frame one pixel wide: pixels, with replicated ones, and magnitudes, with zeros. */
struct magnitudes {
    uint8_t *pixels;
    int16_t *data;
    size_t pitch;
};

static int16_t *magnitude_row(const struct magnitudes *magnitudes, int y)
{
    return magnitudes->data + (size_t)((y + ROWS) % ROWS) * magnitudes->pitch + 1;
}

static uint8_t *pixel_row(const struct magnitudes *magnitudes, int y)
{
    return magnitudes->pixels + (size_t)((y + ROWS) % ROWS) * magnitudes->pitch + 1;
}

static void copy_row(const struct image *in, int y, const struct magnitudes *magnitudes)
{
    const uint8_t *row = image_row(in, y < 0 ? 0 : y >= in->height ? in->height - 1 : y);
    uint8_t *copy = pixel_row(magnitudes, y);

    memcpy(copy, row, (size_t)in->width);
    copy[-1] = row[0];
    copy[in->width] = row[in->width - 1];
}

static void find_row(int width, int y, const struct magnitudes *magnitudes)
{
    const uint8_t *above = pixel_row(magnitudes, y - 1), *row = pixel_row(magnitudes, y);
    const uint8_t *below = pixel_row(magnitudes, y + 1);
    int16_t *restrict to = magnitude_row(magnitudes, y);

    for (int x = 0; x < width; x++) {
        const int16_t falling = (int16_t)(below[x + 1] - above[x - 1]), rising = (int16_t)(above[x + 1] - below[x - 1]);
        const int16_t gx = (int16_t)(2 * (row[x + 1] - row[x - 1]) + falling + rising);
        const int16_t gy = (int16_t)(2 * (below[x] - above[x]) + falling - rising);
        to[x] = (int16_t)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy));
    }
}

/* Marks weak pixels and strong ones. */
static void mark_row(const struct image *in, int y, const struct magnitudes *magnitudes, bool thin,
                     struct edges_thresholds thresholds, uint8_t *out)
{
    const int16_t *above = magnitude_row(magnitudes, y - 1), *row = magnitude_row(magnitudes, y);
    const int16_t *below = magnitude_row(magnitudes, y + 1);
    const int width = in->width; /* which `out` might change, for all the compiler knows */

    for (int x = 0; x < width; x++)
        out[x] = row[x] <= thresholds.weak ? NOTHING : row[x] > thresholds.strong ? EDGE : WEAK;
    for (int x = 0; thin && x < width; x++)
        if (out[x] && !edges_is_ridge(hough_sobel(in, x, y), above, row, below, x))
            out[x] = NOTHING;
}

/* A turn through rows first to last - 1: for the histogram, or with thresholds for the mask. */
static void find_band(const struct image *in, int first, int last, const struct magnitudes *magnitudes, bool thin,
                      const struct edges_thresholds *thresholds, uint32_t *histogram, struct image *mask)
{
    copy_row(in, first - 2, magnitudes);
    copy_row(in, first - 1, magnitudes);
    for (int y = first - 1; y <= last; y++) {
        copy_row(in, y + 1, magnitudes);
        if (y < 0 || y >= in->height)
            memset(magnitude_row(magnitudes, y), 0, (size_t)in->width * sizeof(int16_t));
        else
            find_row(in->width, y, magnitudes);
        for (int x = 0; !thresholds && y >= first && y < last && x < in->width; x++)
            histogram[magnitude_row(magnitudes, y)[x] >> EDGES_BIN_SHIFT]++;
        if (thresholds && y > first)
            mark_row(in, y - 1, magnitudes, thin, *thresholds, image_row(mask, y - 1));
    }
}

static enum status run(const struct image *in, struct image *out, const struct edges_params *params)
{
    const size_t pitch = (size_t)in->width + 2, pixels = (size_t)in->width * (size_t)in->height;
    const int bands = omp_get_max_threads();
    const size_t size = (size_t)bands * ROWS * pitch;
    const struct magnitudes magnitudes = {calloc(size, 1), calloc(size, sizeof(int16_t)), pitch};
    struct edges_thresholds thresholds;
    const bool is_followed = params->low != EDGES_NO_LOW, wants_places = is_followed || out[1].data;
    uint32_t *places = wants_places ? malloc(pixels * sizeof *places) : NULL, histogram[EDGES_BINS] = {0};
    struct image scratch = {0}, *mask = out[0].data ? &out[0] : &scratch;
    enum status status = STATUS_OK;

    if (!magnitudes.pixels || !magnitudes.data || (wants_places && !places)) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the gradients of %zu pixels", pixels);
        goto out;
    }
    if (!out[0].data)
        TRY(image_create(&scratch, in->width, in->height, 1, PIXEL_U8));
    for (int turn = params->high == EDGES_OTSU ? 0 : 1; turn < 2; turn++) {
        thresholds = edges_find_thresholds(params, histogram);
#pragma omp parallel for schedule(static, 1) reduction(+ : histogram[:EDGES_BINS])
        for (int band = 0; band < bands; band++) {
            const size_t begin = (size_t)band * ROWS * pitch;
            const struct magnitudes own = {magnitudes.pixels + begin, magnitudes.data + begin, pitch};
            find_band(in, (int)((int64_t)in->height * band / bands), (int)((int64_t)in->height * (band + 1) / bands),
                      &own, params->thin == EDGES_CANNY, turn ? &thresholds : NULL, histogram, mask);
        }
    }
    if (is_followed)
        places_follow(mask, places, places_find(mask, places));
    if (out[1].data)
        places_list(in, places, places_find(mask, places), &out[1]);
out:
    free(magnitudes.pixels);
    free(magnitudes.data);
    free(places);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(edges)
