/*
 * packed.h: the queue of windows that may be hits, whose windows go through the stages as the lanes of a vector.
 */
#ifndef RUNGS_DETECT_STEPS_PACKED_H
#define RUNGS_DETECT_STEPS_PACKED_H

#include "cpu/detect/shared/codes.h"

enum { LANES = SIMD_BYTES / 4, QUEUED = 2048, GROUP = 4 /* stages between two closings */, LBP_BINS = 256 };

/* Windows that may be hits: where they begin, and their responses. What is behind the last was a window once, or is 0: a vector of
 * windows may end there. */
struct queue {
    size_t count;
    uint32_t offsets[QUEUED + LANES];
    float responses[QUEUED + LANES];
};

/* Appends the windows from `offset` on whose bits are set. */
SIMD_INLINE void packed_append(struct queue *queue, size_t offset, uint64_t left)
{
    simd_u32 offsets = {0};

    for (uint32_t lane = 0; lane < LANES; lane++)
        offsets[lane] = (uint32_t)offset + lane;
    for (int part = 0; part < SIMD_BYTES / LANES; part++) {
        const unsigned kept = (unsigned)(left >> LANES * part) & ((1u << LANES) - 1);

        simd_store_kept(queue->offsets + queue->count, offsets, kept);
        simd_store_kept((uint32_t *)queue->responses + queue->count, (simd_u32){0}, kept);
        queue->count += (size_t)__builtin_popcount(kept);
        offsets += LANES;
    }
}

/* Takes the windows of the queue through stages t to t + count - 1, a vector of them at a time, and closes up those that are left,
 * in order. Where feature, bins and count are constants, no loop over stages is left. */
SIMD_INLINE void packed_close_up(const struct codes *codes, const struct detect_model *model, int feature, size_t bins,
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
    for (size_t i = 0; i < queue->count; i += LANES) {
        const simd_u32 offsets = (simd_u32)simd_load(queue->offsets + i);
        simd_f32 responses = (simd_f32)simd_load(queue->responses + i);
        simd_i32 lost = {0};
        unsigned left = (1u << LANES) - 1;

        if (queue->count - i < LANES)
            left = (1u << (queue->count - i)) - 1;
#pragma GCC unroll 4
        for (int k = 0; k < count; k++) {
            simd_f32 votes = {0};

#pragma GCC unroll 16
            for (size_t lane = 0; lane < LANES; lane++) {
                const uint8_t *from = first[k] + queue->offsets[i + lane];
                const size_t bin = feature == DETECT_LBP
                                       ? *from
                                       : (size_t)cells_bin(feature, &stages[k], from, stages[k].height * stride);
                votes[lane] = tables[k][bin];
            }
            responses += votes;
            lost |= responses < thresholds[k];
        }
        left &= ~simd_signs(lost);
        simd_store_kept(queue->offsets + kept, offsets, left);
        simd_store_kept((uint32_t *)queue->responses + kept, (simd_u32)responses, left);
        kept += (size_t)__builtin_popcount(left);
    }
    queue->count = kept;
}

/* Takes the windows of the queue through stages t to end - 1; those that no stage rejects stay, with their responses. */
static inline void packed_sieve(const struct codes *codes, const struct detect_model *model, int t, int end,
                                size_t stride, struct queue *queue)
{
    for (; t < end && queue->count > 0; t += GROUP)
        if (model->feature == DETECT_LBP && end - t >= GROUP)
            packed_close_up(codes, model, DETECT_LBP, LBP_BINS, t, GROUP, stride, queue);
        else
            packed_close_up(codes, model, (int)model->feature, (int)model->bins, t, end - t < GROUP ? end - t : GROUP,
                            stride, queue);
}

#endif
