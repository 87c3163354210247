/*
 * Problem:  In cuda/v1.2 lanes look up different entries: a sector of global memory each.
 * Idea:     A block copies the first 16 stages (before: constant memory) and their tables to
 *           shared memory, whose banks serve lanes with different entries at the same time.
 * Expect:   0.8 times as fast as cuda/v1.2: the block of 256 windows has to copy 16 KB first.
 * Result:   1.08 times as fast as cuda/v1.2, 2.11 ms (results/h100/detect/detect_1280x720.json): so
 *           the copy costs less than the lookups save.
 * Run:      make diff-detect A=cuda/v1.2 B=cuda/shared
 * From:     cuda/v1.2
 */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 32, HEIGHT = 8 /* windows of a block */, KEPT = 16 /* stages that it has in shared memory */ };

struct state {
    struct hits_step hits;
};

/* What a block keeps of the model; the tables of its stages follow. */
struct kept_stages {
    struct detect_stage stages[KEPT];
};

/* Whether no stage rejects the window whose upper left pixel is at `window`; its response. */
static __device__ bool is_hit(const struct kept_stages *kept, const struct model_view &model, const uint8_t *window,
                              size_t stride, float *response)
{
    *response = 0;
    for (int t = 0; t < model.count; t++) {
        const struct detect_stage &stage = t < KEPT ? kept->stages[t] : model.stages[t];
        const float *table = (t < KEPT ? (const float *)(kept + 1) : model.tables) + t * model.bins;
        *response += table[detect_stage_bin(model.feature, &stage, window, stride)];
        if (*response < stage.threshold)
            return false;
    }
    return *response >= model.min_response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     struct model_view model, int window, struct hit_list list)
{
    extern __shared__ struct kept_stages shared[];
    const int kept = min(model.count, (int)KEPT), own = threadIdx.y * blockDim.x + threadIdx.x;
    float *tables = (float *)(shared + 1);
    uint8_t *tile = (uint8_t *)(tables + kept * model.bins);
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;
    int x = left + threadIdx.x, y = top + threadIdx.y;
    int width = blockDim.x + window - 1, height = blockDim.y + window - 1;
    float response;

    if (left > level.width - window || top > level.height - window)
        return;
    for (int v = threadIdx.y; v < height && top + v < level.height; v += blockDim.y)
        for (int u = threadIdx.x; u < width && left + u < level.width; u += blockDim.x)
            tile[v * width + u] = ((const uint8_t *)image_row(&levels, level.y + top + v))[level.x + left + u];
    for (int i = own; i < kept; i += blockDim.x * blockDim.y)
        shared->stages[i] = model.stages[i];
    for (int i = own; i < kept * model.bins; i += blockDim.x * blockDim.y)
        tables[i] = model.tables[i];
    __syncthreads();
    if (x > level.width - window || y > level.height - window)
        return;
    if (is_hit(shared, model, tile + threadIdx.y * width + threadIdx.x, width, &response))
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
    const int beyond = params->pyramid.window - 1;
    enum status status = STATUS_OK;
    dim3 block(WIDTH, HEIGHT);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y), hits->layout.count);
    struct model_view model = hits_model(hits, params);
    size_t shared = sizeof(struct kept_stages) + (size_t)min(model.count, (int)KEPT) * model.bins * sizeof(float) +
                    (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, block, shared, stream>>>(hits->levels, hits->layout, model, params->pyramid.window,
                                                   hits->list);
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
