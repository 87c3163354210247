/*
 * Problem:  Windows that are left after 20 stages lie in few tiles: a warp of cuda/v2.4 takes one after the other.
 * Idea:     All threads of a block share all pairs of a window and one of the next 32 stages; then a thread
 *           adds up the votes of a window.
 * Expect:   1.2 times as fast as cuda/v2.4: half of the instructions behind stage 20, shared out evenly.
 * Result:   0.93 times as fast: two barriers for each 32 stages cost more.
 * Run:      make diff-detect A=cuda/v2.4 B=cuda/v2.5
 */
#include "common/cuda/devices_queue.h"
#include "cuda/detect/shared/groups.h"
#include "cuda/detect/shared/planes.cuh"

enum {
    WIDTH = 64,
    HEIGHT = 16,
    WINDOWS = WIDTH * HEIGHT,
    THREADS = 256,
    LANES = 32,
    CHUNK = 32,
    BATCH = 40,
    PARTS = 4
};

static int after[PARTS - 1] = {3, 10, 20};
static const int afters[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, DETECT_MAX_STAGES, 0};
static struct tunable tunables[] = {{"first", &after[0], afters, "stages before the first compaction"},
                                    {"second", &after[1], afters, "stages before the second"},
                                    {"third", &after[2], afters, "stages before a warp takes a window"},
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

/* Of each of the four windows, the number of cells below cell k. */
static __device__ unsigned four_ranks(const unsigned cells[DETECT_CELLS], int k)
{
    unsigned ranks = 0, own = 0;

    for (int c = 0; c < DETECT_CELLS; c++)
        own = c == k ? cells[c] : own; /* k is no constant, and registers have no index */
    for (int c = 0; c < DETECT_CELLS; c++)
        ranks += __vsetltu4(cells[c], own);
    return ranks;
}

/* The bins of a stage in the four windows from `window` on, a multiple of 4, a byte each. */
static __device__ unsigned four_bins(int feature, const struct plane_stage &stage, const uint8_t *window)
{
    const int skipped = stage.from % 4, last = (skipped + 2 * stage.width + 3) / 4, bits = 8 * stage.width;
    unsigned cells[DETECT_CELLS];

    for (int j = 0; j < 3; j++) {
        const unsigned *row = (const unsigned *)(window + stage.from - skipped + j * stage.below);
        const unsigned middle = row[min(1, last)];
        const unsigned low = __funnelshift_r(row[0], middle, 8 * skipped);
        const unsigned high = __funnelshift_r(middle, row[last], 8 * skipped);
        cells[3 * j] = low;
        cells[3 * j + 1] = __funnelshift_r(low, high, bits);
        cells[3 * j + 2] = __funnelshift_rc(low, high, 2 * bits);
    }
    if (feature == DETECT_LBP) {
        const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};
        unsigned codes = 0;
        for (int i = 0; i < 8; i++)
            codes |= __vsetgtu4(cells[border[i]], cells[4]) << i;
        return codes;
    }
    const unsigned ranks = four_ranks(cells, stage.a), others = four_ranks(cells, stage.b);
    return feature == DETECT_LRP ? DETECT_CELLS * ranks + others : ranks - others + (DETECT_CELLS - 1) * 0x01010101u;
}

/* Whether stages `from` to `to` - 1 let the window pass; adds to its response. */
static __device__ bool pass(const struct plane_stages &stages, const struct model_view &model, const uint8_t *window,
                            int from, int to, float *response)
{
    for (int t = from; t < to; t++) {
        const struct plane_stage stage = stages.first[t];
        *response += model.tables[t * model.bins + planes_bin(model.feature, stage, window)];
        if (*response < stage.threshold)
            return false;
    }
    return true;
}

/* Appends what the lanes of a warp keep of N windows each, side by side from `place` on: by one atomic operation for
 * all, first each lane's first window, then its second and so on. All lanes call it. */
template <int N>
static __device__ void keep(struct left_windows *left, const bool kept[N], int place, const float responses[N])
{
    unsigned ballots[N], all = 0, lane = threadIdx.x % LANES, first = 0;

    for (int k = 0; k < N; k++) {
        ballots[k] = __ballot_sync(0xffffffff, kept[k]);
        all += __popc(ballots[k]);
    }
    if (lane == 0 && all)
        first = atomicAdd(&left->count, all);
    first = __shfl_sync(0xffffffff, first, 0);
    for (int k = 0; k < N; first += __popc(ballots[k++])) {
        if (!kept[k])
            continue;
        unsigned entry = first + __popc(ballots[k] & ((1u << lane) - 1));
        left->places[entry] = place + k;
        left->responses[entry] = responses[k];
    }
}

/* Leaves in `left` the windows that the stages from `from` on let pass, with their responses. All threads of the block
 * share all pairs of a window and one of the next CHUNK stages; then a thread adds up the votes of a window, in the order
 * of the stages, so that sums are rounded as by pass(). `votes` has room for BATCH windows. */
static __device__ void finish(struct left_windows *left, float *votes, const struct plane_stages &stages,
                              const struct model_view &model, const uint8_t *planes, int stride, int size, int from)
{
    for (; from < model.count; from += CHUNK) {
        const unsigned count = left->count;
        const int next = min(CHUNK, model.count - from);
        __syncthreads();
        if (count == 0)
            return;
        if (threadIdx.x == 0)
            left->count = 0;
        for (unsigned first = 0; first < count; first += BATCH) {
            const unsigned windows = min((unsigned)BATCH, count - first);
            for (unsigned i = threadIdx.x; i < windows * CHUNK; i += THREADS) {
                const int t = from + (int)(i % CHUNK), place = left->places[first + i / CHUNK];
                if (t < model.count)
                    votes[i / CHUNK * (CHUNK + 1) + i % CHUNK] =
                        model.tables[t * model.bins + planes_bin(model.feature,
                                                                 planes_decode(model.stages[t], stride, size),
                                                                 planes + place / WIDTH * stride + place % WIDTH)];
            }
            const bool own = threadIdx.x < windows;
            const int place = own ? left->places[first + threadIdx.x] : 0;
            float response = own ? left->responses[first + threadIdx.x] : 0;
            bool kept = own;
            __syncthreads();
            if (threadIdx.x < (BATCH + LANES - 1) / LANES * LANES) {
                for (int k = 0; k < next; k++) {
                    response += own ? votes[threadIdx.x * (CHUNK + 1) + k] : 0;
                    kept &= response >= planes_stage_at(stages, model, from + k, stride, size).threshold;
                }
                keep<1>(left, &kept, place, &response);
            }
            __syncthreads();
        }
    }
}

/* Eight blocks a multiprocessor: without this bound it takes 40 registers a thread, and there is room for six. */
template <int FEATURE>
static __global__ void __launch_bounds__(THREADS, 8)
    detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                  const __grid_constant__ struct plane_stages stages, struct model_view model, int window,
                  struct parts parts, struct hit_list list)
{
    extern __shared__ uint8_t planes[];
    __shared__ struct left_windows lists[2];
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int stride = planes_stride(WIDTH, window), height = HEIGHT + window - 1, size = stride * height;

    if (left > level.width - window || top > level.height - window)
        return;
    model.feature = FEATURE;
    planes_fill(planes, stride, height, levels, level.x + left, level.y + top);
    if (threadIdx.x < 2)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int i = 4 * threadIdx.x; i < WINDOWS; i += 4 * THREADS) {
        float responses[4] = {};
        bool kept[4];
        for (int k = 0; k < 4; k++)
            kept[k] = left + i % WIDTH + k <= level.width - window && top + i / WIDTH <= level.height - window;
        for (int t = 0; t < parts.ends[0] && (kept[0] || kept[1] || kept[2] || kept[3]); t++) {
            const struct plane_stage stage = stages.first[t];
            unsigned bins = four_bins(model.feature, stage, planes + i / WIDTH * stride + i % WIDTH);
            for (int k = 0; k < 4; k++) {
                responses[k] += model.tables[t * model.bins + (bins >> 8 * k & 255)];
                kept[k] &= responses[k] >= stage.threshold;
            }
        }
        keep<4>(&lists[0], kept, i, responses);
    }
    for (int part = 1; part < PARTS - 1; part++) {
        __syncthreads();
        const struct left_windows &from = lists[(part - 1) % 2];
        for (unsigned entry = threadIdx.x; entry - threadIdx.x % LANES < from.count; entry += THREADS) {
            int i = entry < from.count ? from.places[entry] : 0;
            float response = entry < from.count ? from.responses[entry] : 0;
            bool kept = entry < from.count && pass(stages, model, planes + i / WIDTH * stride + i % WIDTH,
                                                   parts.ends[part - 1], parts.ends[part], &response);
            keep<1>(&lists[part % 2], &kept, i, &response);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            lists[(part - 1) % 2].count = 0;
    }
    __syncthreads();
    finish(&lists[(PARTS - 2) % 2], (float *)&lists[(PARTS - 1) % 2], stages, model, planes, stride, size,
           parts.ends[PARTS - 2]);
    for (unsigned entry = threadIdx.x; entry < lists[(PARTS - 2) % 2].count; entry += THREADS) {
        const int i = lists[(PARTS - 2) % 2].places[entry];
        const float response = lists[(PARTS - 2) % 2].responses[entry];
        if (response >= model.min_response)
            hits_add(list, response, &layout, level.x + left + i % WIDTH, level.y + top + i / WIDTH);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v2.1"));
    if (!state->overlaps)
        TRY(device_allocate((void **)&state->overlaps, GROUP_BYTES(params->maximum)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int window = params->pyramid.window, feature = (int)detect_model_of(params)->feature;
    const auto kernel = feature == DETECT_LRD   ? detect_kernel<DETECT_LRD>
                        : feature == DETECT_LRP ? detect_kernel<DETECT_LRP>
                                                : detect_kernel<DETECT_LBP>;
    enum status status = STATUS_OK;
    struct parts parts = {};
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);
    const int stride = planes_stride(WIDTH, window), size = stride * (HEIGHT + window - 1);

    for (int i = 0; i < PARTS; i++)
        parts.ends[i] =
            i < PARTS - 1 ? min(min(after[i], params->stage_count), (int)CONSTANT_STAGES) : params->stage_count;
    TRY(hits_begin(hits, in, stream));
    kernel<<<grid, THREADS, 4 * size, stream>>>(hits->levels, hits->layout, planes_stages(params, stride, size),
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

RUNGS_CUDA_VERSION(detect, .declines = planes_declines, .tunables = tunables, .illegal = illegal, .staged = true,
                   .queue = &recorded_queue)
