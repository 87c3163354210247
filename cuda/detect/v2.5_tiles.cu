/*
 * Idea:     a block finds its tile in the list of those that there are; a level need not have as many as the largest.
 * Changed:  a grid of one dimension; tile_find() (shared/tiles.cuh) says which level and where.
 * Expect:   at 1280x720 8,000 blocks, two of three, had nothing to do; the device retires 800 of them a microsecond: 10 us less.
 * Result:   1.91 ms, 5 % slower than v2.3 (results/h200/detect/detect_1280x720.json): to look for a tile's level costs more.
 * From:     cuda/v2.3
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/hits.h"
#include "cuda/detect/shared/tiles.cuh"

enum { WIDTH = 64, HEIGHT = 16, WINDOWS = WIDTH * HEIGHT, THREADS = 256, PARTS = 4 };

static int after[PARTS - 1] = {3, 10, 40};
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static struct tunable tunables[] = {{"first", &after[0], afters, "stages before the first rearrangement"},
                                    {"second", &after[1], afters, "stages before the second"},
                                    {"third", &after[2], afters, "stages before the third"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return after[0] <= after[1] && after[1] <= after[2] ? NULL : "rearrangements in another order than the stages";
}

struct state {
    struct hits_step hits;
};

/* Where the parts of the stages end. */
struct parts {
    int ends[PARTS];
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

static __device__ void keep(struct left_windows *left, bool kept, int place, float response)
{
    unsigned ballot = __ballot_sync(0xffffffff, kept), lane = threadIdx.x % 32, first = 0;

    if (lane == 0 && ballot)
        first = atomicAdd(&left->count, (unsigned)__popc(ballot));
    first = __shfl_sync(0xffffffff, first, 0);
    if (!kept)
        return;
    unsigned entry = first + __popc(ballot & ((1u << lane) - 1));
    left->places[entry] = place;
    left->responses[entry] = response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct parts parts, struct hit_list list)
{
    extern __shared__ uint8_t tile[];
    __shared__ struct left_windows lists[2];
    const struct tile own = tile_find(&layout, window, WIDTH, HEIGHT, blockIdx.x);
    const struct pyramid_level &level = layout.levels[own.level];
    int left = own.left, top = own.top;
    int width = WIDTH + window - 1, height = HEIGHT + window - 1;

    for (int i = threadIdx.x; i < width * height; i += THREADS)
        if (left + i % width < level.width && top + i / width < level.height)
            tile[i] = ((const uint8_t *)image_row(&levels, level.y + top + i / width))[level.x + left + i % width];
    if (threadIdx.x < 2)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < WINDOWS; i += THREADS) {
        float response = 0;
        bool kept = left + i % WIDTH <= level.width - window && top + i / WIDTH <= level.height - window &&
                    pass(stages, model, tile + i / WIDTH * width + i % WIDTH, width, 0, parts.ends[0], &response);
        keep(&lists[0], kept, i, response);
    }
    for (int part = 1; part < PARTS; part++) {
        __syncthreads();
        const struct left_windows &from = lists[(part - 1) % 2];
        for (unsigned entry = threadIdx.x; entry - threadIdx.x % 32 < from.count; entry += THREADS) {
            int i = entry < from.count ? from.places[entry] : 0;
            float response = entry < from.count ? from.responses[entry] : 0;
            bool kept = entry < from.count && pass(stages, model, tile + i / WIDTH * width + i % WIDTH, width,
                                                   parts.ends[part - 1], parts.ends[part], &response);
            keep(&lists[part % 2], kept, i, response);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            lists[(part - 1) % 2].count = 0;
    }
    const struct left_windows &last = lists[(PARTS - 1) % 2];
    for (unsigned entry = threadIdx.x; entry < last.count; entry += THREADS)
        if (last.responses[entry] >= model.min_response)
            hits_add(list, last.responses[entry], &layout, level.x + left + last.places[entry] % WIDTH,
                     level.y + top + last.places[entry] / WIDTH);
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
    struct parts parts = {};
    int blocks = tiles_count(&hits->layout, params->pyramid.window, WIDTH, HEIGHT);
    size_t shared = (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = i < PARTS - 1 ? min(after[i], params->stage_count) : params->stage_count;
    TRY(hits_begin(hits, in, stream));
    if (blocks > 0)
        detect_kernel<<<blocks, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
                                                           hits_model(hits, params), params->pyramid.window, parts,
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

RUNGS_CUDA_VERSION(detect, .tunables = tunables, .illegal = illegal)
