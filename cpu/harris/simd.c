/*
 * Idea:     the rest of a row's loops as vectors. Up to a weight of 49 det and t are exact in doubles (harris.h): one
 *           instruction multiplies eight, and none 64-bit integers; fma and conversion are one each.
 * Changed:  respond_row(), in doubles where they are exact; weigh() knows the common window when it is compiled.
 * Expect:   some 70 vector instructions for 16 pixels: 1 ms at 1920x1080 on two cores, 5 times faster than rows.
 * Result:   3.1 times rows for the response alone, not 5 (results/cpu2/harris/harris_1920x1080_response.json); 2.1 ms.
 * From:     cpu/rows
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "common/simd/simd.h"
#include "cpu/harris/shared/corners.h"

enum { BAND = 64 /* rows that a thread takes on at once */ };

/* Repeats the products beside a row's first and last one, in reverse. */
static void reflect(int32_t *row, int width, int reach)
{
    for (int i = 1; i <= reach; i++) {
        row[-i] = row[harris_reflect(-i, width)];
        row[width - 1 + i] = row[harris_reflect(width - 1 + i, width)];
    }
}

/* Products of row y, those of one kind together. `lines` are two of `length` numbers: 1 2 1 and -1 0 1 down each column. */
static void multiply_row(const struct image *in, int y, const struct harris_params *params, int32_t *row, size_t length,
                         int16_t *lines)
{
    const uint8_t *above = image_row(in, harris_reflect(y - 1, in->height)), *own = image_row(in, y);
    const uint8_t *below = image_row(in, harris_reflect(y + 1, in->height));
    const int width = in->width, reach = params->size / 2, sobel = params->gradient == HARRIS_SOBEL;
    int16_t *smooth = lines + 1, *falling = lines + length + 1;
    int32_t *a = row + reach, *b = a + length, *c = b + length;

#pragma omp simd
    for (int x = 0; x < width; x++) {
        smooth[x] = (int16_t)(sobel ? above[x] + 2 * own[x] + below[x] : own[x]);
        falling[x] = (int16_t)(below[x] - above[x]);
    }
    smooth[-1] = smooth[harris_reflect(-1, width)];
    smooth[width] = smooth[harris_reflect(width, width)];
    falling[-1] = falling[harris_reflect(-1, width)];
    falling[width] = falling[harris_reflect(width, width)];
#pragma omp simd
    for (int x = 0; x < width; x++) {
        const int gx = smooth[x + 1] - smooth[x - 1];
        const int gy = sobel ? falling[x - 1] + 2 * falling[x] + falling[x + 1] : falling[x];
        a[x] = gx * gx;
        b[x] = gx * gy;
        c[x] = gy * gy;
    }
    reflect(a, width, reach);
    reflect(b, width, reach);
    reflect(c, width, reach);
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

/* Rows top to bottom - 1 of the response. `room` holds `size` + 2 rows of 3 x `length` numbers, the ring of products, sums
 * down the columns, sums over the window, and two lines of half as wide numbers. */
static void respond(const struct image *in, struct image *response, const struct harris_params *params, int top,
                    int bottom, int32_t *room, size_t length)
{
    const int size = params->size, first = top - size / 2, width = in->width;
    int32_t *columns = room + 3 * length * (size_t)size, *sums = columns + 3 * length;
    int16_t *lines = (int16_t *)(sums + 3 * length);
    const int32_t *rows[HARRIS_MAX_SIZE];

    for (int n = 0; n < bottom - top + size - 1; n++) {
        multiply_row(in, harris_reflect(first + n, in->height), params, room + 3 * length * (size_t)(n % size), length,
                     lines);
        const int y = top + n - (size - 1);
        if (y < top)
            continue;
        for (size_t kind = 0; kind < 3; kind++) {
            for (int j = 0; j < size; j++)
                rows[j] = room + length * (3 * (size_t)((n + 1 + j) % size) + kind);
            weigh(rows, params, columns + kind * length, width + size - 1);
            for (int i = 0; i < size; i++)
                rows[i] = columns + kind * length + i;
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
    const size_t length = (size_t)in->width + HARRIS_MAX_SIZE, room = 3 * length * (size_t)(params->size + 2) + length;
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
