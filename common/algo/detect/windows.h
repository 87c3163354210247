/*
 * windows.h: what surrounds the stages of a version on the CPU, so that the version has nothing but the stages: the
 * pyramid, a plane for each size of cells, rows shared out among threads, and the tables.
 *
 * A plane has at each pixel the mean of the cell whose upper left pixel it is, so a stage looks at nine bytes.
 * DETECT_SPARE bytes behind the last row may be read.
 */
#ifndef RUNGS_DETECT_WINDOWS_H
#define RUNGS_DETECT_WINDOWS_H

#include "common/algo/detect.h"

#ifdef __cplusplus
extern "C" {
#endif

struct detect_windows {
    struct detect_levels levels; /* whose image is the plane of cells of 1 x 1 */
    struct image planes[3];      /* of 2 x 1, 1 x 2 and 2 x 2 pixels */
};

/* Where cell 0 of a stage lies for the window at (x, y) of the pyramid. Cell 3j + i is i * stage->width bytes to the
 * right of it and j * *step bytes below; those of the window at (x + 1, y) are one byte to the right. */
static inline const uint8_t *detect_find_cells(const struct detect_windows *windows, const struct detect_stage *stage,
                                               int x, int y, size_t *step)
{
    const int kind = stage->width - 1 + 2 * (stage->height - 1);
    const struct image *plane = kind ? &windows->planes[kind - 1] : &windows->levels.image;

    *step = stage->height * plane->stride;
    return (const uint8_t *)plane->data + (size_t)(y + stage->y) * plane->stride + (size_t)(x + stage->x);
}

/* Adds the hits among the windows that begin at row y, columns x to end - 1 of the pyramid, to the list. */
typedef enum status detect_look(const struct detect_windows *windows, const struct detect_params *params, int y, int x,
                                int end, struct detect_list *list);

/* run(): calls `look` for all rows of all levels, by all threads. *windows is zeroed before the first call, and
 * kept. */
enum status detect_all_windows(struct detect_windows *windows, const struct image *in, struct image out[],
                               const struct detect_params *params, detect_look *look);
void detect_free_windows(struct detect_windows *windows);

#ifdef __cplusplus
}
#endif
#endif
