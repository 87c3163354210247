/*
 * Idea:     the pyramid comes from the fastest version of its own ladder.
 * Changed:  the pyramid is its ladder's cuda/v2.2, not cuda/v1.3.
 * Expect:   28 us become 14 us.
 * Result:   0.195 ms (results/h200/detect/detect_1280x720.json): pyramid cuda/v2.2 takes 28 us, as the pyramid of v2.11 does.
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/four.cuh"
#include "cuda/detect/shared/groups.h"
#include "cuda/detect/shared/planes.cuh"
#include "cuda/detect/shared/tiles.cuh"
#include "cuda/detect/shared/together.cuh"
#include "cuda/detect/shared/words.cuh"

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

template <int FEATURE>
static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct part_ends parts, struct hit_list list)
{
    extern __shared__ uint8_t planes[];
    __shared__ struct left_windows<WINDOWS> lists[2];
    const struct tile own = tile_find(&layout, window, WIDTH, HEIGHT, blockIdx.x);
    const struct pyramid_level &level = layout.levels[own.level];
    int left = own.left, top = own.top;
    int width = words_stride(WIDTH, window), height = HEIGHT + window - 1, size = width * height;

    model.feature = FEATURE;
    words_fill(planes, width, height, levels, level.x + left, level.y + top);
    if (threadIdx.x < 2)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int i = 4 * threadIdx.x; i < WINDOWS; i += 4 * THREADS) {
        float responses[4] = {};
        bool kept[4];
        for (int k = 0; k < 4; k++)
            kept[k] = left + i % WIDTH + k <= level.width - window && top + i / WIDTH <= level.height - window;
        for (int t = 0; t < parts.ends[0] && (kept[0] || kept[1] || kept[2] || kept[3]); t++) {
            const struct detect_stage &stage = stage_at(stages, model, t);
            unsigned bins = four_bins(model.feature, stage, planes + i / WIDTH * width + i % WIDTH, width, size);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                responses[k] += model.tables[t * model.bins + (bins >> 8 * k & 255)];
                kept[k] &= responses[k] >= stage.threshold;
            }
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            left_keep(&lists[0], kept[k], i + k, responses[k]);
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

typedef void kernel_function(struct image levels, const struct pyramid_layout layout, const struct stages stages,
                             struct model_view model, int window, struct part_ends parts, struct hit_list list);

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    const enum status status = hits_setup(&state->hits, in, params, "cuda/v2.2");

    return status == STATUS_OK ? groups_setup(&state->groups, params) : status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int window = params->pyramid.window;
    kernel_function *const kernels[] = {detect_kernel<DETECT_LRD>, detect_kernel<DETECT_LRP>,
                                        detect_kernel<DETECT_LBP>};
    enum status status = STATUS_OK;
    struct part_ends parts = {};
    int blocks = tiles_count(&hits->layout, window, WIDTH, HEIGHT);
    size_t shared = 4 * (size_t)words_stride(WIDTH, window) * (HEIGHT + window - 1);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = min(after[i], params->stage_count);
    TRY(hits_begin(hits, in, stream));
    if (blocks > 0)
        kernels[detect_model_of(params)->feature]<<<blocks, THREADS, shared, stream>>>(
            hits->levels, hits->layout, hits_stages(params), hits_model(hits, params), window, parts, hits->list);
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
