/*
 * Idea:     what is there is looked at. Level 0 is the picture itself and has a third of all windows; a stream looks at them while
 *           another makes the pyramid, six short kernels one after the other that leave most of the device idle.
 * Changed:  launch() forks and joins by events; the kernel is launched twice, and knows its first tile.
 * Expect:   the pyramid's 26 us and the first third of detect_kernel, 20 us, together take 26 us: 20 us less.
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/steps/four.cuh"
#include "cuda/detect/steps/groups.h"
#include "cuda/detect/steps/own.cuh"
#include "cuda/detect/steps/planes.cuh"
#include "cuda/detect/steps/tiles.cuh"
#include "cuda/detect/steps/together.cuh"
#include "cuda/detect/steps/words.cuh"

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
    cudaStream_t side; /* the pyramid's */
    cudaEvent_t begun, made;
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
                                     struct part_ends parts, struct hit_list list, int first)
{
    extern __shared__ uint8_t planes[];
    __shared__ struct own_windows<WINDOWS> lists[THREADS / LANES];
    const struct tile tile = tile_find(&layout, window, WIDTH, HEIGHT, first + blockIdx.x);
    const struct pyramid_level &level = layout.levels[tile.level];
    int left = tile.left, top = tile.top;
    int width = words_stride(WIDTH, window), height = HEIGHT + window - 1, size = width * height;

    model.feature = FEATURE;
    words_fill(planes, width, height, levels, level.x + left, level.y + top);
    __syncthreads();
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

typedef void kernel_function(struct image levels, const struct pyramid_layout layout, const struct stages stages,
                             struct model_view model, int window, struct part_ends parts, struct hit_list list,
                             int first);

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v2.2"));
    TRY(groups_note(&state->groups, &state->hits, params));
    if (!state->side)
        CUDA_TRY(cudaStreamCreateWithFlags(&state->side, cudaStreamNonBlocking));
    if (!state->begun)
        CUDA_TRY(cudaEventCreateWithFlags(&state->begun, cudaEventDisableTiming));
    if (!state->made)
        CUDA_TRY(cudaEventCreateWithFlags(&state->made, cudaEventDisableTiming));
out:
    return status;
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
    const int blocks = tiles_count(&hits->layout, window, WIDTH, HEIGHT);
    const int lowest = tiles_along(in->width, window, WIDTH) * tiles_along(in->height, window, HEIGHT);
    size_t shared = 4 * (size_t)words_stride(WIDTH, window) * (HEIGHT + window - 1);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = min(after[i], params->stage_count);
    kernel_function *const kernel = kernels[detect_model_of(params)->feature];
    CUDA_TRY(cudaEventRecord(state->begun, stream));
    CUDA_TRY(cudaStreamWaitEvent(state->side, state->begun, 0));
    TRY(step_run(&hits->pyramid, in, &hits->levels, state->side));
    CUDA_TRY(cudaEventRecord(state->made, state->side));
    CUDA_TRY(cudaMemsetAsync(hits->list.count, 0, sizeof *hits->list.count, stream));
    if (lowest > 0)
        kernel<<<lowest, THREADS, shared, stream>>>(in[0], hits->layout, hits_stages(params), hits_model(hits, params),
                                                    window, parts, hits->list, 0);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaStreamWaitEvent(stream, state->made, 0));
    if (blocks > lowest)
        kernel<<<blocks - lowest, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
                                                             hits_model(hits, params), window, parts, hits->list,
                                                             lowest);
    CUDA_TRY(cudaGetLastError());
    TRY(groups_end(&state->groups, hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    if (state->side)
        cudaStreamDestroy(state->side);
    if (state->begun)
        cudaEventDestroy(state->begun);
    if (state->made)
        cudaEventDestroy(state->made);
    hits_teardown(&state->hits);
    groups_teardown(&state->groups);
    *state = {};
}

RUNGS_CUDA_VERSION(detect, .declines = declines, .tunables = tunables, .illegal = illegal)
