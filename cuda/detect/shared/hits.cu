#include "cuda/detect/shared/hits.h"

#include <string.h>

#include "cuda/detect/shared/sorted.cuh"

enum { THREADS = 256, EACH = DETECT_MAX_HITS / THREADS /* hits of a thread */ };

/* What the threads of the one block that ends a call tell each other. */
struct shared_hits {
    struct sorted_hits sorted;
    bool taken[DETECT_MAX_HITS];
    unsigned members;
    unsigned long long votes;
};

/* Detections from sorted hits, into rows from 1 on; their number. */
static __device__ int group(struct shared_hits *shared, int count, const struct pyramid_layout &layout,
                            const struct detect_params &params, struct image detections)
{
    struct detect_box boxes[EACH];
    int found = 0;

    for (int k = 0; k < EACH; k++) {
        int own = threadIdx.x + k * THREADS;
        if (own < count)
            boxes[k] =
                detect_find_box(detect_key_place(shared->sorted.keys[own], &layout), &layout, params.pyramid.window);
    }
    for (int i = 0; i < count; i++) {
        if (shared->taken[i])
            continue;
        struct detect_box box =
            detect_find_box(detect_key_place(shared->sorted.keys[i], &layout), &layout, params.pyramid.window);
        __syncthreads(); /* all have seen that nobody took it */
        if (threadIdx.x == 0)
            shared->votes = shared->members = 0;
        __syncthreads();
        for (int k = 0; k < EACH; k++) {
            int own = threadIdx.x + k * THREADS;
            if (own < i || own >= count || shared->taken[own] ||
                (own > i && !detect_overlap(box, boxes[k], params.overlap)))
                continue;
            shared->taken[own] = true;
            float response = detect_key_response(shared->sorted.keys[own]);
            atomicAdd(&shared->votes, (unsigned long long)detect_vote(response, (float)params.min_response));
            atomicAdd(&shared->members, 1u);
        }
        __syncthreads();
        float score = (float)((double)(long long)shared->votes / (double)DETECT_VOTE);
        if ((int)shared->members < params.neighbours || score < params.min_score)
            continue;
        found++;
        if (threadIdx.x == 0) {
            float *row = (float *)image_row(&detections, found);
            row[0] = box.x;
            row[1] = box.y;
            row[2] = row[3] = box.side;
            row[4] = score;
        }
    }
    return found;
}

/* Rows from `first` on are 0, and row 0 begins with the number of rows before it. */
static __device__ void close_table(struct image table, int first)
{
    for (int i = threadIdx.x; i < table.width * (table.height - first); i += THREADS)
        ((float *)image_row(&table, first + i / table.width))[i % table.width] = 0;
    if ((int)threadIdx.x < table.width)
        ((float *)table.data)[threadIdx.x] = threadIdx.x == 0 ? first - 1 : 0;
}

static __global__ void __launch_bounds__(THREADS)
    end_kernel(struct hit_list list, const __grid_constant__ struct pyramid_layout layout,
               const __grid_constant__ struct detect_params params, struct image detections, struct image hits)
{
    __shared__ struct shared_hits shared;
    const int count = sorted_fill(&shared.sorted, list, params.maximum);

    for (int i = threadIdx.x; i < count; i += THREADS)
        shared.taken[i] = false;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) {
        struct detect_place place = detect_key_place(shared.sorted.keys[i], &layout);
        float *row = (float *)image_row(&hits, i + 1);
        row[0] = place.x;
        row[1] = place.y;
        row[2] = place.level;
        row[3] = detect_key_response(shared.sorted.keys[i]);
    }
    close_table(hits, count + 1);
    close_table(detections, group(&shared, count, layout, params, detections) + 1);
}

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

enum status hits_end(struct hits_step *step, struct image out[], const struct detect_params *params,
                     cudaStream_t stream)
{
    enum status status = STATUS_OK;

    end_kernel<<<1, THREADS, 0, stream>>>(step->list, step->layout, *params, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void hits_teardown(struct hits_step *step)
{
    step_close(&step->pyramid);
    device_image_free(&step->levels);
    device_free(step->model);
    device_free(step->list.places);
    device_free(step->list.keys);
    device_free(step->list.count);
    *step = {};
}
