/*
 * Idea:     an LBP has no parameters but its place and the size of its cells, so its bin is the same for all windows and stages
 *           that look there. A kernel makes the bins of all four sizes, as pictures of their own; a stage loads a byte.
 * Changed:  codes_kernel() (steps/codes.cu) in place of words_fill(); no tile in shared memory, and no barrier.
 * Expect:   27 us for codes_kernel, and detect_kernel 35 us in place of 60 us.
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/steps/codes.cuh"
#include "cuda/detect/steps/groups.h"
#include "cuda/detect/steps/own.cuh"
#include "cuda/detect/steps/planes.cuh"
#include "cuda/detect/steps/tiles.cuh"
#include "cuda/detect/steps/together.cuh"

enum { WIDTH = 64, HEIGHT = 32, THREADS = 256, LANES = 32, WINDOWS = WIDTH * HEIGHT * LANES / THREADS, PARTS = 3 };

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
    struct codes_step codes;
};

/* Where the parts of the stages end. */
struct part_ends {
    int ends[PARTS];
};

template <int FEATURE>
static __global__ void detect_kernel(struct image codes, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct part_ends parts, struct hit_list list)
{
    __shared__ struct own_windows<WINDOWS> lists[THREADS / LANES];
    const struct tile tile = tile_find(&layout, window, WIDTH, HEIGHT, blockIdx.x);
    const struct pyramid_level &level = layout.levels[tile.level];
    int left = tile.left, top = tile.top;
    int width = (int)codes.stride;
    const struct code_planes size = {codes.stride * codes.height, (level.x + left) % 4};
    const uint8_t *planes = (const uint8_t *)image_row(&codes, level.y + top) + level.x + left;

    model.feature = FEATURE;
    const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    struct own_windows<WINDOWS> *own = &lists[warp];
    unsigned count = 0;
    for (int i = warp * WINDOWS + 4 * lane; i < (warp + 1) * WINDOWS; i += 4 * LANES) {
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
            count = own_keep(own, count, kept[k], i + k, responses[k]);
    }
    for (int part = 1; part < PARTS; part++) {
        const unsigned all = count;
        count = 0;
        __syncwarp();
        for (unsigned entry = lane; entry - lane < all; entry += LANES) {
            int i = entry < all ? own->places[entry] : 0;
            float response = entry < all ? own->responses[entry] : 0;
            bool kept = entry < all && planes_pass(stages, model, planes + i / WIDTH * width + i % WIDTH, width, size,
                                                   parts.ends[part - 1], parts.ends[part], &response);
            count = own_keep(own, count, kept, i, response);
        }
    }
    __syncwarp();
    for (unsigned entry = 0; entry < count; entry++) {
        int i = own->places[entry];
        float response = own->responses[entry];
        bool hit = together_pass(model, planes + i / WIDTH * width + i % WIDTH, width, size, parts.ends[PARTS - 1],
                                 &response) &&
                   response >= model.min_response;
        if (hit && lane == 0)
            hits_note(list, response, &layout, {left + i % WIDTH, top + i / WIDTH, tile.level});
    }
}

typedef void kernel_function(struct image codes, const struct pyramid_layout layout, const struct stages stages,
                             struct model_view model, int window, struct part_ends parts, struct hit_list list);

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v2.2"));
    TRY(codes_setup(&state->codes, &state->hits.levels));
    TRY(groups_note(&state->groups, &state->hits, params));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int window = params->pyramid.window, feature = (int)detect_model_of(params)->feature;
    kernel_function *const kernels[] = {detect_kernel<DETECT_LRD>, detect_kernel<DETECT_LRP>,
                                        detect_kernel<DETECT_LBP>};
    enum status status = STATUS_OK;
    struct part_ends parts = {};
    int blocks = tiles_count(&hits->layout, window, WIDTH, HEIGHT);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = min(after[i], params->stage_count);
    TRY(hits_begin(hits, in, stream));
    TRY(codes_make(&state->codes, feature, &hits->levels, stream));
    if (blocks > 0)
        kernels[feature]<<<blocks, THREADS, 0, stream>>>(state->codes.planes, hits->layout, hits_stages(params),
                                                         hits_model(hits, params), window, parts, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(groups_end(&state->groups, hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    groups_teardown(&state->groups);
    codes_teardown(&state->codes);
    *state = {};
}

RUNGS_CUDA_VERSION(detect, .tunables = tunables, .illegal = illegal)
