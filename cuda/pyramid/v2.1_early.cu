/*
 * Problem:  cuda/v2.0 has six launches, one after the other. The last four have so few blocks that
 *           to start them takes longer than their work: 17 of 26 us.
 * Idea:     Programmatic dependent launch (common/cuda/early.cuh): a kernel starts beside the end
 *           of the one before, finds its tiles, and then waits for the level that it reads.
 * Expect:   18 us: five starts of 1.5 us less.
 * Result:   1.3 times as fast as cuda/v2.0, 20.7 us
 *           (results/h200/pyramid/pyramid_1280x720_early.json).
 * Run:      make diff-pyramid A=cuda/v2.0 B=cuda/v2.1
 */
#include "common/algo/pyramid.h"
#include "common/cuda/device.h"
#include "common/cuda/early.cuh"

struct state {
};

enum { TILE_WIDTH = 128, TILE_HEIGHT = 8, BLOCK_WIDTH = TILE_WIDTH / 4, BLOCK_HEIGHT = TILE_HEIGHT };

/* The cells of the levels cover the pyramid: each reaches to the next level of its shelf and down to the next shelf.
 *
 *     0 0 0 0 0 0 0 0 .        . is in the cell of level 0 and has the value `fill`
 *     0 0 0 0 0 0 0 0 .
 *     1 1 1 1 2 2 2 - -        - belongs to level 2: to its right, or below it
 *     1 1 1 1 - - - - -
 */
struct plan {
    struct pyramid_layout layout;
    int widths[PYRAMID_MAX_LEVELS], heights[PYRAMID_MAX_LEVELS]; /* of the cells */
    int columns[PYRAMID_MAX_LEVELS], tiles[PYRAMID_MAX_LEVELS];
    int fill;
};

struct tile {
    int level, x, y; /* of its first pixel, in its level */
};

static int make_plan(struct plan *plan, const struct image *in, const struct pyramid_params *params)
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
        plan->columns[l] = (int)ceiling_divide(plan->widths[l] + own->x % 4, TILE_WIDTH);
        plan->tiles[l] = plan->columns[l] * (int)ceiling_divide(plan->heights[l], TILE_HEIGHT);
        tiles += plan->tiles[l];
    }
    return tiles;
}

/* Tile `index`: those of level 0, of level 1 and so on. */
static __device__ struct tile find_tile(const struct plan &plan, int index)
{
    int level = 0;

    while (index >= plan.tiles[level])
        index -= plan.tiles[level++];
    return {level, index % plan.columns[level] * TILE_WIDTH, index / plan.columns[level] * TILE_HEIGHT};
}

/* Four pixels of row y of a level, from column x on, which may be negative; those beyond the level are `fill`. */
static __device__ unsigned make_word(const struct plan &plan, const struct image &in, const struct image &out, int l,
                                     int x, int y)
{
    const struct pyramid_level &level = plan.layout.levels[l], &source = plan.layout.levels[level.source];
    const struct image &from = level.source == 0 ? in : out;
    struct pyramid_tap row = pyramid_find_tap(min(y, level.height - 1), level.relative, source.height);
    const uint8_t *upper = (const uint8_t *)image_row(&from, source.y + row.first) + source.x;
    const uint8_t *lower = (const uint8_t *)image_row(&from, source.y + row.second) + source.x;
    unsigned word = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int column = min(max(x + i, 0), level.width - 1);
        unsigned pixel =
            l == 0 ? ((const uint8_t *)image_row(&in, min(y, level.height - 1)))[column]
                   : pyramid_blend(upper, lower, pyramid_find_tap(column, level.relative, source.width), row.weight);
        pixel = x + i < level.width && y < level.height ? pixel : plan.fill;
        word |= pixel << 8 * i;
    }
    return word;
}

/* Tiles from `first` on. */
static __global__ void pyramid_kernel(struct image in, struct image out, const __grid_constant__ struct plan plan,
                                      int first)
{
    const struct tile tile = find_tile(plan, first + blockIdx.x);
    const struct pyramid_level &level = plan.layout.levels[tile.level];

    const int x = tile.x + 4 * threadIdx.x - level.x % 4, y = tile.y + threadIdx.y, end = plan.widths[tile.level];

    allow_next();
    wait_for_last();
    if (x >= end || y >= plan.heights[tile.level])
        return;
    const unsigned word = make_word(plan, in, out, tile.level, x, y);
    uint8_t *to = (uint8_t *)image_row(&out, level.y + y) + level.x + x;
    if (x >= 0 && x + 4 <= end) {
        *(unsigned *)to = word;
        return;
    }
    for (int i = max(0, -x); i < min(4, end - x); i++)
        to[i] = word >> 8 * i;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pyramid_params *params, cudaStream_t stream)
{
    struct plan plan;
    enum status status = STATUS_OK;
    cudaLaunchAttribute early;
    const unsigned attributes = early_attributes(&early);

    (void)state;
    make_plan(&plan, in, params);
    for (int first = 0, next, tiles = 0; first < plan.layout.count; first = next) {
        unsigned own = 0;
        for (next = first;
             next == first || (next < plan.layout.count && plan.layout.levels[next].source < max(first, 1));)
            own += plan.tiles[next++];
        cudaLaunchConfig_t config = {own, dim3(BLOCK_WIDTH, BLOCK_HEIGHT), 0, stream, &early, attributes};
        CUDA_TRY(cudaLaunchKernelEx(&config, pyramid_kernel, *in, *out, plan, tiles));
        tiles += own;
    }
out:
    return status;
}

RUNGS_CUDA_VERSION(pyramid, .staged = true)
