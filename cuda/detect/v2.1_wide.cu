/*
 * Idea:     a list of at most 256 entries is soon too short to fill the block's eight warps. A block has four windows for each
 *           thread, so that what is left after the list still does.
 * Changed:  a fixed tile of 64 x 16 windows for 256 threads, and loops over windows and over entries. First after how many
 *           stages remains to be searched.
 * Expect:   a quarter of the blocks, each with fewer pixels that it shares with its neighbours, 3.3 times the windows' own instead
 *           of 6.7 times: a fifth faster than v2.0.
 * Result:   1.94 ms, 4 % less (results/h200/detect/detect_1280x720.json).
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 64, HEIGHT = 16, WINDOWS = WIDTH * HEIGHT, THREADS = 256 };

static int after = 3;
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static struct tunable tunables[] = {{"first", &after, afters, "stages before the rearrangement"}, {}};

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
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int width = WIDTH + window - 1, height = HEIGHT + window - 1;

    if (left > level.width - window || top > level.height - window)
        return;
    for (int i = threadIdx.x; i < width * height; i += THREADS)
        if (left + i % width < level.width && top + i / width < level.height)
            tile[i] = ((const uint8_t *)image_row(&levels, level.y + top + i / width))[level.x + left + i % width];
    if (threadIdx.x == 0)
        rest.count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < WINDOWS; i += THREADS) {
        float response = 0;
        if (left + i % WIDTH <= level.width - window && top + i / WIDTH <= level.height - window &&
            pass(stages, model, tile + i / WIDTH * width + i % WIDTH, width, 0, first, &response))
            keep(&rest, i, response);
    }
    __syncthreads();
    for (unsigned entry = threadIdx.x; entry < rest.count; entry += THREADS) {
        int i = rest.places[entry];
        float response = rest.responses[entry];
        if (pass(stages, model, tile + i / WIDTH * width + i % WIDTH, width, first, model.count, &response) &&
            response >= model.min_response)
            hits_add(list, response, &layout, level.x + left + i % WIDTH, level.y + top + i / WIDTH);
    }
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
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);
    size_t shared = (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
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

RUNGS_CUDA_VERSION(detect, .tunables = tunables)
