/*
 * Idea:     after some stages the windows that are left, and their responses, are written to a list in shared memory, and the
 *           threads of the block go on with its entries: full warps again, and the other warps are done.
 * Changed:  is_hit() became pass(), from one stage to another, with the list between two calls. After how many stages is a
 *           launch parameter.
 * Expect:   two of three windows leave within three stages, so the many stages behind them run in a third of the warps: twice
 *           as fast as v1.3.
 * Result:   2.03 ms, 1.19 times v1.3 (results/h200/detect/detect_1280x720.json); without the 0.83 ms of the suppression in both,
 *           1.32 times, far from twice.
 * From:     cuda/v1.3
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/hits.h"

enum { WINDOWS = 1024 /* of a block at most */ };

static int block_width = 32, block_height = 8, after = 3;
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static const int block_widths[] = {32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "windows of a block along x"},
                                    {"block_height", &block_height, block_heights, "windows of a block along y"},
                                    {"first", &after, afters, "stages before the rearrangement"},
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

/* Windows of a tile that are left: their places in it and responses. */
struct left_windows {
    unsigned short places[WINDOWS];
    float responses[WINDOWS];
    unsigned count;
};

/* Whether stages `from` to `to` - 1 let the window pass; adds to its response. */
static __device__ bool pass(const struct stages &stages, const struct model_view &model, const uint8_t *window,
                            size_t stride, int from, int to, float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += table[detect_stage_bin(model.feature, &stage, window, stride)];
        if (*response < stage.threshold)
            return false;
    }
    return true;
}

static __device__ void keep(struct left_windows *left, int place, float response)
{
    unsigned entry = atomicAdd(&left->count, 1u);

    left->places[entry] = place;
    left->responses[entry] = response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     int first, struct hit_list list)
{
    extern __shared__ uint8_t tile[];
    __shared__ struct left_windows rest;
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y, x = threadIdx.x, y = threadIdx.y;
    int width = blockDim.x + window - 1, height = blockDim.y + window - 1, own = y * blockDim.x + x;
    float response = 0;

    if (left > level.width - window || top > level.height - window)
        return;
    for (int v = threadIdx.y; v < height && top + v < level.height; v += blockDim.y)
        for (int u = threadIdx.x; u < width && left + u < level.width; u += blockDim.x)
            tile[v * width + u] = ((const uint8_t *)image_row(&levels, level.y + top + v))[level.x + left + u];
    if (own == 0)
        rest.count = 0;
    __syncthreads();
    if (left + x <= level.width - window && top + y <= level.height - window &&
        pass(stages, model, tile + y * width + x, width, 0, first, &response))
        keep(&rest, own, response);
    __syncthreads();
    if (own >= (int)rest.count)
        return;
    x = rest.places[own] % blockDim.x;
    y = rest.places[own] / blockDim.x;
    response = rest.responses[own];
    if (pass(stages, model, tile + y * width + x, width, first, model.count, &response) && response >= model.min_response)
        hits_add(list, response, &layout, level.x + left + x, level.y + top + y);
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
                                                   hits_model(hits, params), params->pyramid.window,
                                                   min(after, params->stage_count), hits->list);
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
