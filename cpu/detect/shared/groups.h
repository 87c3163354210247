/*
 * groups.h: the queue of windows that may be hits, and how its windows go through the stages, several at a time.
 */
#ifndef RUNGS_DETECT_STEPS_GROUPS_H
#define RUNGS_DETECT_STEPS_GROUPS_H

#include <string.h>

#include "cpu/detect/shared/codes.h"

enum { QUEUED = 1024, GROUP = 4 /* stages between two closings */, LBP_BINS = 256 };

/* Windows that may be hits: where they begin, and their responses. */
struct queue {
    size_t count;
    uint32_t offsets[QUEUED];
    float responses[QUEUED];
};

/* Takes the windows of the queue through stages t to t + count - 1, and closes up those that are left, in order, without a branch
 * that could be mispredicted. Where feature, bins and count are constants, no loop over stages is left. */
SIMD_INLINE void groups_close_up(const struct codes *codes, const struct detect_model *model, int feature, size_t bins,
                                 int t, int count, size_t stride, struct queue *queue)
{
    const struct detect_stage *stages = detect_stages(model) + t;
    const float *tables[GROUP] = {NULL};
    const uint8_t *first[GROUP] = {NULL};
    float thresholds[GROUP] = {0};
    size_t kept = 0;

    for (int k = 0; k < count; k++) {
        first[k] = codes->first[t + k];
        tables[k] = detect_tables(model) + (size_t)(t + k) * bins;
        thresholds[k] = stages[k].threshold;
    }
    for (size_t i = 0; i < queue->count; i++) {
        const uint32_t offset = queue->offsets[i];
        float response = queue->responses[i];
        unsigned lost = 0;

        for (int k = 0; k < count; k++) {
            const uint8_t *from = first[k] + offset;
            const size_t bin =
                feature == DETECT_LBP ? *from : (size_t)cells_bin(feature, &stages[k], from, stages[k].height * stride);

            response += tables[k][bin];
            lost |= response < thresholds[k];
        }
        queue->offsets[kept] = offset;
        queue->responses[kept] = response;
        kept += !lost;
    }
    queue->count = kept;
}

/* Takes the windows of the queue through the first `count` stages; those that no stage rejects stay, with their responses. */
static inline void groups_sieve(const struct codes *codes, const struct detect_model *model, int count, size_t stride,
                                struct queue *queue)
{
    memset(queue->responses, 0, sizeof queue->responses);
    for (int t = 0; t < count && queue->count > 0; t += GROUP)
        if (model->feature == DETECT_LBP && count - t >= GROUP)
            groups_close_up(codes, model, DETECT_LBP, LBP_BINS, t, GROUP, stride, queue);
        else
            groups_close_up(codes, model, (int)model->feature, (int)model->bins, t,
                            count - t < GROUP ? count - t : GROUP, stride, queue);
}

#endif
