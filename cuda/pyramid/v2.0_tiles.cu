/*
 * Idea:     no launch for copying and filling. A gap belongs to the level on its left or above it, and level 0 is made together with
 *           the levels that are made of the picture; a launch has as many blocks as its levels have tiles.
 * Changed:  tiles of 128 x 16 pixels by number (shared/plan.cuh), 8 pixels a thread; levels of the picture itself read that.
 * Expect:   the copy was 9.6 us of 28 us, a byte a thread and a gap of 2 million of them that are written over; 20 us.
 * Result:   39.9 us, a third slower than v1.2 (results/h200/pyramid/pyramid_1280x720.json): a thread that computes one byte,
 *           after it has looked for its level, costs more than the copy and the fill that are saved.
 * From:     cuda/v1.2
 */
/* Try: make bench-pyramid SIZE=1280x720 VERSIONS=cuda */
#include "cuda/pyramid/shared/plan.cuh"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

struct state {
};

/* Pixel x, y of a level's cell. */
static __device__ int find_pixel(const struct plan &plan, const struct image &in, const struct image &out, int l, int x,
                                 int y)
{
    const struct pyramid_level &level = plan.layout.levels[l], &source = plan.layout.levels[level.source];

    if (x >= level.width || y >= level.height)
        return plan.fill;
    if (l == 0)
        return ((const uint8_t *)image_row(&in, y))[x];
    const struct image &from = level.source == 0 ? in : out;
    struct pyramid_tap row = pyramid_find_tap(y, level.relative, source.height);
    const uint8_t *upper = (const uint8_t *)image_row(&from, source.y + row.first) + source.x;
    const uint8_t *lower = (const uint8_t *)image_row(&from, source.y + row.second) + source.x;
    return pyramid_blend(upper, lower, pyramid_find_tap(x, level.relative, source.width), row.weight);
}

/* Tiles from `first` on. */
static __global__ void pyramid_kernel(struct image in, struct image out, const __grid_constant__ struct plan plan,
                                      int first)
{
    const struct plan_tile tile = plan_find(plan, first + blockIdx.x);
    const struct pyramid_level &level = plan.layout.levels[tile.level];

    for (int y = tile.y + threadIdx.y; y < min(tile.y + PLAN_HEIGHT, plan.heights[tile.level]); y += BLOCK_HEIGHT)
        for (int x = tile.x + threadIdx.x; x < min(tile.x + PLAN_WIDTH, plan.widths[tile.level]); x += BLOCK_WIDTH)
            ((uint8_t *)image_row(&out, level.y + y))[level.x + x] = find_pixel(plan, in, out, tile.level, x, y);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pyramid_params *params, cudaStream_t stream)
{
    struct plan plan;
    enum status status = STATUS_OK;
    dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT);

    (void)state;
    plan_make(&plan, in, params);
    for (int first = 0, next, tiles = 0; first < plan.layout.count; first = next) {
        int own = 0;
        for (next = first;
             next == first || (next < plan.layout.count && plan.layout.levels[next].source < max(first, 1));)
            own += plan.tiles[next++];
        pyramid_kernel<<<own, block, 0, stream>>>(*in, *out, plan, tiles);
        CUDA_TRY(cudaGetLastError());
        tiles += own;
    }
out:
    return status;
}

RUNGS_CUDA_VERSION(pyramid)
