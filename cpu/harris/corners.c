/*
 * Idea:     corners are found while the rows of the response are in the cache. The threshold is a part of the largest
 *           response of the whole picture, which is not known yet, but the largest so far gives a bound below it, which
 *           leaves few peaks; they are held against the final threshold when the largest is known.
 * Changed:  shared/peaks.c takes the place of find_corners() and is called for each row; with outputs=corners the response
 *           stays in a ring of 2 radius + 1 rows and never goes to memory. Of a row, stretches below the bound are passed.
 * Expect:   the detector takes no longer than the response alone, for it writes 4 bytes a pixel less and reads none again:
 *           half of peaks' time.
 * Result:   1.4 times peaks for both outputs (results/cpu2/harris/harris_1920x1080.json).
 * From:     cpu/shares
 */
/* Try: make bench-harris P="outputs=corners" */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "common/simd/simd.h"
#include "cpu/harris/shared/gradients.h"
#include "cpu/harris/shared/peaks.h"

enum { BAND = 64 /* rows that a thread takes on at once, about */ };
enum { PIXELS = SIMD_BYTES / 2, SLACK = PIXELS + HARRIS_MAX_SIZE + 1 };

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

/* Rows top to bottom - 1: their response, their peaks or both. `room` holds `size` rows of 3 x `length` numbers, the ring of
 * sums along rows, two lines of half as wide numbers, the gradients, and the ring of responses. */
SIMD_INLINE enum status respond(const struct image *in, const struct image out[], const struct harris_params *params,
                                const int *taps, int size, int top, int bottom, int32_t *room, size_t length,
                                struct peaks *peaks)
{
    const int width = in->width, radius = out[1].data ? params->radius : 0;
    const int begin = top > radius ? top - radius : 0,
              end = bottom + radius < in->height ? bottom + radius : in->height;
    int16_t *gx = (int16_t *)(room + 3 * length * (size_t)size), *gy = gx + length;
    float *kept = (float *)(gy + length), *lines[2 * HARRIS_MAX_RADIUS + 1];
    const int32_t *rows[HARRIS_MAX_SIZE];
    enum status status = STATUS_OK;

    for (int n = 0; n < end - begin + size - 1; n++) {
        int32_t *along = room + 3 * length * (size_t)(n % size);
        make_gradients(in, params, harris_reflect(begin - size / 2 + n, in->height), -(size / 2),
                       (int)length - size / 2, gx, gy);
        sum_along(gx, gy, taps, size, along, length);
        const int y = begin + n - (size - 1);
        if (y < begin)
            continue;
        for (int j = 0; j < size; j++)
            rows[j] = room + 3 * length * (size_t)((n + 1 + j) % size);
        for (int j = 0; j < 2 * radius; j++)
            lines[j] = lines[j + 1];
        float *row = kept + length * (size_t)(y % (2 * radius + 1));
        if (out[0].data && y >= top && y < bottom)
            row = image_row(&out[0], y);
        lines[2 * radius] = row;
        respond_row(rows, taps, size, length, params, width, row);
        for (int x = 0; x < width && params->border == HARRIS_FRAME; x++)
            row[x] = harris_in_frame(params, x, y, width, in->height) ? 0 : row[x];
        if (out[1].data)
            peaks_see(peaks, row, width);
        if (out[1].data && y - radius >= top && y - 2 * radius >= 0)
            TRY(peaks_find(peaks, lines, params, width, y - radius));
    }
out:
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const int threads = omp_get_max_threads(), bands = threads * (1 + in->height / (2 * BAND * threads));
    const int band = (in->height + bands - 1) / bands;
    const size_t length = (size_t)in->width + SLACK;
    const size_t room = length * (size_t)(3 * params->size + 1 + 2 * params->radius + 1);
    int32_t *rooms = malloc((size_t)threads * room * sizeof *rooms);
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
        status = status != STATUS_OK ? status : done != STATUS_OK ? done : peaks_join(&all, &peaks);
        free(peaks.found.keys);
    }
    if (status == STATUS_OK && out[1].data)
        status = peaks_write(&all, params, in->width, &out[1]);
    free(rooms);
    free(all.found.keys);
    return status;
}

RUNGS_CPU_VERSION(harris, .instruction_set = SIMD_NAME)
