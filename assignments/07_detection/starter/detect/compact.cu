/*
 * Idea:     a thread for each window of a tile takes it through the stages until one of them rejects it.
 * Changed:  (what is new since the starter, which is this file)
 * Expect:   (how many steps of warps, in place of how many; write it BEFORE you measure)
 */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 32, HEIGHT = 8, WINDOWS = WIDTH * HEIGHT /* of a tile, and threads of a block */ };

struct state {
    struct hits_step hits;
};

/* Whether stages `from` to `to` - 1 let the window whose upper left pixel is at `window` pass; adds to its response. */
static __device__ bool pass(const struct model_view &model, const uint8_t *window, size_t stride, int from, int to,
                            float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        *response += table[detect_stage_bin(model.feature, &model.stages[t], window, stride)];
        if (*response < model.stages[t].threshold)
            return false;
    }
    return true;
}

/* Tile (blockIdx.x, blockIdx.y) of level blockIdx.z. Which lanes of a warp still work after three stages? */
static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     struct model_view model, int window, struct hit_list list)
{
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int x = blockIdx.x * WIDTH + threadIdx.x % WIDTH, y = blockIdx.y * HEIGHT + threadIdx.x / WIDTH;
    float response = 0;

    if ((int)(blockIdx.x * WIDTH) + window > level.width || (int)(blockIdx.y * HEIGHT) + window > level.height)
        return; /* the whole block */
    if (x > level.width - window || y > level.height - window)
        return;
    if (pass(model, (const uint8_t *)image_row(&levels, level.y + y) + level.x + x, levels.stride, 0, model.count,
             &response) &&
        response >= model.min_response)
        hits_add(list, response, &layout, level.x + x, level.y + y);
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    return hits_setup(&state->hits, in, params, "cuda/v1.2");
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    enum status status = STATUS_OK;
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, WINDOWS, 0, stream>>>(hits->levels, hits->layout, hits_model(hits, params),
                                                params->pyramid.window, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(hits_end(hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    *state = {};
}

RUNGS_CUDA_VERSION(detect)
