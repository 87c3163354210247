/*
 * Problem:  Corners take 4 ms after 1.4 ms of response (1920x1080, 2 threads): cpu/simd reads it
 *           twice.
 * Idea:     Kernel fusion: look for corners while their rows are in the cache. The largest response
 *           so far gives a threshold that is at most the final one; write_corners() drops the rest.
 * Expect:   3 times as fast: no pass over the whole response is left.
 * Result:   2.3 times as fast as cpu/simd with both outputs and 16 threads, 2.4 ms
 *           (results/h100/harris/harris_3840x2160.json).
 * Run:      make diff-harris A=cpu/simd B=cpu/corners
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "common/simd/simd.h"
#include "cpu/harris/shared/gradients.h"

enum { BAND = 64 /* rows of a band, about */ };
enum { PIXELS = SIMD_BYTES / 2, SLACK = PIXELS + HARRIS_MAX_SIZE + 1 };
enum { STRETCH = 64 /* columns that are passed over where none exceeds the threshold */ };

/* Sums along a row over the window's width, three rows of `length`; without taps all weigh 1. */
SIMD_INLINE void sum_along(const int16_t *gx, const int16_t *gy, const int *taps, int size, int32_t *sums,
                           size_t length)
{
    for (size_t x = 0; x < length - SLACK; x += PIXELS) {
        simd_i32 a[2] = {{0}}, b[2] = {{0}}, c[2] = {{0}};
        for (int odd = 0; odd < 2; odd++) {
            for (int i = 0; i < size; i += 2) {
                const uint32_t after = i + 1 == size ? 0 : taps ? (uint32_t)taps[i + 1] : 1;
                const simd_i16 weights = (simd_i16)simd_splat((taps ? (uint32_t)taps[i] : 1) | after << 16);
                const simd_i16 dx = (simd_i16)simd_load(gx + x + odd + i), weighed_x = weights * dx;
                const simd_i16 dy = (simd_i16)simd_load(gy + x + odd + i), weighed_y = weights * dy;
                a[odd] = simd_dot2(a[odd], weighed_x, dx);
                b[odd] = simd_dot2(b[odd], weighed_x, dy);
                c[odd] = simd_dot2(c[odd], weighed_y, dy);
            }
        }
        simd_store_in_turn(sums + x, a[0], a[1]);
        simd_store_in_turn(sums + length + x, b[0], b[1]);
        simd_store_in_turn(sums + 2 * length + x, c[0], c[1]);
    }
}

/* The sums over the window of column x. */
SIMD_INLINE struct harris_sums sum_down(const int32_t *const rows[], const int *taps, int size, size_t length, size_t x)
{
    struct harris_sums sum = {0, 0, 0};

    for (int j = 0; j < size; j++) {
        const int32_t weight = taps ? taps[j] : 1;
        sum.a += weight * rows[j][x];
        sum.b += weight * rows[j][length + x];
        sum.c += weight * rows[j][2 * length + x];
    }
    return sum;
}

/* The response of `count` pixels of a row from their sums, three rows of `length`. */
SIMD_INLINE void respond_row(const int32_t *const rows[], const int *taps, int size, size_t length,
                             const struct harris_params *params, int count, float *row)
{
    const double k = params->k;

    if (params->window == HARRIS_NONE || !harris_fits_doubles(params)) {
        for (size_t x = 0; x < (size_t)count; x++)
            row[x] = harris_response(params, sum_down(rows, taps, size, length, x));
        return;
    }
#pragma omp simd
    for (size_t x = 0; x < (size_t)count; x++) {
        const struct harris_sums sum = sum_down(rows, taps, size, length, x);
        const double da = sum.a, db = sum.b, dc = sum.c, trace = da + dc;
        row[x] = (float)fma(-k, trace * trace, da * dc - db * db) * params->scale;
    }
}

/* What a thread knows after some rows: the largest response in them, and the peaks above the threshold that it gave. */
struct peaks {
    float largest;
    struct harris_list found;
};

static float largest_of(const float *row, int count)
{
    float largest = 0;

#pragma omp simd reduction(max : largest)
    for (int x = 0; x < count; x++)
        largest = row[x] > largest ? row[x] : largest;
    return largest;
}

/* Whether around[radius][x] is the largest of those within `radius`, the first in raster order of equal ones. */
static bool is_largest(float *const around[], int radius, int x)
{
    const float own = around[radius][x];

    for (int j = 0; j <= 2 * radius; j++)
        for (int i = x - radius; i <= x + radius; i++)
            if (j < radius || (j == radius && i < x) ? around[j][i] >= own : around[j][i] > own)
                return false;
    return true;
}

/* Peaks of row y, whose response is around[radius], with `radius` rows above and below it. */
static enum status find_peaks(struct peaks *peaks, float *const around[], const struct harris_params *params, int width,
                              int y)
{
    const int radius = params->radius;
    const float *above = around[radius - 1], *row = around[radius], *below = around[radius + 1];
    const float threshold = harris_threshold(params, peaks->largest);
    enum status status = STATUS_OK;

    for (int x = radius; x < width - radius; x += STRETCH) {
        const int end = x + STRETCH < width - radius ? x + STRETCH : width - radius;
        uint8_t peak[STRETCH];

        if (!(largest_of(row + x, end - x) > threshold))
            continue;
#pragma omp simd
        for (int i = x; i < end; i++) {
            const float own = row[i];
            peak[i - x] = (own > threshold) & (own > above[i - 1]) & (own > above[i]) & (own > above[i + 1]) &
                          (own > row[i - 1]) & (own >= row[i + 1]) & (own >= below[i - 1]) & (own >= below[i]) &
                          (own >= below[i + 1]);
        }
        for (int i = x; i < end; i++)
            if (peak[i - x] && (radius == 1 || is_largest(around, radius, i)))
                TRY(harris_append(&peaks->found, harris_key(row[i], width, i, y)));
    }
out:
    return status;
}

/* Adds what a thread knows to what all know. */
static enum status join(struct peaks *all, const struct peaks *peaks)
{
    enum status status = STATUS_OK;

    all->largest = fmaxf(all->largest, peaks->largest);
    for (size_t i = 0; i < peaks->found.count; i++)
        TRY(harris_append(&all->found, peaks->found.keys[i]));
out:
    return status;
}

/* The table: of the peaks those above the threshold of the whole picture, which is not below that of any part. */
static enum status write_corners(struct peaks *all, const struct harris_params *params, int width,
                                 struct image *corners)
{
    const float threshold = harris_threshold(params, all->largest);
    size_t count = 0;

    for (size_t i = 0; i < all->found.count; i++)
        if (all->found.keys[i] > harris_key(threshold, 1, 0, 0)) /* the largest key of this response */
            all->found.keys[count++] = all->found.keys[i];
    all->found.count = count;
    return harris_write_corners(&all->found, params, width, corners);
}

/* Rows top to bottom - 1: their response, their peaks or both. `room` holds `size` rows of 3 x `length` numbers, the
 * ring of sums along rows, four lines of half as wide numbers, the gradients and what they are made of, and the ring of
 * responses. */
SIMD_INLINE enum status respond(const struct image *in, const struct image out[], const struct harris_params *params,
                                const int *taps, int size, int top, int bottom, int32_t *room, size_t length,
                                struct peaks *peaks)
{
    const int width = in->width, radius = out[1].data ? params->radius : 0;
    const int begin = top > radius ? top - radius : 0,
              end = bottom + radius < in->height ? bottom + radius : in->height;
    int16_t *gx = (int16_t *)(room + 3 * length * (size_t)size), *gy = gx + length, *lines = gy + length;
    float *ring = (float *)(lines + 2 * length), *around[2 * HARRIS_MAX_RADIUS + 1];
    const int32_t *rows[HARRIS_MAX_SIZE];
    enum status status = STATUS_OK;

    for (int n = 0; n < end - begin + size - 1; n++) {
        int32_t *along = room + 3 * length * (size_t)(n % size);
        make_gradients(in, harris_reflect(begin - size / 2 + n, in->height), params, gx, length, lines);
        sum_along(gx, gy, taps, size, along, length);
        const int y = begin + n - (size - 1);
        if (y < begin)
            continue;
        for (int j = 0; j < size; j++)
            rows[j] = room + 3 * length * (size_t)((n + 1 + j) % size);
        for (int j = 0; j < 2 * radius; j++)
            around[j] = around[j + 1];
        float *row = ring + length * (size_t)(y % (2 * radius + 1));
        if (out[0].data && y >= top && y < bottom)
            row = image_row(&out[0], y);
        around[2 * radius] = row;
        respond_row(rows, taps, size, length, params, width, row);
        for (int x = 0; x < width && params->border == HARRIS_FRAME; x++)
            row[x] = harris_in_frame(params, x, y, width, in->height) ? 0 : row[x];
        if (out[1].data)
            peaks->largest = fmaxf(peaks->largest, largest_of(row, width));
        if (out[1].data && y - radius >= top && y - 2 * radius >= 0)
            TRY(find_peaks(peaks, around, params, width, y - radius));
    }
out:
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const int threads = omp_get_max_threads(), bands = threads * (1 + in->height / (2 * BAND * threads));
    const int band = (in->height + bands - 1) / bands;
    const size_t length = (size_t)in->width + SLACK;
    const size_t room = length * (size_t)(3 * params->size + 2 + 2 * params->radius + 1);
    /* 0, for the lanes behind the end of a row are computed too. */
    int32_t *rooms = calloc((size_t)threads * room, sizeof *rooms);
    struct peaks all = {0};
    enum status status = STATUS_OK;

    if (!rooms)
        return status_set(STATUS_NO_MEMORY, "no memory for rings of %d rows", params->size);
#pragma omp parallel for schedule(dynamic)
    for (int top = 0; top < in->height; top += band) {
        const int bottom = top + band < in->height ? top + band : in->height;
        int32_t *own = rooms + (size_t)omp_get_thread_num() * room;
        struct peaks peaks = {0};
        enum status done;
#pragma omp critical
        peaks.largest = all.largest;
        if (params->size == 3 && params->window == HARRIS_BOX)
            done = respond(in, out, params, NULL, 3, top, bottom, own, length, &peaks);
        else
            done = respond(in, out, params, params->taps, params->size, top, bottom, own, length, &peaks);
#pragma omp critical
        status = status != STATUS_OK ? status : done != STATUS_OK ? done : join(&all, &peaks);
        free(peaks.found.keys);
    }
    if (status == STATUS_OK && out[1].data)
        status = write_corners(&all, params, in->width, &out[1]);
    free(rooms);
    free(all.found.keys);
    return status;
}

RUNGS_CPU_VERSION(harris, .instruction_set = SIMD_NAME)
