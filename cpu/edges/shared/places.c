#include "cpu/edges/shared/places.h"

#include <omp.h>
#include <string.h>

enum { MOST_BANDS = 256 };

static int first_row(const struct image *mask, int band, int bands)
{
    return (int)((int64_t)mask->height * band / bands);
}

/* The places in rows first to last - 1. Eight pixels are one 64-bit number; only EDGE has the upper bit of its byte. */
static size_t find_in_band(const struct image *mask, int first, int last, uint32_t *places)
{
    size_t count = 0;

    for (int y = first; y < last; y++) {
        const uint8_t *row = image_row(mask, y);
        const uint32_t begin = (uint32_t)y * (uint32_t)mask->width;
        for (int x = 0; x < mask->width; x += 8) {
            uint64_t word = 0;
            memcpy(&word, row + x, mask->width - x < 8 ? (size_t)(mask->width - x) : 8);
            for (uint64_t found = word & 0x8080808080808080; found; found &= found - 1)
                places[count++] = begin + (uint32_t)(x + __builtin_ctzll(found) / 8);
        }
    }
    return count;
}

size_t places_find(const struct image *mask, uint32_t *places)
{
    const int bands = omp_get_max_threads();
    size_t count = 0;

#pragma omp parallel for schedule(static, 1) ordered
    for (int band = 0; band < bands; band++) {
        const int first = first_row(mask, band, bands);
        uint32_t *own = places + (size_t)first * (size_t)mask->width;
        const size_t found = find_in_band(mask, first, first_row(mask, band + 1, bands), own);
#pragma omp ordered
        {
            memmove(places + count, own, found * sizeof *own);
            count += found;
        }
    }
    return count;
}

static uint8_t *pixel_at(struct image *mask, uint32_t place)
{
    return (uint8_t *)image_row(mask, (int)(place / (uint32_t)mask->width)) + place % (uint32_t)mask->width;
}

/* Makes edge points of places in rows first to last - 1, and of the weak pixels there that chains join to them. */
static void follow_in_band(struct image *mask, int first, int last, uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *pixel_at(mask, places[i]) = EDGE;
    while (count > 0) {
        const uint32_t place = places[--count];
        const int x = (int)(place % (uint32_t)mask->width), y = (int)(place / (uint32_t)mask->width);
        for (int v = y > first ? y - 1 : first; v <= y + 1 && v < last; v++)
            for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < mask->width; u++) {
                uint8_t *pixel = (uint8_t *)image_row(mask, v) + u;
                if (*pixel != WEAK)
                    continue;
                *pixel = EDGE;
                places[count++] = (uint32_t)v * (uint32_t)mask->width + (uint32_t)u;
            }
    }
}

/* The weak pixels of row y beside an edge point of row `other`. */
static size_t find_joined(const struct image *mask, int y, int other, uint32_t *places)
{
    const uint8_t *row = image_row(mask, y), *edges = image_row(mask, other);
    size_t count = 0;

    for (int x = 0; x < mask->width; x++)
        if (row[x] == WEAK &&
            (edges[x] == EDGE || (x > 0 && edges[x - 1] == EDGE) || (x + 1 < mask->width && edges[x + 1] == EDGE)))
            places[count++] = (uint32_t)y * (uint32_t)mask->width + (uint32_t)x;
    return count;
}

/* A thread follows chains in its band of at least two rows, as far as they stay there; then bands look for weak pixels
 * beside their neighbours' edge points, until none has one. */
void places_follow(struct image *mask, uint32_t *places)
{
    const int threads = omp_get_max_threads(), most = threads < MOST_BANDS ? threads : MOST_BANDS;
    const int bands = most < mask->height / 2 ? most : mask->height > 1 ? mask->height / 2 : 1;
    size_t counts[MOST_BANDS], waiting = 1;

    for (int round = 0; waiting > 0; round++) {
        waiting = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : waiting)
        for (int band = 0; band < bands; band++) {
            const int first = first_row(mask, band, bands), last = first_row(mask, band + 1, bands);
            uint32_t *own = places + (size_t)first * (size_t)mask->width;
            if (round == 0) {
                counts[band] = find_in_band(mask, first, last, own);
            } else {
                counts[band] = first > 0 ? find_joined(mask, first, first - 1, own) : 0;
                if (last < mask->height)
                    counts[band] += find_joined(mask, last - 1, last, own + counts[band]);
            }
            waiting += counts[band];
        }
#pragma omp parallel for schedule(static, 1)
        for (int band = 0; band < bands; band++) {
            const int first = first_row(mask, band, bands), last = first_row(mask, band + 1, bands);
            follow_in_band(mask, first, last, places + (size_t)first * (size_t)mask->width, counts[band]);
        }
    }
#pragma omp parallel for schedule(static)
    for (int y = 0; y < mask->height; y++) {
        uint8_t *row = image_row(mask, y);
        for (int x = 0; x < mask->width; x++)
            row[x] = row[x] == EDGE ? EDGE : NOTHING;
    }
}

void places_list(const struct image *in, const uint32_t *places, size_t count, struct image *points)
{
    const int rows = points->height - 1, used = count < (size_t)rows ? (int)count : rows;
    int32_t *first = points->data;

    memset(first, 0, EDGES_COLUMNS * sizeof *first);
    first[0] = (int32_t)count;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; i++) {
        int32_t *row = image_row(points, i + 1);
        memset(row, 0, EDGES_COLUMNS * sizeof *row);
        if (i >= used)
            continue;
        row[0] = (int32_t)(places[i] % (uint32_t)in->width);
        row[1] = (int32_t)(places[i] / (uint32_t)in->width);
        const struct hough_gradient g = hough_sobel(in, row[0], row[1]);
        row[2] = g.x;
        row[3] = g.y;
    }
}
