#include "cpu/pclines/shared/diagonals.h"
#include "common/simd/simd.h"

#include <string.h>

static struct diagonals_space make_space(const struct image *in, const struct pclines_params *params, bool twisted,
                                         int bits)
{
    const int left = in->width / 2, above = in->height / 2, last = in->width - 1;
    const int last_row = in->height - 1, longest = in->width < in->height ? in->width : in->height;
    const int count = in->width + last_row, bits_of_count = 32 - __builtin_clz((unsigned)count);

    return (struct diagonals_space){
        .count = count,
        .planes = bits_of_count < 4 ? 4 : bits_of_count,
        .longest = longest,
        .height = in->height,
        .twisted = twisted,
        .last = last,
        .slope = twisted ? last - left + last_row - above : left - last - above,
        .step = twisted ? -1 : 1,
        .origin = pclines_make_space(in->width, in->height, params).centre - left,
        .stride = ((size_t)longest * (size_t)bits + 63) / 64 * 8 + SIMD_BYTES + 16,
    };
}

enum status diagonals_find(struct diagonals *diagonals, const struct image *in, const struct pclines_params *params,
                           int bits)
{
    const struct points *points = &diagonals->points;
    struct diagonals_space *spaces = diagonals->spaces;
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, &diagonals->points));
    for (int twisted = 1; twisted >= 0; twisted--) {
        uint8_t *marks = spaces[!twisted].marks;
        spaces[!twisted] = make_space(in, params, twisted, bits);
        spaces[!twisted].marks = marks;
    }
    const size_t stride = spaces->stride, size = ((size_t)spaces->count + 1 + DIAGONALS_BATCH) * stride;
    if (diagonals->capacity < size) {
        diagonals->capacity = 0;
        for (int s = 0; s < 2; s++) {
            free(spaces[s].marks);
            spaces[s].marks = malloc(size);
        }
        if (!spaces[0].marks || !spaces[1].marks)
            return status_set(STATUS_NO_MEMORY, "no memory for %d diagonals", spaces->count);
        diagonals->capacity = size;
    }
#pragma omp parallel for schedule(static, 1)
    for (int s = 0; s < 2; s++) {
        const struct diagonals_space *space = &spaces[s];
        memset(space->marks, 0, size);
        for (size_t k = 0; k < points->count; k++) {
            const int x = (int)points->x[k], y = (int)points->y[k];
            const int i = (space->twisted ? space->height - 1 - y : y) - x + space->last;
            const size_t bit = (size_t)(x - diagonals_start(space, i)) * (size_t)bits;
            space->marks[(size_t)i * stride + stride + bit / 8] |= (uint8_t)(1 << bit % 8);
        }
    }
out:
    return status;
}

void diagonals_free(struct diagonals *diagonals)
{
    points_free(&diagonals->points);
    free(diagonals->spaces[0].marks);
    free(diagonals->spaces[1].marks);
    *diagonals = (struct diagonals){0};
}

void diagonals_widen(const struct diagonals_space *space, const uint8_t *counters, int32_t *row, size_t cells)
{
    enum { BITS = 8 * SIMD_BYTES };

    for (size_t r = 0; r < cells; r += 32) {
        const uint8_t *words = counters + r / BITS * DIAGONALS_PLANES * SIMD_BYTES + r % BITS / 8;
        int32_t votes[32] = {0};
        for (int p = 0; p < space->planes; p++) {
            uint32_t word;
            memcpy(&word, words + p * SIMD_BYTES, sizeof word);
            for (int k = 0; k < 32; k++)
                votes[k] |= (int32_t)(word >> k & 1) << p;
        }
        memcpy(row + r, votes, (cells - r < 32 ? cells - r : 32) * sizeof *row);
    }
}

const char *diagonals_declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct pclines_params *)params)->hough.half_width == HOUGH_ALL_ROWS
               ? NULL
               : "points of a diagonal that vote for different rows do not move together; cpu/bins is for those";
}
