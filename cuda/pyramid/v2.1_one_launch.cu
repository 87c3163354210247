/*
 * Idea:     all levels in one launch. A block draws the number of its tile, tiles are numbered in the order of the levels, and a tile
 *           waits until all tiles of the level that it is made of are done. Whom it waits for has drawn before it and is at
 *           work, so nobody waits for ever.
 * Changed:  a counter of tiles drawn and one of tiles done for each level, and the wait.
 * Expect:   six launches in a graph are most of the time; a chain of six levels with 1 us of work each and 1 us to hear of the level
 *           before is 13 us, in place of 20 us.
 * Result:   42.2 us, slower still (results/h200/pyramid/pyramid_1280x720.json): the launches of a graph are not what takes the
 *           time.
 */
/* Try: make bench-pyramid SIZE=1280x720 VERSIONS=cuda */
#include "cuda/pyramid/shared/plan.cuh"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

/* Tiles drawn, and tiles of each level done. */
struct progress {
    unsigned drawn, done[PYRAMID_MAX_LEVELS];
};

struct state {
    struct progress *progress;
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

static __global__ void pyramid_kernel(struct image in, struct image out, const __grid_constant__ struct plan plan,
                                      struct progress *progress)
{
    __shared__ unsigned drawn;
    const bool first = threadIdx.x == 0 && threadIdx.y == 0;

    if (first)
        drawn = atomicAdd(&progress->drawn, 1u);
    __syncthreads();
    const struct plan_tile tile = plan_find(plan, drawn);
    const struct pyramid_level &level = plan.layout.levels[tile.level];
    if (first && level.source > 0) {
        while (atomicAdd(&progress->done[level.source], 0u) < (unsigned)plan.tiles[level.source])
            __nanosleep(50);
        __threadfence();
    }
    __syncthreads();
    for (int y = tile.y + threadIdx.y; y < min(tile.y + PLAN_HEIGHT, plan.heights[tile.level]); y += BLOCK_HEIGHT)
        for (int x = tile.x + threadIdx.x; x < min(tile.x + PLAN_WIDTH, plan.widths[tile.level]); x += BLOCK_WIDTH)
            ((uint8_t *)image_row(&out, level.y + y))[level.x + x] = find_pixel(plan, in, out, tile.level, x, y);
    __threadfence();
    __syncthreads();
    if (first)
        atomicAdd(&progress->done[tile.level], 1u);
}

static enum status setup(struct state *state, const struct image in[], const struct pyramid_params *params)
{
    (void)in, (void)params;
    return state->progress ? STATUS_OK : device_allocate((void **)&state->progress, sizeof *state->progress);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pyramid_params *params, cudaStream_t stream)
{
    struct plan plan;
    enum status status = STATUS_OK;
    int tiles = plan_make(&plan, in, params);

    CUDA_TRY(cudaMemsetAsync(state->progress, 0, sizeof *state->progress, stream));
    pyramid_kernel<<<tiles, dim3(BLOCK_WIDTH, BLOCK_HEIGHT), 0, stream>>>(*in, *out, plan, state->progress);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->progress);
    *state = {};
}

RUNGS_CUDA_VERSION(pyramid)
