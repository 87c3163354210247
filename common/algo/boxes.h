/*
 * boxes.h: bounding box, area and centroid of each component of a label image, the contract of every version in
 * cpu/boxes and cuda/boxes.
 *
 * Input    one i32 image, 1 channel, any size from 1x1 with at most 2^31-1 pixels. A value v from 1 to width * height
 *          marks a pixel of component v (labelling.h makes such labels); any other value is background. A component is
 *          all pixels with its value, whether they touch or not.
 * Output   an i32 image, BOXES_COLUMNS (8) wide and max_boxes + 1 high, in words a table:
 *
 *              row 0       count, 0, 0, 0, 0, 0, 0, 0
 *              row k >= 1  label, x_min, y_min, width, height, area, x_centroid, y_centroid
 *
 *          count is how many components have area >= min_area. Rows 1, 2 ... hold them by ascending label, at most
 *          max_boxes of them; what is left of the rows is 0. width = x_max - x_min + 1, height likewise, area in
 *          pixels.
 *
 * Centroid in 1/256 pixels, the centre of pixel (x,y) at (256 x, 256 y), rounded half up:
 *
 *              x_centroid = floor( (256 * SUM x + floor(area / 2)) / area )
 *
 *          for y likewise, in 64-bit integers (256 * 65534 * 2^31 < 2^55). All sums are exact, so their order does not
 *          matter and all versions agree to the bit.
 *
 * Parameters   min_area   1..2^31-1 pixels, default 1
 *              max_boxes  1..65534, default 4096
 *
 * Errors   not i32, more than 1 channel, more than 2^31-1 pixels: STATUS_BAD_INPUT.
 *
 * Peers    none: OpenCV gathers these sums only while it labels (connectedComponentsWithStats, the peer of labelling
 *          and of motion), NPP only boxes and pixel counts of labels that it has compressed itself; neither takes
 *          labels.
 *
 * Source   Gonzalez and Woods, Digital Image Processing, 4th edition, section 11.3 (area, centroid, bounding box);
 *          step 8 of Huet 2023, which leaves it on the CPU.
 */
#ifndef RUNGS_BOXES_H
#define RUNGS_BOXES_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BOXES_COLUMNS = 8 };

/* "label", "x_min" ..., NULL-terminated. */
extern const char *const boxes_column_names[];

struct boxes_params {
    int min_area, max_boxes;
};

/* What is gathered of one component. */
struct boxes_sums {
    int x_min, y_min, x_max, y_max, area;
    unsigned long long x_sum, y_sum;
};

/* Adds `from` to `to`; sums of area 0 hold nothing yet. */
static inline void boxes_add_sums(struct boxes_sums *to, const struct boxes_sums *from)
{
    if (from->area == 0)
        return;
    if (to->area == 0) {
        *to = *from;
        return;
    }
    to->x_min = from->x_min < to->x_min ? from->x_min : to->x_min;
    to->y_min = from->y_min < to->y_min ? from->y_min : to->y_min;
    to->x_max = from->x_max > to->x_max ? from->x_max : to->x_max;
    to->y_max = from->y_max > to->y_max ? from->y_max : to->y_max;
    to->area += from->area;
    to->x_sum += from->x_sum;
    to->y_sum += from->y_sum;
}

/* Adds the pixels (start, y) to (end - 1, y). */
static inline void boxes_add_run(struct boxes_sums *to, int start, int end, int y)
{
    const unsigned long long length = (unsigned long long)(end - start), last = (unsigned long long)(start + end - 1);
    struct boxes_sums run;

    run.x_min = start;
    run.x_max = end - 1;
    run.y_min = run.y_max = y;
    run.area = end - start;
    run.x_sum = length * last / 2;
    run.y_sum = length * (unsigned long long)y;
    boxes_add_sums(to, &run);
}

/* The component's row of the table. */
static HOST_DEVICE inline void boxes_write_row(const struct boxes_sums *sums, int label, int32_t *row)
{
    const unsigned long long area = (unsigned long long)sums->area;

    row[0] = label;
    row[1] = sums->x_min;
    row[2] = sums->y_min;
    row[3] = sums->x_max - sums->x_min + 1;
    row[4] = sums->y_max - sums->y_min + 1;
    row[5] = sums->area;
    row[6] = (int32_t)((256 * sums->x_sum + area / 2) / area);
    row[7] = (int32_t)((256 * sums->y_sum + area / 2) / area);
}

/* The rows that a table holds: count, unless max_boxes cut it short. */
static inline int boxes_count(const struct image *table)
{
    const int32_t count = *(const int32_t *)table->data;

    return count < table->height - 1 ? count : table->height - 1;
}

/* Outlines all boxes of a table on a u8 image (draw.h). */
void boxes_draw(struct image *image, const struct image *table, const uint8_t *colour);

#ifdef __cplusplus
}
#endif
#endif
