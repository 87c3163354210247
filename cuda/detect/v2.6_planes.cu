/*
 * Idea:     the mean of a cell is the same for all windows and stages that look at it: the tile has a plane for each size of
 *           cells, and a stage loads nine bytes.
 * Changed:  planes_fill() makes the planes, and planes_bin() reads a stage's nine bytes from them.
 * Expect:   most features have cells of 2 x 2 pixels, for which 36 loads and nine divisions become nine loads; four times the
 *           shared memory leaves room for eight blocks still. Twice as fast as v2.5.
 * Result:   1.16 ms, 1.64 times v2.5 (results/h200/detect/detect_1280x720.json); of its 1.16 ms the stages take 0.35, so they
 *           are some three times as fast.
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/planes.cuh"
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

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return planes_decline((const struct detect_params *)params);
}

/* Where the parts of the stages end. */
struct parts {
    int ends[PARTS];
};

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct parts parts, struct hit_list list)
{
    extern __shared__ uint8_t planes[];
    __shared__ struct left_windows<WINDOWS> lists[2];
    const struct tile own = tile_find(&layout, window, WIDTH, HEIGHT, blockIdx.x);
    const struct pyramid_level &level = layout.levels[own.level];
    int left = own.left, top = own.top;
    int width = WIDTH + window - 1, height = HEIGHT + window - 1, size = width * height;

    for (int i = threadIdx.x; i < size; i += THREADS)
        if (left + i % width < level.width && top + i / width < level.height)
            planes[i] = ((const uint8_t *)image_row(&levels, level.y + top + i / width))[level.x + left + i % width];
    __syncthreads();
    planes_fill(planes, width, size);
    if (threadIdx.x < 2)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < WINDOWS; i += THREADS) {
        float response = 0;
        bool kept = left + i % WIDTH <= level.width - window && top + i / WIDTH <= level.height - window &&
                    planes_pass(stages, model, planes + i / WIDTH * width + i % WIDTH, width, size, 0, parts.ends[0],
                                &response);
        left_keep(&lists[0], kept, i, response);
    }
    for (int part = 1; part < PARTS; part++) {
        __syncthreads();
        const struct left_windows<WINDOWS> &from = lists[(part - 1) % 2];
        for (unsigned entry = threadIdx.x; entry - threadIdx.x % 32 < from.count; entry += THREADS) {
            int i = entry < from.count ? from.places[entry] : 0;
            float response = entry < from.count ? from.responses[entry] : 0;
            bool kept = entry < from.count && planes_pass(stages, model, planes + i / WIDTH * width + i % WIDTH, width,
                                                          size, parts.ends[part - 1], parts.ends[part], &response);
            left_keep(&lists[part % 2], kept, i, response);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            lists[(part - 1) % 2].count = 0;
    }
    const struct left_windows<WINDOWS> &last = lists[(PARTS - 1) % 2];
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
    size_t shared = 4 * (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

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

RUNGS_CUDA_VERSION(detect, .declines = declines, .tunables = tunables, .illegal = illegal)
