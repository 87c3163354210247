#include "cpu/edges/shared/places.h"

#include <omp.h>
#include <string.h>

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
        const int first = (int)((int64_t)mask->height * band / bands);
        uint32_t *own = places + (size_t)first * (size_t)mask->width;
        const size_t found = find_in_band(mask, first, (int)((int64_t)mask->height * (band + 1) / bands), own);
#pragma omp ordered
        {
            memmove(places + count, own, found * sizeof *own);
            count += found;
        }
    }
    return count;
}

void places_follow(struct image *mask, uint32_t *places, size_t count)
{
    while (count > 0) {
        const uint32_t place = places[--count];
        const int x = (int)(place % (uint32_t)mask->width), y = (int)(place / (uint32_t)mask->width);
        for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < mask->height; v++)
            for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < mask->width; u++) {
                uint8_t *pixel = (uint8_t *)image_row(mask, v) + u;
                if (*pixel != WEAK)
                    continue;
                *pixel = EDGE;
                places[count++] = (uint32_t)v * (uint32_t)mask->width + (uint32_t)u;
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
