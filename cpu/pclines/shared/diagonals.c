#include "cpu/pclines/shared/diagonals.h"
#include "common/simd/simd.h"

#include <string.h>

enum status diagonals_find(struct diagonals *diagonals, const struct image *in, const struct pclines_params *params)
{
    const int left = in->width / 2, above = in->height / 2, last = in->width - 1, count = last + in->height;
    const size_t stride = ((size_t)in->width + 63) / 64 * 8 + SIMD_BYTES + 16;
    const size_t size = ((size_t)count + 1 + DIAGONALS_BATCH) * stride;
    const struct points *points = &diagonals->points;
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, &diagonals->points, false));
    if (diagonals->capacity < size) {
        free(diagonals->spaces[0].marks);
        diagonals->spaces[0].marks = malloc(2 * size);
        diagonals->capacity = diagonals->spaces[0].marks ? size : 0;
        if (!diagonals->capacity)
            return status_set(STATUS_NO_MEMORY, "no memory for %d diagonals", count);
    }
    diagonals->spaces[1].marks = diagonals->spaces[0].marks + size;
#pragma omp parallel for schedule(static, 1)
    for (int s = 0; s < 2; s++) {
        struct diagonals_space *space = &diagonals->spaces[s];
        *space = (struct diagonals_space){
            .width = in->width,
            .height = in->height,
            .count = count,
            .slope = s == 0 ? last - left + in->height - 1 - above : left - last - above,
            .step = s == 0 ? -1 : 1,
            .origin = pclines_make_space(in->width, in->height, params).centre - left,
            .stride = stride,
            .marks = space->marks,
        };
        memset(space->marks, 0, size);
        for (size_t k = 0; k < points->count; k++) {
            const int x = (int)points->x[k], y = (int)points->y[k];
            const int i = (s == 0 ? in->height - 1 - y : y) - x + last;
            space->marks[(size_t)(i + 1) * stride + (size_t)x / 8] |= (uint8_t)(1 << x % 8);
        }
    }
out:
    return status;
}

void diagonals_free(struct diagonals *diagonals)
{
    points_free(&diagonals->points);
    free(diagonals->spaces[0].marks);
    *diagonals = (struct diagonals){0};
}

const char *diagonals_declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct pclines_params *)params)->hough.half_width == HOUGH_ALL_ROWS
               ? NULL
               : "points of a diagonal that vote for different rows do not move together; cpu/orientation_bins is for "
                 "those";
}
