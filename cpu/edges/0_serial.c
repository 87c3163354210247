/*
 * Idea:     The definition, one pass per step: gradients and magnitudes, thresholds, thinning (only
 *           the largest magnitude across an edge stays), hysteresis (weak pixels joined to a strong
 *           one become edge points), the list. Hysteresis keeps edge points to visit on a stack.
 * Expect:   About 8 ns per pixel, 16 ms at 1920x1080, mostly for clamping coordinates of
 *           neighbours.
 * Result:   15.9 ms on cpu2 (results/cpu2/edges/edges_1920x1080.json), as predicted; 29 ms on the
 *           H100's host (results/h100/edges/edges_1920x1080.json).
 * Run:      make bench-edges
 */
#include <stdlib.h>

#include "common/algo/edges.h"

enum { NOTHING, WEAK = 1, EDGE = 255 };

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
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const int m = edges_magnitude(hough_sobel(in, x, y));
            magnitude_row(magnitudes, y)[x] = (int16_t)m;
            histogram[m >> EDGES_BIN_SHIFT]++;
        }
}

/* Marks weak pixels and strong pixels, and pushes the places of strong ones onto the stack; returns their number. */
static size_t mark(const struct image *in, const struct magnitudes *magnitudes, const struct edges_params *params,
                   struct edges_thresholds thresholds, struct image *mask, uint32_t *stack)
{
    size_t strong = 0;

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
            if (out[x] == EDGE)
                stack[strong++] = (uint32_t)y * (uint32_t)in->width + (uint32_t)x;
        }
    }
    return strong;
}

/* Weak neighbours of edge points become edge points; pixels that stay weak become nothing. */
static void follow(struct image *mask, uint32_t *stack, size_t count)
{
    while (count > 0) {
        const uint32_t place = stack[--count];
        const int x = (int)(place % (uint32_t)mask->width), y = (int)(place / (uint32_t)mask->width);
        for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < mask->height; v++)
            for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < mask->width; u++) {
                uint8_t *pixel = (uint8_t *)image_row(mask, v) + u;
                if (*pixel != WEAK)
                    continue;
                *pixel = EDGE;
                stack[count++] = (uint32_t)v * (uint32_t)mask->width + (uint32_t)u;
            }
    }
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++)
            if (((uint8_t *)image_row(mask, y))[x] == WEAK)
                ((uint8_t *)image_row(mask, y))[x] = NOTHING;
}

static void list_points(const struct image *in, const struct image *mask, struct image *points)
{
    int count = 0;

    image_fill(points, 0);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            if (((const uint8_t *)image_row(mask, y))[x] != EDGE || ++count >= points->height)
                continue;
            const struct hough_gradient g = hough_sobel(in, x, y);
            int32_t *row = image_row(points, count);
            row[0] = x;
            row[1] = y;
            row[2] = g.x;
            row[3] = g.y;
        }
    *(int32_t *)points->data = count;
}

static enum status run(const struct image *in, struct image *out, const struct edges_params *params)
{
    const size_t pitch = (size_t)in->width + 2, pixels = (size_t)in->width * (size_t)in->height;
    struct magnitudes magnitudes = {calloc(pitch * ((size_t)in->height + 2), sizeof(int16_t)), pitch};
    uint32_t *stack = malloc(pixels * sizeof *stack), histogram[EDGES_BINS] = {0};
    struct image scratch = {0}, *mask = out[0].data ? &out[0] : &scratch;
    enum status status = STATUS_OK;

    if (!magnitudes.data || !stack) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the gradients of %zu pixels", pixels);
        goto out;
    }
    if (!out[0].data)
        TRY(image_create(&scratch, in->width, in->height, 1, PIXEL_U8));
    find_magnitudes(in, &magnitudes, histogram);
    follow(mask, stack, mark(in, &magnitudes, params, edges_find_thresholds(params, histogram), mask, stack));
    if (out[1].data)
        list_points(in, mask, &out[1]);
out:
    free(magnitudes.data);
    free(stack);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(edges)
