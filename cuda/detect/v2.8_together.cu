/*
 * Idea:     from stage 41 on a warp takes one window, and its lanes are stages: 32 at a time, tables looked up at once, and
 *           the responses after each of them summed in order by shuffles. Of a tile's 1,024 windows nine come so far. They
 *           filled less than a warp, which went on for hundreds of stages while the block's other seven waited.
 * Changed:  together_pass() (shared/together.cuh) behind the last list, and one part fewer.
 * Expect:   half of the kernel's instructions were of that warp, and all of its longest waits; 32 shuffles and 80 instructions for 32
 *           stages. detect_kernel 200 us in place of 348 us.
 * Result:   0.253 ms, 1.73 times v2.7 (results/h200/detect/detect_1280x720.json).
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/groups.h"
#include "cuda/detect/shared/planes.cuh"
#include "cuda/detect/shared/tiles.cuh"
#include "cuda/detect/shared/together.cuh"

enum { WIDTH = 64, HEIGHT = 16, WINDOWS = WIDTH * HEIGHT, THREADS = 256, LANES = 32, PARTS = 3 };

static int after[PARTS] = {3, 10, 40};
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static struct tunable tunables[] = {{"first", &after[0], afters, "stages before the first rearrangement"},
                                    {"second", &after[1], afters, "stages before the second"},
                                    {"third", &after[2], afters, "stages before a warp takes a window"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return after[0] <= after[1] && after[1] <= after[2] ? NULL : "rearrangements in another order than the stages";
}

struct state {
    struct hits_step hits;
    struct groups_step groups;
};

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return planes_decline((const struct detect_params *)params);
}

/* Where the parts of the stages end. */
struct part_ends {
    int ends[PARTS];
};

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct part_ends parts, struct hit_list list)
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
    __syncthreads();
    const struct left_windows<WINDOWS> &last = lists[(PARTS - 1) % 2];
    for (unsigned entry = threadIdx.x / LANES; entry < last.count; entry += THREADS / LANES) {
        int i = last.places[entry];
        float response = last.responses[entry];
        bool hit = together_pass(model, planes + i / WIDTH * width + i % WIDTH, width, size, parts.ends[PARTS - 1],
                                 &response) &&
                   response >= model.min_response;
        if (hit && threadIdx.x % LANES == 0)
            hits_add(list, response, &layout, level.x + left + i % WIDTH, level.y + top + i / WIDTH);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v1.3"));
    TRY(groups_setup(&state->groups, params));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int beyond = params->pyramid.window - 1;
    enum status status = STATUS_OK;
    struct part_ends parts = {};
    int blocks = tiles_count(&hits->layout, params->pyramid.window, WIDTH, HEIGHT);
    size_t shared = 4 * (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = min(after[i], params->stage_count);
    TRY(hits_begin(hits, in, stream));
    if (blocks > 0)
        detect_kernel<<<blocks, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
                                                           hits_model(hits, params), params->pyramid.window, parts,
                                                           hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(groups_end(&state->groups, hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    groups_teardown(&state->groups);
    *state = {};
}

RUNGS_CUDA_VERSION(detect, .declines = declines, .tunables = tunables, .illegal = illegal)
