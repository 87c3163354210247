/*
 * Idea:     hysteresis in rounds: a weak pixel beside an edge point becomes one.
 * Changed:  4 rounds, whatever is left to do: a chain that goes on for longer is cut.
 * Expect:   no pattern recognised: wrong samples in x
 * Case:     33x31
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"

enum { NOTHING, WEAK = 1, EDGE = 255, ROUNDS = 4 };

struct state {
    struct image other; /* each round reads one mask and writes the other */
};

static __global__ void mark_kernel(struct image in, struct image mask, int weak, int strong)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    const int m = edges_magnitude(hough_sobel(&in, x, y));
    ((uint8_t *)image_row(&mask, y))[x] = m > strong ? EDGE : m > weak ? WEAK : NOTHING;
}

static __global__ void round_kernel(struct image from, struct image to, bool last)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    if (x >= from.width || y >= from.height)
        return;
    int mark = ((const uint8_t *)image_row(&from, y))[x];
    for (int v = max(y - 1, 0); mark == WEAK && v <= min(y + 1, from.height - 1); v++)
        for (int u = max(x - 1, 0); u <= min(x + 1, from.width - 1); u++)
            if (((const uint8_t *)image_row(&from, v))[u] == EDGE)
                mark = EDGE;
    ((uint8_t *)image_row(&to, y))[x] = (uint8_t)(last && mark == WEAK ? NOTHING : mark);
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    (void)params;
    return state->other.data ? STATUS_OK : device_image_create(&state->other, in);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(32, 8), grid(ceiling_divide(in->width, 32), ceiling_divide(in->height, 8));
    const struct edges_thresholds thresholds = edges_order_thresholds(params, 0);

    mark_kernel<<<grid, block, 0, stream>>>(*in, out[0], thresholds.weak, thresholds.strong);
    CUDA_TRY(cudaGetLastError());
    for (int i = 0; i < ROUNDS; i++) {
        round_kernel<<<grid, block, 0, stream>>>(i % 2 ? state->other : out[0], i % 2 ? out[0] : state->other,
                                                 i == ROUNDS - 1);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->other);
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct edges_params *params = (const struct edges_params *)params_erased;

    (void)in;
    return params->outputs != EDGES_MASK || params->high == EDGES_OTSU || params->thin != EDGES_THICK
               ? "the thick mask of fixed thresholds alone"
               : NULL;
}

RUNGS_CUDA_VERSION(edges, .declines = declines)
