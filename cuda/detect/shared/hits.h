/*
 * hits.h: what all rungs of detect share on the device, whose own matter is the stages: the pyramid before them, and from the
 * list of hits to both tables behind them.
 */
#ifndef RUNGS_DETECT_STEPS_HITS_H
#define RUNGS_DETECT_STEPS_HITS_H

#include "common/algo/detect.h"
#include "common/cuda/device.h"

/* The hits so far, in no order. */
struct hit_list {
    unsigned *count;
    uint64_t *keys;
    struct detect_place *places; /* NULL where nobody notes them */
};

struct hits_step {
    struct step pyramid;
    struct pyramid_layout layout;
    struct image levels;        /* on the device */
    struct detect_model *model; /* likewise */
    struct hit_list list;       /* with room for all windows */
};

/* The stages and tables of a model on the device. */
struct model_view {
    const struct detect_stage *stages;
    const float *tables;
    int feature, bins, count;
    float min_response;
};

enum { CONSTANT_STAGES = 1024 };

/* The stages that most windows see, as a kernel parameter, which lies in constant memory; no __constant__ symbol: two
 * states would overwrite each other's. */
struct stages {
    struct detect_stage first[CONSTANT_STAGES];
};

struct stages hits_stages(const struct detect_params *params);

/* Stage t, wherever it is. */
static inline __device__ const struct detect_stage &stage_at(const struct stages &stages,
                                                             const struct model_view &model, int t)
{
    return t < CONSTANT_STAGES ? stages.first[t] : model.stages[t];
}

/* Allocates what is not there yet and uploads the model. `pyramid` is the version of that step. */
enum status hits_setup(struct hits_step *step, const struct image *in, const struct detect_params *params,
                       const char *pyramid);
/* What a kernel needs of the model. */
struct model_view hits_model(const struct hits_step *step, const struct detect_params *params);
/* Enqueues the pyramid and empties the list. */
enum status hits_begin(struct hits_step *step, const struct image *in, cudaStream_t stream);
/* Enqueues the way from the list to the tables. */
enum status hits_end(struct hits_step *step, struct image out[], const struct detect_params *params,
                     cudaStream_t stream);
void hits_teardown(struct hits_step *step);

static inline __device__ void hits_add(struct hit_list list, float response, const struct pyramid_layout *layout, int x,
                                       int y)
{
    list.keys[atomicAdd(list.count, 1u)] = detect_key(response, layout, x, y);
}

/* The same, for a list with places. */
static inline __device__ void hits_note(struct hit_list list, float response, const struct pyramid_layout *layout,
                                        struct detect_place place)
{
    const struct pyramid_level &level = layout->levels[place.level];
    const unsigned own = atomicAdd(list.count, 1u);

    list.keys[own] = detect_key(response, layout, level.x + place.x, level.y + place.y);
    list.places[own] = place;
}

#endif
