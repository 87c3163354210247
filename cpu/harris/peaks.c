/*
 * Idea:     peaks in vectors. Each pixel is compared with its 8 neighbours without a branch, and the few that are left are
 *           looked at one by one; of each 256 pixels the largest is known beforehand, so that only stretches that exceed
 *           the threshold are looked at.
 * Changed:  find_corners() is this rung's own and in vectors; shared/corners.c had one for all rungs.
 * Expect:   nothing changes with outputs=response. With outputs=corners find_corners() takes four times as long as the
 *           response: two passes of one comparison and one jump a pixel. As vectors the first is bound by reading 8 MB, and
 *           the second sees a part of that again: the detector takes twice as long as its response.
 * Result:   twice as fast as simd for both outputs (results/cpu2/harris/harris_1920x1080.json); of the response alone as much as
 *           was expected, nothing.
 * From:     cpu/simd
 */
/* Try: make bench-harris */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/harris.h"
#include "common/simd/simd.h"

enum { BAND = 64 /* rows that a thread takes on at once */, STRETCH = 256 };

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

/* Peaks of row y from column x to end - 1, at most STRETCH of them, all with neighbours. Returns how many keys it wrote. */
static int find_peaks(const struct image *response, const struct harris_params *params, float threshold, int y, int x,
                      int end, uint64_t *keys)
{
    const float *row = image_row(response, y), *above = image_row(response, y - 1), *below = image_row(response, y + 1);
    uint8_t peak[STRETCH];
    int count = 0;

#pragma omp simd
    for (int i = x; i < end; i++) {
        const float own = row[i];
        peak[i - x] = (own > threshold) & (own > above[i - 1]) & (own > above[i]) & (own > above[i + 1]) &
                      (own > row[i - 1]) & (own >= row[i + 1]) & (own >= below[i - 1]) & (own >= below[i]) &
                      (own >= below[i + 1]);
    }
    for (int i = x; i < end; i++)
        if (peak[i - x] && (params->radius == 1 || harris_is_peak(response, i, y, params->radius)))
            keys[count++] = harris_key(row[i], response->width, i, y);
    return count;
}

static enum status find_corners(const struct image *response, const struct harris_params *params, struct image *corners)
{
    const int width = response->width, height = response->height, radius = params->radius;
    const int stretches = (width + STRETCH - 1) / STRETCH;
    float *tops = malloc((size_t)stretches * (size_t)height * sizeof *tops), largest = 0;
    struct harris_list list = {0};
    enum status status = STATUS_OK;

    if (!tops)
        return status_set(STATUS_NO_MEMORY, "no memory for the largest of %d stretches of %d rows", stretches, height);
#pragma omp parallel for collapse(2) schedule(static) reduction(max : largest)
    for (int y = 0; y < height; y++) {
        for (int s = 0; s < stretches; s++) {
            const float *row = image_row(response, y);
            const int end = s + 1 < stretches ? (s + 1) * STRETCH : width;
            float top = 0;
#pragma omp simd reduction(max : top)
            for (int x = s * STRETCH; x < end; x++)
                top = row[x] > top ? row[x] : top;
            tops[(size_t)y * (size_t)stretches + (size_t)s] = top;
            largest = top > largest ? top : largest;
        }
    }
    const float threshold = harris_threshold(params, largest);
#pragma omp parallel for collapse(2) schedule(dynamic, 16)
    for (int y = radius; y < height - radius; y++) {
        for (int s = 0; s < stretches; s++) {
            const int x = s ? s * STRETCH : radius, end = s + 1 < stretches ? (s + 1) * STRETCH : width - radius;
            uint64_t keys[STRETCH];
            if (!(tops[(size_t)y * (size_t)stretches + (size_t)s] > threshold))
                continue;
            const int count = find_peaks(response, params, threshold, y, x, end, keys);
#pragma omp critical
            for (int i = 0; i < count && status == STATUS_OK; i++)
                status = harris_append(&list, keys[i]);
        }
    }
    free(tops);
    return status == STATUS_OK ? harris_write_corners(&list, params, width, corners) : status;
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
