/*
 * tiles.cuh: the tiles of windows that a pyramid's levels have, numbered, for a grid without empty blocks.
 */
#ifndef RUNGS_DETECT_STEPS_TILES_CUH
#define RUNGS_DETECT_STEPS_TILES_CUH

#include "common/algo/detect.h"

struct tile {
    int level, left, top; /* of its first window, in its level */
};

static inline HOST_DEVICE int tiles_along(int size, int window, int side)
{
    return size < window ? 0 : (size - window + side) / side;
}

/* Tile `index` of width x height windows; the level is layout->count for one behind the last. */
static inline HOST_DEVICE struct tile tile_find(const struct pyramid_layout *layout, int window, int width, int height,
                                                int index)
{
    struct tile tile = {0, 0, 0};

    for (; tile.level < layout->count; tile.level++) {
        const int columns = tiles_along(layout->levels[tile.level].width, window, width);
        const int count = columns * tiles_along(layout->levels[tile.level].height, window, height);

        if (index < count) {
            tile.left = index % columns * width;
            tile.top = index / columns * height;
            break;
        }
        index -= count;
    }
    return tile;
}

/* The first tile of each level and, behind the last level, their number; of a level without tiles that of the next one. */
struct tile_numbers {
    int first[PYRAMID_MAX_LEVELS + 1];
};

static inline struct tile_numbers tiles_number(const struct pyramid_layout *layout, int window, int width, int height)
{
    struct tile_numbers numbers = {};

    for (int l = 0; l < layout->count; l++)
        numbers.first[l + 1] = numbers.first[l] + tiles_along(layout->levels[l].width, window, width) *
                                                      tiles_along(layout->levels[l].height, window, height);
    return numbers;
}

/* As tile_find(), of a tile that there is. */
static inline __device__ struct tile tile_look_up(const struct tile_numbers &numbers,
                                                  const struct pyramid_layout &layout, int window, int width,
                                                  int height, int index)
{
    int level = 0;

    while (index >= numbers.first[level + 1])
        level++;
    const unsigned columns = tiles_along(layout.levels[level].width, window, width);
    const unsigned own = index - numbers.first[level], row = own / columns;

    return {level, (int)(own - row * columns) * width, (int)row * height};
}

static inline int tiles_count(const struct pyramid_layout *layout, int window, int width, int height)
{
    int count = 0;

    for (int l = 0; l < layout->count; l++)
        count +=
            tiles_along(layout->levels[l].width, window, width) * tiles_along(layout->levels[l].height, window, height);
    return count;
}

#endif
