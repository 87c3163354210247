/*
 * decoded.cuh: stages in the terms of a tile's planes, as a kernel parameter. Where cells lie follows from a stage and the planes' shape,
 * the same for all windows.
 */
#ifndef RUNGS_DETECT_STEPS_DECODED_CUH
#define RUNGS_DETECT_STEPS_DECODED_CUH

#include "cuda/detect/shared/chosen.cuh"
#include "cuda/detect/shared/four.cuh"

struct alignas(16) decoded_stage {
    int from;             /* the first cell's byte, from the window's in the first plane on */
    unsigned short below; /* bytes from a cell to the one below it */
    uint8_t ranks[2];     /* of LRD and LRP: the stage's a and b */
    int width;            /* of a cell */
    float threshold;
};

/* No parts of a classifier end behind these. */
struct decoded_stages {
    struct decoded_stage first[CONSTANT_STAGES];
};

static inline struct decoded_stages decoded_make(const struct detect_params *params, int stride, int size)
{
    const struct detect_stage *from = detect_stages(detect_model_of(params));
    struct decoded_stages stages = {};

    for (int t = 0; t < min(params->stage_count, (int)CONSTANT_STAGES); t++)
        stages.first[t] = {(from[t].width - 1 + 2 * (from[t].height - 1)) * size + from[t].y * stride + from[t].x,
                           (unsigned short)(from[t].height * stride),
                           {from[t].a, from[t].b},
                           from[t].width,
                           from[t].threshold};
    return stages;
}

/* As four_bins() and chosen_bin(). */
static inline __device__ unsigned decoded_four(int feature, const struct decoded_stage &stage, const uint8_t *window)
{
    const int skipped = stage.from % 4;

    return four_bins(feature, window + stage.from - skipped, skipped, stage.width, stage.below, stage.ranks[0],
                     stage.ranks[1]);
}

static inline __device__ int decoded_bin(int feature, const struct decoded_stage &stage, const uint8_t *window)
{
    const uint8_t *from = window + stage.from;
    const unsigned skipped = (unsigned)(uintptr_t)from % 4;

    if (feature != DETECT_LBP)
        return planes_bin(feature, from, stage.width, stage.below, stage.ranks[0], stage.ranks[1]);
    return chosen_code(from - skipped, stage.below, chosen_bytes(skipped, stage.width));
}

/* Whether stages `from` to `to` - 1 let the window pass; adds to its response. */
static inline __device__ bool decoded_pass(const struct decoded_stages &stages, const struct model_view &model,
                                           const uint8_t *window, int from, int to, float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        const struct decoded_stage stage = stages.first[t];
        *response += table[decoded_bin(model.feature, stage, window)];
        if (*response < stage.threshold)
            return false;
    }
    return true;
}

#endif
