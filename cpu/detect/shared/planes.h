/*
 * planes.h: the means of the three larger sizes of cells as pictures of their own, planes. A mean is at the place of
 * its cell's upper left pixel.
 */
#ifndef RUNGS_DETECT_STEPS_PLANES_H
#define RUNGS_DETECT_STEPS_PLANES_H

#include "common/algo/detect.h"

enum { PLANES_KINDS = 3 /* sizes of cells: 2 x 1, 1 x 2 and 2 x 2 pixels */ };

/* The first call creates the planes. */
static inline enum status planes_make(struct image planes[PLANES_KINDS], const struct detect_levels *levels)
{
    const struct image *in = &levels->image;
    enum status status = STATUS_OK;

    for (int kind = 0; kind < PLANES_KINDS; kind++)
        if (!planes[kind].data)
            TRY(detect_create_plane(levels, &planes[kind]));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *own = image_row(in, y), *below = image_row(in, y + 1 < in->height ? y + 1 : y);
        uint8_t *wide = image_row(&planes[0], y), *high = image_row(&planes[1], y);
        uint8_t *large = image_row(&planes[2], y);

        high[in->width - 1] = (uint8_t)((own[in->width - 1] + below[in->width - 1] + 1) / 2);
#pragma omp simd
        for (int x = 0; x < in->width - 1; x++) {
            wide[x] = (uint8_t)((own[x] + own[x + 1] + 1) / 2);
            high[x] = (uint8_t)((own[x] + below[x] + 1) / 2);
            large[x] = (uint8_t)((own[x] + own[x + 1] + below[x] + below[x + 1] + 2) / 4);
        }
    }
out:
    return status;
}

/* The first cell of a stage in the window that begins at the first pixel of the pyramid. */
static inline const uint8_t *planes_first_cell(const struct image planes[PLANES_KINDS],
                                               const struct detect_levels *levels, const struct detect_stage *stage)
{
    const int kind = stage->width - 1 + 2 * (stage->height - 1);
    const struct image *plane = kind ? &planes[kind - 1] : &levels->image;

    return (const uint8_t *)plane->data + stage->y * plane->stride + stage->x;
}

static inline void planes_free(struct image planes[PLANES_KINDS])
{
    for (int kind = 0; kind < PLANES_KINDS; kind++)
        image_free(&planes[kind]);
}

#endif
