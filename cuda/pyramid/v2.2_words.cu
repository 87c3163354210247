/*
 * Idea:     a thread makes four neighbouring pixels and writes a word. All its 16 loads are on their way before the first is needed,
 *           where v2.0's eight pixels one after the other waited eight times.
 * Changed:  make_word(), one a thread, in tiles of 128 x 8 pixels whose words are those of the pyramid; bytes at a cell's edges.
 * Expect:   v2.0 took 40 us, v1.2, which copied and filled besides, 29 us: a launch of 5 us should be one of 2 us. 14 us.
 * Result:   28.1 us, 1.42 times v2.0 (results/h200/pyramid/pyramid_1280x720.json), but only as fast as v1.3, twice what was
 *           expected.
 * From:     cuda/v2.0
 */
/* Try: make bench-pyramid SIZE=1280x720 VERSIONS=cuda */
#include "cuda/pyramid/shared/plan.cuh"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = PLAN_HEIGHT };

struct state {
};

/* Four pixels of row y of a level, from column x on; those beyond the level have the value `fill`, and x may be negative. */
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
    const struct plan_tile tile = plan_find(plan, first + blockIdx.x);
    const struct pyramid_level &level = plan.layout.levels[tile.level];

    const int x = tile.x + 4 * threadIdx.x - level.x % 4, y = tile.y + threadIdx.y, end = plan.widths[tile.level];

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
