/*
 * Problem:  The block of cuda/v1.2, 32 x 8 threads, is a guess.
 * Idea:     Width and height of the block are parameters of the launch; `rungs tune` tries their
 *           values.
 * Expect:   A few percent: higher blocks read fewer halo pixels (23 more rows and columns than
 *           threads), but more of their warps idle.
 * Result:   1.00 times as fast as cuda/v1.2 with 32 x 8, 2.28 ms
 *           (results/h100/detect/detect_1280x720.json): no difference.
 * Run:      build/rungs tune detect:cuda/v1.3
 */
#include "cuda/detect/shared/hits.h"

static int block_width = 32, block_height = 8;
static const int block_widths[] = {32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "windows of a block along x"},
                                    {"block_height", &block_height, block_heights, "windows of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    const int beyond = params ? ((const struct detect_params *)params)->pyramid.window - 1 : 0;

    (void)in;
    return device_block_illegal(block_width * block_height,
                                (size_t)(block_width + beyond) * (size_t)(block_height + beyond));
}

struct state {
    struct hits_step hits;
};

/* Whether no stage rejects the window whose upper left pixel is at `window`; its response. */
static __device__ bool is_hit(const struct stages &stages, const struct model_view &model, const uint8_t *window,
                              size_t stride, float *response)
{
    const float *table = model.tables;

    *response = 0;
    for (int t = 0; t < model.count; t++, table += model.bins) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += table[detect_stage_bin(model.feature, &stage, window, stride)];
        if (*response < stage.threshold)
            return false;
    }
    return *response >= model.min_response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct hit_list list)
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
    if (is_hit(stages, model, tile + threadIdx.y * width + threadIdx.x, width, &response))
        hits_add(list, response, &layout, level.x + x, level.y + y);
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    return hits_setup(&state->hits, in, params, "cuda/v1.3");
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int beyond = params->pyramid.window - 1;
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y), hits->layout.count);
    size_t shared = (size_t)(block_width + beyond) * (block_height + beyond);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, block, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
                                                   hits_model(hits, params), params->pyramid.window, hits->list);
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

RUNGS_CUDA_VERSION(detect, .tunables = tunables, .illegal = illegal)
