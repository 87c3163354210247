#include "common/cuda/early.cuh"
#include "common/cuda/selection.cuh"
#include "cuda/detect/shared/hits.h"

#include <string.h>

enum {
    SORT_BLOCKS = 64,
    SORT_THREADS = 1024,
    GROUP_THREADS = 256,
    EACH = DETECT_MAX_HITS / GROUP_THREADS, /* hits of a thread */
    LANES = 32
};

/* ------------------------------------------------------------------------------------------------------- sorting */

struct shared_keys {
    uint64_t keys[DETECT_MAX_HITS];
    unsigned count;
    struct selection_room room;
};

/* Fills shared->keys with the `wanted` strongest of all hits, the strongest first. */
static __device__ void select(struct shared_keys *shared, struct hit_list list, unsigned all, unsigned wanted)
{
    const uint64_t cut = selection_cut(&shared->room, list.keys, all, ~(uint64_t)0, wanted);
    int size = 1;

    while (size < (int)wanted)
        size *= 2;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        shared->keys[i] = 0;
    if (threadIdx.x == 0)
        shared->count = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x)
        if (list.keys[i] >= cut)
            shared->keys[atomicAdd(&shared->count, 1u)] = list.keys[i];
    __syncthreads();
    selection_sort(shared->keys, size);
}

/* As detect_key_place(); but it ends, too, for a key of a wrong kernel, which is in no level. */
static __device__ struct detect_place find_place(uint64_t key, const struct pyramid_layout &layout)
{
    const uint32_t index = ~(uint32_t)key;
    const int x = index % layout.width, y = index / layout.width;
    int l = layout.count - 1;

    for (; l > 0; l--) {
        const struct pyramid_level &level = layout.levels[l];
        if (x >= level.x && y >= level.y && x < level.x + level.width && y < level.y + level.height)
            break;
    }
    return {x - layout.levels[l].x, y - layout.levels[l].y, l};
}

/* Hit number `own` in order: its key, its box, and its row. */
static __device__ void store(const struct sorted_hits &sorted, int own, uint64_t key,
                             const struct pyramid_layout &layout, int window, struct image *hits)
{
    const struct detect_place place = find_place(key, layout);
    float *row = (float *)image_row(hits, own + 1);

    sorted.keys[own] = key;
    sorted.boxes[own] = detect_find_box(place, &layout, window);
    row[0] = place.x;
    row[1] = place.y;
    row[2] = place.level;
    row[3] = detect_key_response(key);
}

/* When all hits fit, a warp finds the place of each: the number of stronger ones. Else block 0 selects and sorts. */
static __global__ void __launch_bounds__(SORT_THREADS)
    sort_kernel(struct hit_list list, struct sorted_hits sorted, const __grid_constant__ struct pyramid_layout layout,
                int window, int maximum, struct image hits)
{
    __shared__ struct shared_keys shared;
    allow_next();
    wait_for_last();
    const int all = *list.count, count = min(all, maximum), lane = threadIdx.x % LANES;

    if (blockIdx.x == gridDim.x - 1)
        hits_close_table(hits, count + 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *sorted.count = count;
    if (all > maximum) {
        if (blockIdx.x > 0)
            return;
        select(&shared, list, all, count);
        for (int i = threadIdx.x; i < count; i += SORT_THREADS)
            store(sorted, i, shared.keys[i], layout, window, &hits);
        return;
    }
    for (int own = (blockIdx.x * SORT_THREADS + threadIdx.x) / LANES; own < all;
         own += gridDim.x * SORT_THREADS / LANES) {
        const uint64_t key = list.keys[own];
        unsigned stronger = 0;
        for (int i = lane; i < all; i += LANES)
            stronger += list.keys[i] > key;
        stronger = __reduce_add_sync(0xffffffff, stronger);
        if (lane == 0)
            store(sorted, stronger, key, layout, window, &hits);
    }
}

/* ------------------------------------------------------------------------------------------------------ grouping */

/* What the threads of the one block that groups the hits share. */
struct shared_groups {
    bool taken[DETECT_MAX_HITS];
    unsigned members;
    unsigned long long votes;
};

/* Group after group: the strongest hit that no group has taken leads the next one. */
static __global__ void __launch_bounds__(GROUP_THREADS)
    group_kernel(struct sorted_hits sorted, const __grid_constant__ struct detect_params params,
                 struct image detections)
{
    __shared__ struct shared_groups shared;
    const int count = *sorted.count;
    struct detect_box boxes[EACH];
    int found = 0;

    for (int k = 0; k < EACH; k++) {
        int own = threadIdx.x + k * GROUP_THREADS;
        shared.taken[own] = false;
        if (own < count)
            boxes[k] = sorted.boxes[own];
    }
    __syncthreads();
    for (int i = 0; i < count; i++) {
        if (shared.taken[i])
            continue;
        const struct detect_box box = sorted.boxes[i];
        __syncthreads(); /* all threads have seen that hit i is free */
        if (threadIdx.x == 0)
            shared.votes = shared.members = 0;
        __syncthreads();
        for (int k = 0; k < EACH; k++) {
            int own = threadIdx.x + k * GROUP_THREADS;
            if (own < i || own >= count || shared.taken[own] ||
                (own > i && !detect_overlap(box, boxes[k], params.overlap)))
                continue;
            shared.taken[own] = true;
            float response = detect_key_response(sorted.keys[own]);
            atomicAdd(&shared.votes, (unsigned long long)detect_vote(response, (float)params.min_response));
            atomicAdd(&shared.members, 1u);
        }
        __syncthreads();
        float score = (float)((double)(long long)shared.votes / (double)DETECT_VOTE);
        if ((int)shared.members < params.neighbours || score < params.min_score)
            continue;
        found++;
        if (threadIdx.x == 0)
            hits_write_detection(&detections, found, box, score);
    }
    hits_close_table(detections, found + 1);
}

/* ---------------------------------------------------------------------------------------------------------- host */

enum status hits_setup(struct hits_step *step, const struct image *in, const struct detect_params *params,
                       const char *pyramid)
{
    char settings[64];
    enum status status = STATUS_OK;

    if (!step->levels.data) {
        struct image levels;
        pyramid_lay_out(in->width, in->height, &params->pyramid, &step->layout);
        levels = {step->layout.width, step->layout.height, 1, PIXEL_U8, 0, NULL};
        detect_describe_pyramid(params, settings, sizeof settings);
        TRY(step_open(&step->pyramid, "pyramid", "pyramid", pyramid, settings));
        TRY(device_image_create(&step->levels, &levels));
    }
    if (!step->model) {
        TRY(device_allocate((void **)&step->model, params->model.size));
        TRY(device_upload_bytes(step->model, params->model.data, params->model.size));
    }
    if (!step->list.count)
        TRY(device_allocate((void **)&step->list.count, sizeof *step->list.count));
    if (!step->list.keys)
        TRY(device_allocate((void **)&step->list.keys,
                            (size_t)step->layout.width * step->layout.height * sizeof *step->list.keys));
    if (!step->sorted.count)
        TRY(device_allocate((void **)&step->sorted.count, sizeof *step->sorted.count));
    if (!step->sorted.keys)
        TRY(device_allocate((void **)&step->sorted.keys, (size_t)params->maximum * sizeof *step->sorted.keys));
    if (!step->sorted.boxes)
        TRY(device_allocate((void **)&step->sorted.boxes, (size_t)params->maximum * sizeof *step->sorted.boxes));
    TRY(step_setup(&step->pyramid, in));
out:
    return status;
}

struct model_view hits_model(const struct hits_step *step, const struct detect_params *params)
{
    const struct detect_model *model = detect_model_of(params);
    const struct detect_stage *stages = (const struct detect_stage *)(step->model + 1);

    return {stages,
            (const float *)(stages + model->stages),
            (int)model->feature,
            (int)model->bins,
            params->stage_count,
            (float)params->min_response};
}

struct stages hits_stages(const struct detect_params *params)
{
    struct stages stages = {};

    memcpy(stages.first, detect_stages(detect_model_of(params)),
           (size_t)min(params->stage_count, (int)CONSTANT_STAGES) * sizeof *stages.first);
    return stages;
}

enum status hits_begin(struct hits_step *step, const struct image *in, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(step_run(&step->pyramid, in, &step->levels, stream));
    CUDA_TRY(cudaMemsetAsync(step->list.count, 0, sizeof *step->list.count, stream));
out:
    return status;
}

enum status hits_sort(struct hits_step *step, struct image *hits, const struct detect_params *params,
                      cudaStream_t stream)
{
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {device_blocks(SORT_BLOCKS), SORT_THREADS, 0, stream, &early, early_attributes(&early)};
    enum status status = STATUS_OK;

    CUDA_TRY(cudaLaunchKernelEx(&config, sort_kernel, step->list, step->sorted, step->layout, params->pyramid.window,
                                params->maximum, *hits));
out:
    return status;
}

enum status hits_end(struct hits_step *step, struct image out[], const struct detect_params *params,
                     cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(hits_sort(step, &out[1], params, stream));
    group_kernel<<<1, GROUP_THREADS, 0, stream>>>(step->sorted, *params, out[0]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void hits_teardown(struct hits_step *step)
{
    step_close(&step->pyramid);
    device_image_free(&step->levels);
    device_free(step->model);
    device_free(step->list.keys);
    device_free(step->list.count);
    device_free(step->sorted.boxes);
    device_free(step->sorted.keys);
    device_free(step->sorted.count);
    *step = {};
}
