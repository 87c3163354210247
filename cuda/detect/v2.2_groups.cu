/*
 * Problem:  One block of cuda/v2.1 groups the hits, group after group: over 0.6 ms of 0.96 ms.
 * Idea:     All pairs of hits are compared in parallel (shared/groups.cu). Then, in rounds over all
 *           hits, a hit that overlaps a leader (the strongest hit of a group) joins its group; a
 *           hit whose stronger neighbours all joined a group becomes a leader. A round decides many
 *           groups.
 * Expect:   3 times as fast as cuda/v2.1.
 * Result:   2.8 times as fast as cuda/v2.1, 337 us (results/h100/detect/detect_1280x720.json).
 * Run:      make diff-detect A=cuda/v2.1 B=cuda/v2.2
 */
#include "cuda/detect/shared/groups.h"
#include "cuda/detect/shared/planes.cuh"

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
    unsigned *overlaps;
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
static __device__ bool pass(const struct plane_stages &stages, const struct model_view &model, const uint8_t *window,
                            int stride, int size, int from, int to, float *response)
{
    for (int t = from; t < to; t++) {
        const struct plane_stage stage = planes_stage_at(stages, model, t, stride, size);
        *response += model.tables[t * model.bins + planes_bin(model.feature, stage, window)];
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
                                     const __grid_constant__ struct plane_stages stages, struct model_view model,
                                     int window, struct parts parts, struct hit_list list)
{
    extern __shared__ uint8_t planes[];
    __shared__ struct left_windows lists[2];
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int stride = planes_stride(WIDTH, window), height = HEIGHT + window - 1, size = stride * height;

    if (left > level.width - window || top > level.height - window)
        return;
    planes_fill(planes, stride, height, levels, level.x + left, level.y + top);
    if (threadIdx.x < 2)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < WINDOWS; i += THREADS) {
        float response = 0;
        bool kept =
            left + i % WIDTH <= level.width - window && top + i / WIDTH <= level.height - window &&
            pass(stages, model, planes + i / WIDTH * stride + i % WIDTH, stride, size, 0, parts.ends[0], &response);
        keep(&lists[0], kept, i, response);
    }
    for (int part = 1; part < PARTS; part++) {
        __syncthreads();
        const struct left_windows &from = lists[(part - 1) % 2];
        for (unsigned entry = threadIdx.x; entry - threadIdx.x % LANES < from.count; entry += THREADS) {
            int i = entry < from.count ? from.places[entry] : 0;
            float response = entry < from.count ? from.responses[entry] : 0;
            bool kept = entry < from.count && pass(stages, model, planes + i / WIDTH * stride + i % WIDTH, stride, size,
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
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v1.3"));
    if (!state->overlaps)
        TRY(device_allocate((void **)&state->overlaps, GROUP_BYTES(params->maximum)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int window = params->pyramid.window;
    enum status status = STATUS_OK;
    struct parts parts = {};
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);
    const int stride = planes_stride(WIDTH, window), size = stride * (HEIGHT + window - 1);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] = i < PARTS - 1 ? min(after[i], params->stage_count) : params->stage_count;
    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, THREADS, 4 * size, stream>>>(hits->levels, hits->layout, planes_stages(params, stride, size),
                                                       hits_model(hits, params), window, parts, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(groups_end(hits, state->overlaps, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    device_free(state->overlaps);
    *state = {};
}

RUNGS_CUDA_VERSION(detect, .declines = planes_declines, .tunables = tunables, .illegal = illegal)
