/*
 * The kernel of cuda/v2.1, for that rung and those above it, which only make the list of points otherwise. It marks pixels as the one
 * of cuda/v2.0 does, and plants the forest of follow.cu where weak pixels will be followed.
 */
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/walk.cuh"

/* Sets all rows of a table of points to 0. */
static __device__ void clear(const struct image &table)
{
    const unsigned threads = blockDim.x * blockDim.y, block = blockIdx.y * gridDim.x + blockIdx.x;

    for (unsigned i = block * threads + threadIdx.y * blockDim.x + threadIdx.x; i < (unsigned)table.height;
         i += gridDim.x * gridDim.y * threads)
        *(int4 *)image_row(&table, (int)i) = make_int4(0, 0, 0, 0);
}

template <bool THIN, bool CLEAR>
static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds,
                                   unsigned *parent, struct image table)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const struct edges_thresholds limits = *thresholds;
    int samples[3][FAR];
    int16_t m[3][NEAR];
    struct hough_gradient g[2][NEAR];

    if (CLEAR)
        clear(table);
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
            if (parent && kept)
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

template <bool CLEAR>
static enum status launch(const struct edges_step *step, const struct image *in, const struct image *mask,
                          struct image table, const struct edges_params *params, dim3 block, cudaStream_t stream)
{
    const auto kernel = params->thin == EDGES_CANNY ? mark_kernel<true, CLEAR> : mark_kernel<false, CLEAR>;
    const dim3 grid(ceiling_divide(in->width, (int)block.x * PIXELS), ceiling_divide(in->height, (int)block.y * ROWS));
    enum status status = STATUS_OK;

    kernel<<<grid, block, 0, stream>>>(*in, *mask, step->thresholds, step->parent, table);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status edges_mark_and_plant(const struct edges_step *step, const struct image *in, const struct image *mask,
                                 const struct edges_params *params, dim3 block, cudaStream_t stream)
{
    return launch<false>(step, in, mask, {}, params, block, stream);
}

enum status edges_mark_and_clear(const struct edges_step *step, const struct image *in, const struct image *mask,
                                 struct image table, const struct edges_params *params, dim3 block, cudaStream_t stream)
{
    return launch<true>(step, in, mask, table, params, block, stream);
}
