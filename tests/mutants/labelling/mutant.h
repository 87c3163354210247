/*
 * mutant.h: what the mutants of labelling share: a right answer by flooding, whose parts each of them spoils.
 */
#ifndef RUNGS_LABELLING_MUTANT_H
#define RUNGS_LABELLING_MUTANT_H

#include <stdbool.h>
#include <stdlib.h>

#include "common/algo/labelling.h"

/* Labels the component that holds pixel (x, y) by a stack of raster indices, which has room for all pixels. */
static inline void mutant_flood(const struct image *in, struct image *out, int connectivity, int x, int y, int label,
                                int *stack)
{
    int count = 0;

    stack[count++] = y * in->width + x;
    ((int32_t *)image_row(out, y))[x] = label;
    while (count > 0) {
        const int at = stack[--count], left = at % in->width, top = at / in->width;
        for (int v = top - 1; v <= top + 1; v++)
            for (int u = left - 1; u <= left + 1; u++) {
                if (u < 0 || v < 0 || u >= in->width || v >= in->height || (connectivity == 4 && u != left && v != top))
                    continue;
                int32_t *to = (int32_t *)image_row(out, v) + u;
                if (((const uint8_t *)image_row(in, v))[u] && *to == 0) {
                    *to = label;
                    stack[count++] = v * in->width + u;
                }
            }
    }
}

#endif
