/*
 * Idea:     neighbours are multiplied in pairs. One instruction multiplies two 16-bit gradients by two others and adds
 *           both products to a sum of 32 bits (pmaddwd, vpdpwssd), so no gradient is ever widened.
 * Changed:  sum_along() in vectors of pairs, whose sums belong to every other column: those of even columns and those of
 *           odd ones are stored in turn.
 * Expect:   a box of 3 takes 12 multiplications and no addition for 32 pixels, where along has 18, 12 additions and 12
 *           conversions: a tenth faster.
 * Result:   no different from along (results/cpu2/harris/harris_1920x1080.json).
 * From:     cpu/along
 */
/* Try: make bench-harris */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "common/simd/simd.h"
#include "cpu/harris/shared/corners.h"
#include "cpu/harris/shared/gradients.h"

enum { BAND = 64 /* rows that a thread takes on at once */ };
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

/* sums[x] = SUM taps[j] * rows[j][x]; without taps all weigh 1. A size that is constant unrolls the loop inside. */
SIMD_INLINE void weigh_size(const int32_t *const rows[], const int *taps, int size, int32_t *sums, int count)
{
#pragma omp simd
    for (int x = 0; x < count; x++) {
        int32_t sum = 0;
        for (int j = 0; j < size; j++)
            sum += taps ? taps[j] * rows[j][x] : rows[j][x];
        sums[x] = sum;
    }
}

static void weigh(const int32_t *const rows[], const struct harris_params *params, int32_t *sums, int count)
{
    if (params->size == 3 && params->window == HARRIS_BOX)
        weigh_size(rows, NULL, 3, sums, count);
    else
        weigh_size(rows, params->taps, params->size, sums, count);
}

/* The response of `count` pixels of a row from their sums, three rows of `length`. */
static void respond_row(const int32_t *sums, size_t length, const struct harris_params *params, int count, float *row)
{
    const int32_t *a = sums, *b = sums + length, *c = b + length;
    const double k = params->k;

    if (params->window == HARRIS_NONE || !harris_fits_doubles(params)) {
        for (int x = 0; x < count; x++)
            row[x] = harris_response(params, (struct harris_sums){a[x], b[x], c[x]});
        return;
    }
#pragma omp simd
    for (int x = 0; x < count; x++) {
        const double da = a[x], db = b[x], dc = c[x], trace = da + dc;
        row[x] = (float)fma(-k, trace * trace, da * dc - db * db) * params->scale;
    }
}

/* Rows top to bottom - 1 of the response. `room` holds `size` + 1 rows of 3 x `length` numbers, the ring of sums along rows
 * and the sums over the window, and two lines of half as wide numbers, the gradients. */
static void respond(const struct image *in, struct image *response, const struct harris_params *params, int top,
                    int bottom, int32_t *room, size_t length)
{
    const int size = params->size, first = top - size / 2, width = in->width;
    int32_t *sums = room + 3 * length * (size_t)size;
    int16_t *gx = (int16_t *)(sums + 3 * length), *gy = gx + length;
    const int32_t *rows[HARRIS_MAX_SIZE];

    for (int n = 0; n < bottom - top + size - 1; n++) {
        int32_t *along = room + 3 * length * (size_t)(n % size);
        make_gradients(in, params, harris_reflect(first + n, in->height), -(size / 2), (int)length - size / 2, gx, gy);
        if (size == 3 && params->window == HARRIS_BOX)
            sum_along(gx, gy, NULL, 3, along, length);
        else
            sum_along(gx, gy, params->taps, size, along, length);
        const int y = top + n - (size - 1);
        if (y < top)
            continue;
        for (size_t kind = 0; kind < 3; kind++) {
            for (int j = 0; j < size; j++)
                rows[j] = room + length * (3 * (size_t)((n + 1 + j) % size) + kind);
            weigh(rows, params, sums + kind * length, width);
        }
        float *row = image_row(response, y);
        respond_row(sums, length, params, width, row);
        for (int x = 0; x < width && params->border == HARRIS_FRAME; x++)
            row[x] = harris_in_frame(params, x, y, width, in->height) ? 0 : row[x];
    }
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    const size_t length = (size_t)in->width + SLACK, room = 3 * length * (size_t)(params->size + 1) + length;
    int32_t *rooms = malloc((size_t)omp_get_max_threads() * room * sizeof *rooms);
    struct image scratch = {0}, response;
    enum status status = STATUS_OK;

    if (!rooms)
        return status_set(STATUS_NO_MEMORY, "no memory for rings of %d rows", params->size);
    TRY(harris_open_response(in, out, &scratch, &response));
#pragma omp parallel for schedule(dynamic)
    for (int top = 0; top < in->height; top += BAND)
        respond(in, &response, params, top, top + BAND < in->height ? top + BAND : in->height,
                rooms + (size_t)omp_get_thread_num() * room, length);
    if (out[1].data)
        TRY(find_corners(&response, params, &out[1]));
out:
    free(rooms);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(harris, .instruction_set = SIMD_NAME)
