/*
 * Problem:  cpu/branchless writes and reads 6 MB of buffers, and it thins one pixel at a time.
 * Idea:     A ring buffer of four rows per thread stays in L1. Thinning runs in 16-bit lanes, too:
 *           |gy| against tan(22.5) |gx|, the upper half of a product, gives the edge's direction.
 * Expect:   1.3 times as fast, as loops are vectors already; 3 times as fast with thinning.
 * Result:   3.7 times as fast as cpu/branchless with 16 threads, 147 us
 *           (results/h100/edges/edges_1920x1080.json); the reason is not known. With thinning and
 *           hysteresis 2.8 times (results/h200/edges/edges_1920x1080_peers.json).
 * Run:      make diff-edges A=cpu/branchless B=cpu/simd P="low=50 high=150 thin=canny"
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/edges.h"
#include "common/simd/simd.h"
#include "cpu/edges/shared/places.h"

enum { ROWS = 4, LANES = SIMD_BYTES / 2 };

/* The last ROWS rows, with a frame one pixel wide: of replicated pixels, and of magnitudes 0. */
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

static simd_i16 load(const int16_t *from)
{
    return (simd_i16)simd_load(from);
}

struct gradients {
    simd_i16 x, y;
};

static struct gradients sobel(const uint8_t *above, const uint8_t *row, const uint8_t *below)
{
    const simd_i16 falling = simd_load_wide(below + 1) - simd_load_wide(above - 1);
    const simd_i16 rising = simd_load_wide(above + 1) - simd_load_wide(below - 1);
    const simd_i16 level = simd_load_wide(row + 1) - simd_load_wide(row - 1);
    const simd_i16 upright = simd_load_wide(below) - simd_load_wide(above);

    return (struct gradients){level + level + falling + rising, upright + upright + falling - rising};
}

static void find_row(int width, int y, const struct magnitudes *magnitudes)
{
    const uint8_t *above = pixel_row(magnitudes, y - 1), *row = pixel_row(magnitudes, y);
    const uint8_t *below = pixel_row(magnitudes, y + 1);
    int16_t *to = magnitude_row(magnitudes, y);

    for (int x = 0; x < width; x += LANES) {
        const struct gradients g = sobel(above + x, row + x, below + x);
        simd_store(to + x, (simd_u8)(simd_absolute(g.x) + simd_absolute(g.y)));
    }
    to[width] = 0;
}

/* edges_is_ridge() of each lane: -1 or 0. */
static simd_i16 ridges(struct gradients g, const int16_t *above, const int16_t *row, const int16_t *below)
{
    const simd_i16 m = load(row), width = simd_absolute(g.x), height = simd_absolute(g.y);
    const simd_i16 tangent = simd_multiply_high(width, (simd_i16){0} + 2 * 13573), is_rising = (g.x ^ g.y) >> 15;
    const simd_i16 is_level = height <= tangent, is_upright = height - width - width > tangent;
    const simd_i16 level = (m > load(row - 1)) & (m >= load(row + 1));
    const simd_i16 upright = (m > load(above)) & (m >= load(below));
    const simd_i16 falling = (m > load(above - 1)) & (m > load(below + 1));
    const simd_i16 rising = (m > load(above + 1)) & (m > load(below - 1));
    const simd_i16 slanted = (rising & is_rising) | (falling & ~is_rising);

    return (level & is_level) | (~is_level & ((upright & is_upright) | (slanted & ~is_upright)));
}

/* Marks weak and strong pixels. */
static void mark_row(const struct image *in, int y, const struct magnitudes *magnitudes, bool thin,
                     struct edges_thresholds thresholds, uint8_t *out)
{
    const int16_t *above = magnitude_row(magnitudes, y - 1), *row = magnitude_row(magnitudes, y);
    const int16_t *below = magnitude_row(magnitudes, y + 1);
    const uint8_t *pixels[ROWS] = {pixel_row(magnitudes, y - 1), pixel_row(magnitudes, y),
                                   pixel_row(magnitudes, y + 1)};

    for (int x = 0; x < in->width; x += LANES) {
        const int count = in->width - x < LANES ? in->width - x : LANES;
        simd_i16 weak = load(row + x) > (int16_t)thresholds.weak;
        const simd_i16 strong = load(row + x) > (int16_t)thresholds.strong;
        if (thin && simd_any(weak))
            weak &= ridges(sobel(pixels[0] + x, pixels[1] + x, pixels[2] + x), above + x, row + x, below + x);
        simd_store_narrow(out + x, weak & ((strong & EDGE) | WEAK), count);
    }
}

/* One pass over rows first to last - 1: fills the histogram, or with thresholds the mask. */
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
    const size_t pitch = (size_t)in->width + 2 + LANES, pixels = (size_t)in->width * (size_t)in->height;
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
    for (int pass = params->high == EDGES_OTSU ? 0 : 1; pass < 2; pass++) {
        thresholds = edges_find_thresholds(params, histogram);
#pragma omp parallel for schedule(static, 1) reduction(+ : histogram[:EDGES_BINS])
        for (int band = 0; band < bands; band++) {
            const size_t begin = (size_t)band * ROWS * pitch;
            const struct magnitudes own = {magnitudes.pixels + begin, magnitudes.data + begin, pitch};
            find_band(in, (int)((int64_t)in->height * band / bands), (int)((int64_t)in->height * (band + 1) / bands),
                      &own, params->thin == EDGES_CANNY, pass ? &thresholds : NULL, histogram, mask);
        }
    }
    if (is_followed)
        places_follow(mask, places);
    if (out[1].data)
        places_list(in, places, places_find(mask, places), &out[1]);
out:
    free(magnitudes.pixels);
    free(magnitudes.data);
    free(places);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(edges, .instruction_set = SIMD_NAME)
