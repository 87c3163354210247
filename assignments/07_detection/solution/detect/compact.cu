/*
 * Idea:     windows that are left after some stages are written into a list, and full warps go on with those. A warp
 *           counts its own by a ballot and reserves their places at once.
 * Changed:  three parts of the stages, two lists in shared memory between them.
 * Expect:   half of the steps: a warp goes on until its last window leaves, and after three stages one lane in four
 *           works.
 */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 32, HEIGHT = 8, WINDOWS = WIDTH * HEIGHT /* of a tile, and threads of a block */ };

enum { PARTS = 3 };
static __device__ int end_of(int part, int stages)
{
    return part == 0 ? min(2, stages) : part == 1 ? min(8, stages) : stages;
}

struct left_windows {
    unsigned short places[WINDOWS];
    float responses[WINDOWS];
    unsigned count;
};

struct state {
    struct hits_step hits;
};

/* Whether stages `from` to `to` - 1 let the window whose upper left pixel is at `window` pass; adds to its response. */
static __device__ bool pass(const struct model_view &model, const uint8_t *window, size_t stride, int from, int to,
                            float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        *response += table[detect_stage_bin(model.feature, &model.stages[t], window, stride)];
        if (*response < model.stages[t].threshold)
            return false;
    }
    return true;
}

/* To be called by all lanes of a warp. */
static __device__ void keep(struct left_windows *left, bool kept, int place, float response)
{
    unsigned ballot = __ballot_sync(0xffffffff, kept), lane = threadIdx.x % 32, first = 0;

    if (lane == 0 && ballot)
        first = atomicAdd(&left->count, (unsigned)__popc(ballot));
    first = __shfl_sync(0xffffffff, first, 0) + __popc(ballot & ((1u << lane) - 1));
    if (kept) {
        left->places[first] = place;
        left->responses[first] = response;
    }
}

/* Tile (blockIdx.x, blockIdx.y) of level blockIdx.z. */
static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     struct model_view model, int window, struct hit_list list)
{
    __shared__ struct left_windows lists[PARTS];
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT, count = WINDOWS;

    if (left + window > level.width || top + window > level.height)
        return; /* the whole block */
    if (threadIdx.x < PARTS)
        lists[threadIdx.x].count = 0;
    __syncthreads();
    for (int part = 0; part < PARTS; part++) {
        bool kept = (int)threadIdx.x < count;
        int place = part == 0 ? (int)threadIdx.x : kept ? lists[part - 1].places[threadIdx.x] : 0;
        float response = part > 0 && kept ? lists[part - 1].responses[threadIdx.x] : 0;
        int x = left + place % WIDTH, y = top + place / WIDTH;

        kept = kept && x <= level.width - window && y <= level.height - window &&
               pass(model, (const uint8_t *)image_row(&levels, level.y + y) + level.x + x, levels.stride,
                    part > 0 ? end_of(part - 1, model.count) : 0, end_of(part, model.count), &response);
        keep(&lists[part], kept, place, response);
        __syncthreads();
        count = lists[part].count;
    }
    if ((int)threadIdx.x >= count || lists[PARTS - 1].responses[threadIdx.x] < model.min_response)
        return;
    int place = lists[PARTS - 1].places[threadIdx.x];
    hits_add(list, lists[PARTS - 1].responses[threadIdx.x], &layout, level.x + left + place % WIDTH,
             level.y + top + place / WIDTH);
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    return hits_setup(&state->hits, in, params, "cuda/v1.2");
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    enum status status = STATUS_OK;
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, WINDOWS, 0, stream>>>(hits->levels, hits->layout, hits_model(hits, params),
                                                params->pyramid.window, hits->list);
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

RUNGS_CUDA_VERSION(detect)
