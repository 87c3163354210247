/*
 * plan.cuh: the tiles of a pyramid, numbered level by level. A level's cell reaches to the next level of its shelf and down to
 * the next shelf, so that cells cover the pyramid; what of a cell is not in its level has the value `fill`. A row of tiles has
 * room for a cell that begins up to three pixels behind its first tile, at a multiple of 4.
 */
#ifndef RUNGS_PYRAMID_STEPS_PLAN_CUH
#define RUNGS_PYRAMID_STEPS_PLAN_CUH

#include "common/algo/pyramid.h"
#include "common/cuda/device.h"

enum { PLAN_WIDTH = 128, PLAN_HEIGHT = 16 /* pixels of a tile */ };

struct plan {
    struct pyramid_layout layout;
    int widths[PYRAMID_MAX_LEVELS], heights[PYRAMID_MAX_LEVELS]; /* of the cells */
    int columns[PYRAMID_MAX_LEVELS], tiles[PYRAMID_MAX_LEVELS];
    int fill;
};

struct plan_tile {
    int level, x, y; /* of its first pixel, in its level */
};

static inline int plan_make(struct plan *plan, const struct image *in, const struct pyramid_params *params)
{
    const struct pyramid_layout *layout = &plan->layout;
    int tiles = 0;

    pyramid_lay_out(in->width, in->height, params, &plan->layout);
    plan->fill = params->fill;
    for (int l = 0; l < layout->count; l++) {
        const struct pyramid_level *own = &layout->levels[l];

        plan->widths[l] = layout->width - own->x;
        plan->heights[l] = layout->height - own->y;
        for (int k = 0; k < layout->count; k++) {
            const struct pyramid_level *other = &layout->levels[k];

            if (other->y == own->y && other->x > own->x)
                plan->widths[l] = min(plan->widths[l], other->x - own->x);
            if (other->y > own->y)
                plan->heights[l] = min(plan->heights[l], other->y - own->y);
        }
        plan->columns[l] = (int)ceiling_divide(plan->widths[l] + own->x % 4, PLAN_WIDTH);
        plan->tiles[l] = plan->columns[l] * (int)ceiling_divide(plan->heights[l], PLAN_HEIGHT);
        tiles += plan->tiles[l];
    }
    return tiles;
}

/* Tile `index`: those of level 0, of level 1 and so on. */
static inline __device__ struct plan_tile plan_find(const struct plan &plan, int index)
{
    int level = 0;

    while (index >= plan.tiles[level])
        index -= plan.tiles[level++];
    return {level, index % plan.columns[level] * PLAN_WIDTH, index / plan.columns[level] * PLAN_HEIGHT};
}

#endif
