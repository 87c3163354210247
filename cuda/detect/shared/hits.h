/*
 * hits.h: what surrounds the stages on the device in all rungs of detect: the pyramid before them, and behind them the
 * way from the list of hits to both tables.
 */
#ifndef RUNGS_DETECT_STEPS_HITS_H
#define RUNGS_DETECT_STEPS_HITS_H

#include "common/algo/detect.h"
#include "common/cuda/device.h"

/* The hits so far, in no order. */
struct hit_list {
    unsigned *count;
    uint64_t *keys;
};

/* The strongest hits, at most params.maximum, in order. */
struct sorted_hits {
    int *count;
    uint64_t *keys;
    struct detect_box *boxes;
};

struct hits_step {
    struct step pyramid;
    struct pyramid_layout layout;
    struct image levels;        /* on the device */
    struct detect_model *model; /* likewise */
    struct hit_list list;       /* with room for all windows */
    struct sorted_hits sorted;
};

/* The stages and tables of a model on the device. */
struct model_view {
    const struct detect_stage *stages;
    const float *tables;
    int feature, bins, count;
    float min_response;
};

enum { CONSTANT_STAGES = 1024 };

/* The first stages of a model as a kernel parameter, which lies in constant memory. (A __constant__ symbol would be
 * shared by all states.) */
struct stages {
    struct detect_stage first[CONSTANT_STAGES];
};

struct stages hits_stages(const struct detect_params *params);

/* Stage t, wherever it is. */
static __device__ inline const struct detect_stage &stage_at(const struct stages &stages,
                                                             const struct model_view &model, int t)
{
    return t < CONSTANT_STAGES ? stages.first[t] : model.stages[t];
}

/* Allocates what is missing and uploads the model. `pyramid` is the version of that step. */
enum status hits_setup(struct hits_step *step, const struct image *in, const struct detect_params *params,
                       const char *pyramid);
/* What a kernel needs of the model. */
struct model_view hits_model(const struct hits_step *step, const struct detect_params *params);
/* Enqueues the pyramid and empties the list. */
enum status hits_begin(struct hits_step *step, const struct image *in, cudaStream_t stream);
/* Enqueues the way from the list to the hits in order and their table. */
enum status hits_sort(struct hits_step *step, struct image *hits, const struct detect_params *params,
                      cudaStream_t stream);
/* The same, and the grouping by one block: the way from the list to both tables. */
enum status hits_end(struct hits_step *step, struct image out[], const struct detect_params *params,
                     cudaStream_t stream);
void hits_teardown(struct hits_step *step);

static __device__ inline void hits_add(struct hit_list list, float response, const struct pyramid_layout *layout, int x,
                                       int y)
{
    list.keys[atomicAdd(list.count, 1u)] = detect_key(response, layout, x, y);
}

/* A row of the table of detections. */
static __device__ inline void hits_write_detection(struct image *detections, int row, struct detect_box box,
                                                   float score)
{
    float *to = (float *)image_row(detections, row);

    to[0] = box.x;
    to[1] = box.y;
    to[2] = to[3] = box.side;
    to[4] = score;
}

/* By all threads of a block: row 0 of a table, the number of rows before `first`, and zeros from row `first` on. */
static __device__ inline void hits_close_table(struct image table, int first)
{
    for (int i = threadIdx.x; i < table.width * (table.height - first); i += blockDim.x)
        ((float *)image_row(&table, first + i / table.width))[i % table.width] = 0;
    if ((int)threadIdx.x < table.width)
        ((float *)table.data)[threadIdx.x] = threadIdx.x == 0 ? first - 1 : 0;
}

#endif
