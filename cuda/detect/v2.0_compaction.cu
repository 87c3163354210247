/*
 * Problem:  cuda/v1.3 diverges: a window is rejected after 3 stages on average, a warp after 20.
 * Idea:     Compaction: after 3, 10 and 40 stages the remaining windows move to a list in shared
 *           memory, and full warps go on with it, so no lane idles for a rejected window. Each of
 *           256 threads takes four windows (a tile has 64x16), so the list is long.
 * Expect:   2 times as fast as cuda/v1.3: two of three windows leave within 3 stages.
 * Result:   1.3 times as fast as cuda/v1.3 (results/h100/detect/detect_1280x720.json), probably
 *           because the grouping of hits (see cuda/v2.2) takes as long as before.
 * Run:      make diff-detect A=cuda/v1.3 B=cuda/v2.0
 */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 64, HEIGHT = 16, WINDOWS = WIDTH * HEIGHT, THREADS = 256, LANES = 32, PARTS = 4 };

static int after[PARTS - 1] = {3, 10, 40};
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static struct tunable tunables[] = {{"first", &after[0], afters, "stages before the first compaction"},
                                    {"second", &after[1], afters, "stages before the second"},
                                    {"third", &after[2], afters, "stages before the third"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return after[0] <= after[1] && after[1] <= after[2] ? NULL : "compactions in another order than the stages";
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
    for (int t = from; t < to; t++) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += model.tables[t * model.bins + detect_stage_bin(model.feature, &stage, window, stride)];
        if (*response < stage.threshold)
            return false;
    }
    return true;
}

/* Appends what the lanes of a warp keep. All of them call it: one atomic operation reserves the places of all.
 *
 *     lane     0 1 2 3 4 5 6 7 ...
 *     kept     . x . x x . . x         ballot = 10011010: four places from `first` on,
 *     entry      0   1 2     3         each lane's behind those of the lanes below it
 */
static __device__ void keep(struct left_windows *left, bool kept, int place, float response)
{
    unsigned ballot = __ballot_sync(0xffffffff, kept), lane = threadIdx.x % LANES, first = 0;

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
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int width = WIDTH + window - 1, height = HEIGHT + window - 1;

    if (left > level.width - window || top > level.height - window)
        return;
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
        for (unsigned entry = threadIdx.x; entry - threadIdx.x % LANES < from.count; entry += THREADS) {
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
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);
    size_t shared = (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = i < PARTS - 1 ? min(after[i], params->stage_count) : params->stage_count;
    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
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
