/*
 * Problem:  cuda/v1.2 reads stages from constant memory, tables from global memory.
 * Idea:     __ldg() loads both through the read-only cache, part of L1. In Jošth 2014 that is as
 *           fast as constant memory. The question: is it on this GPU?
 * Expect:   0.9 times as fast as cuda/v1.2: a stage's 12 bytes become 3 more loads.
 * Result:   It is faster: 1.40 times as fast as cuda/v1.2, 1.63 ms; whether by stages or by tables
 *           is not measured (results/h100/detect/detect_1280x720.json).
 * Run:      make diff-detect A=cuda/v1.2 B=cuda/read_only
 * From:     cuda/v1.2
 */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 32, HEIGHT = 8 /* windows of a block */ };

struct state {
    struct hits_step hits;
};

static __device__ struct detect_stage load_stage(const struct detect_stage *from)
{
    union {
        unsigned words[sizeof(struct detect_stage) / sizeof(unsigned)];
        struct detect_stage stage;
    } loaded;

    for (unsigned i = 0; i < sizeof loaded.words / sizeof *loaded.words; i++)
        loaded.words[i] = __ldg((const unsigned *)from + i);
    return loaded.stage;
}

/* Whether no stage rejects the window whose upper left pixel is at `window`; its response. */
static __device__ bool is_hit(const struct model_view &model, const uint8_t *window, size_t stride, float *response)
{
    const float *table = model.tables;

    *response = 0;
    for (int t = 0; t < model.count; t++, table += model.bins) {
        const struct detect_stage stage = load_stage(&model.stages[t]);
        *response += __ldg(&table[detect_stage_bin(model.feature, &stage, window, stride)]);
        if (*response < stage.threshold)
            return false;
    }
    return *response >= model.min_response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     struct model_view model, int window, struct hit_list list)
{
    extern __shared__ uint8_t tile[];
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
    __syncthreads();
    if (x > level.width - window || y > level.height - window)
        return;
    if (is_hit(model, tile + threadIdx.y * width + threadIdx.x, width, &response))
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
    size_t shared = (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, block, shared, stream>>>(hits->levels, hits->layout, hits_model(hits, params),
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
