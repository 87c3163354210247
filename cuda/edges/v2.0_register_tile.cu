/*
 * Problem:  cuda/v1.3 loads 11 samples per pixel (8 * 1.33) through L1 and waits at a barrier.
 * Idea:     Register tile: a thread walks down 8 rows of 4 pixels and keeps the last three rows of
 *           samples and magnitudes in registers, so rows are loaded once and no barrier is left.
 *           Loads and stores are 4 bytes wide (shared/walk.cuh).
 * Expect:   Kernel 3 times as fast: 60 magnitudes per 32 pixels, 12 instructions each.
 * Result:   Kernel 2.7 times as fast as cuda/v1.3 with blocks of 32x4 threads, 7.6 us
 *           (results/h100/edges/edges_1920x1080.json).
 * Run:      make diff-edges A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/walk.cuh"

struct state {
    struct edges_step step;
};

static int block_width = 32, block_height = 4;
static const int widths[] = {8, 16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

/* A thread holds 80 registers, and a multiprocessor has 65,536. */
static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return block_width * block_height > 768 ? "a block of more than 768 threads needs too many registers" : NULL;
}

/* With FOLLOW a marked pixel also becomes a tree of the union-find (shared/follow.cu). */
template <bool THIN, bool FOLLOW>
static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds,
                                   unsigned *parent)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const struct edges_thresholds limits = *thresholds;
    int samples[3][FAR];
    int16_t m[3][NEAR];
    struct hough_gradient g[2][NEAR];

    if (x >= in.width || y >= in.height)
        return;
    const struct words words = words_around(x, in.width);
    load(in, words, x, y - 2, samples[0]);
    load(in, words, x, y - 1, samples[1]);
#pragma unroll
    for (int r = -1; r <= ROWS; r++) { /* magnitudes of row y + r; then the one above it has all its neighbours */
        const int k = r + 1;
        load(in, words, x, y + r + 1, samples[(k + 2) % 3]);
        find_magnitudes(in, x, y + r, samples[k % 3], samples[(k + 1) % 3], samples[(k + 2) % 3], g[k % 2], m[k % 3]);
        if (r < 1 || y + r - 1 >= in.height)
            continue;
        unsigned marks = 0;
#pragma unroll
        for (int i = 1; i <= PIXELS; i++) {
            const int own = m[(k + 2) % 3][i];
            bool kept = own > limits.weak;
            if (kept && THIN)
                kept = edges_is_ridge(g[(k + 1) % 2][i], m[(k + 1) % 3], m[(k + 2) % 3], m[k % 3], i);
            const int mark = kept ? own > limits.strong ? EDGES_STRONG : EDGES_WEAK : EDGES_NOTHING;
            const unsigned node = edges_node(in.width, x + i - 1, y + r - 1);
            if (FOLLOW && kept)
                parent[node] = edges_first_parent(mark, node);
            marks |= mark << (i - 1) * 8;
        }
        uint8_t *out = (uint8_t *)image_row(&mask, y + r - 1) + x;
        if (x + PIXELS <= in.width)
            *(unsigned *)out = marks;
        else
            for (int i = 0; x + i < in.width; i++)
                out[i] = (uint8_t)(marks >> 8 * i);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    return edges_setup(&state->step, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    const bool follow = params->low != EDGES_NO_LOW;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x * PIXELS), ceiling_divide(in->height, block.y * ROWS));
    auto kernel = mark_kernel<false, false>;

    if (params->thin == EDGES_CANNY)
        kernel = follow ? mark_kernel<true, true> : mark_kernel<true, false>;
    else if (follow)
        kernel = mark_kernel<false, true>;
    TRY(edges_begin(&state->step, in, params, stream));
    kernel<<<grid, block, 0, stream>>>(*in, mask, state->step.thresholds, state->step.parent);
    CUDA_TRY(cudaGetLastError());
    TRY(edges_end_planted(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
}

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal)
