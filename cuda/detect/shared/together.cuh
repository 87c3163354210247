/*
 * together.cuh: a warp looks at one window, its lanes at 32 stages.
 */
#ifndef RUNGS_DETECT_STEPS_TOGETHER_CUH
#define RUNGS_DETECT_STEPS_TOGETHER_CUH

#include "cuda/detect/shared/planes.cuh"

enum { TOGETHER_LANES = 32 };

/* Whether the stages from `from` on let the window pass, each lane another stage; adds to its response. */
template <planes_find find_bin = planes_bin>
static inline __device__ bool together_pass(const struct model_view &model, const uint8_t *window, int width, int size,
                                            int from, float *response)
{
    const int lane = threadIdx.x % TOGETHER_LANES;

    for (; from < model.count; from += TOGETHER_LANES) {
        const struct detect_stage &stage = model.stages[min(from + lane, model.count - 1)];
        float value = 0, sum = *response;
        if (from + lane < model.count)
            value = model.tables[(from + lane) * model.bins + find_bin(model.feature, stage, window, width, size)];
        for (int i = 0; i < TOGETHER_LANES; i++) {
            const float next = __shfl_sync(0xffffffff, value, i);
            sum += i <= lane ? next : 0;
        }
        if (__any_sync(0xffffffff, sum < stage.threshold))
            return false;
        *response = __shfl_sync(0xffffffff, sum, TOGETHER_LANES - 1);
    }
    return true;
}

#endif
