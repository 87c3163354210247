/*
 * Problem:  cpu/bounds takes each remaining window by itself through 300 stages: 7 cycles per
 *           stage, for mispredictions and cache misses: 300 tables of 1 KB do not fit in L1.
 * Idea:     Up to 2,048 windows queue. All pass four stages before the next four, so four tables
 *           stay in L1. 16 windows are lanes of a vector; compaction without branches removes the
 *           rejected. The version of the pyramid is cpu/shuffle.
 * Expect:   4 instead of 15 instructions per window and stage: the sums in floats 4 times as fast.
 * Result:   1.2 times as fast as cpu/bounds, 16 threads (results/h100/detect/detect_1280x720.json).
 * Run:      make diff-detect A=cpu/bounds B=cpu/queue
 */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "common/simd/simd.h"
#include "cpu/detect/shared/bounds.h"
#include "cpu/detect/shared/codes.h"
#include "cpu/detect/shared/planes.h"

/* Windows of a vector that cost the queue about as much as a stage costs the vector, most of which is the look-up. */
#if defined(__AVX2__) && !defined(__AVX512VBMI__)
enum { FEW = 20 };
#else
enum { FEW = 3 };
#endif

enum { LANES = SIMD_BYTES / 4, QUEUED = 2048, GROUP = 4 /* stages between two closings */, LBP_BINS = 256 };

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Windows that may be hits: where they begin, and their responses. Entries behind the last are older windows or 0, so
 * that a vector of windows may end there. */
struct queue {
    size_t count;
    uint32_t offsets[QUEUED + LANES];
    float responses[QUEUED + LANES];
};

/* Appends the windows from `offset` on whose bits are set. */
SIMD_INLINE void append(struct queue *queue, size_t offset, uint64_t left)
{
    simd_u32 offsets = {0};

    for (uint32_t lane = 0; lane < LANES; lane++)
        offsets[lane] = (uint32_t)offset + lane;
    for (int part = 0; part < SIMD_BYTES / LANES; part++) {
        const unsigned kept = (unsigned)(left >> LANES * part) & ((1u << LANES) - 1);

        simd_store_kept(queue->offsets + queue->count, offsets, kept);
        simd_store_kept(queue->responses + queue->count, (simd_u32){0}, kept);
        queue->count += (size_t)__builtin_popcount(kept);
        offsets += LANES;
    }
}

/* Takes the windows of the queue through stages t to t + count - 1, a vector of them at a time, and closes up those
 * that are left, in order. Where feature, bins and count are constants, no loop over stages is left. */
SIMD_INLINE void close_up(const struct codes *codes, const struct detect_model *model, int feature, size_t bins, int t,
                          int count, size_t stride, struct queue *queue)
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
        simd_store_kept(queue->responses + kept, (simd_u32)responses, left);
        kept += (size_t)__builtin_popcount(left);
    }
    queue->count = kept;
}

/* Takes the windows of the queue through the first `end` stages; those that no stage rejects stay, with their
 * responses. */
static void sieve(const struct codes *codes, const struct detect_model *model, int end, size_t stride,
                  struct queue *queue)
{
    for (int t = 0; t < end && queue->count > 0; t += GROUP)
        if (model->feature == DETECT_LBP && end - t >= GROUP)
            close_up(codes, model, DETECT_LBP, LBP_BINS, t, GROUP, stride, queue);
        else
            close_up(codes, model, (int)model->feature, (int)model->bins, t, end - t < GROUP ? end - t : GROUP, stride,
                     queue);
}

/* Adds the hits among the windows of the queue, which is empty then, to the list. */
static enum status drain(const struct state *state, const struct detect_params *params, struct queue *queue,
                         struct detect_list *list)
{
    const size_t stride = state->levels.image.stride;
    enum status status = STATUS_OK;

    sieve(&state->codes, detect_model_of(params), params->stage_count, stride, queue);
    for (size_t i = 0; i < queue->count && status == STATUS_OK; i++)
        if (queue->responses[i] >= (float)params->min_response)
            status =
                detect_append(list, detect_key(queue->responses[i], &state->levels.layout,
                                               (int)(queue->offsets[i] % stride), (int)(queue->offsets[i] / stride)));
    queue->count = 0;
    return status;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1: those that may be hits go to the
 * queue. */
static enum status look(const struct state *state, const struct detect_params *params, int y, int x, int end,
                        struct queue *queue, struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x += SIMD_BYTES) {
        const size_t offset = (size_t)y * state->levels.image.stride + (size_t)x;
        uint64_t left = end - x < 64 ? ((uint64_t)1 << (end - x)) - 1 : ~(uint64_t)0;
        bounds_i8 sums = {0};

        if (SIMD_BYTES < 64)
            left &= ((uint64_t)1 << SIMD_BYTES % 64) - 1;
        for (int t = 0; __builtin_popcountll(left) > FEW && t < state->bounds.stages; t++)
            left &= bounds_decide(&state->bounds, t, &sums,
                                  codes_bins(&state->codes, model, t, offset, state->levels.image.stride));
        append(queue, offset, left);
        if (queue->count > QUEUED - SIMD_BYTES)
            status = drain(state, params, queue, list);
    }
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    struct detect_list list = {0};
    const int beyond = params->pyramid.window - 1; /* pixels behind a window's first, to the right and below */
    enum status status = STATUS_OK;

    TRY(detect_make_levels(&state->levels, in, params, "cpu/shuffle"));
    TRY(planes_make(state->planes, &state->levels));
    TRY(codes_make(&state->codes, &state->levels, state->planes, params));
    bounds_make(&state->bounds, detect_model_of(params), params->stage_count);
#pragma omp parallel
    {
        struct detect_list own = {0};
        struct queue queue = {.count = 0};
        enum status result = STATUS_OK;

        for (int l = 0; l < state->levels.layout.count; l++) {
            const struct pyramid_level *level = &state->levels.layout.levels[l];

#pragma omp for schedule(dynamic, 4) nowait
            for (int y = level->y; y < level->y + level->height - beyond; y++)
                if (result == STATUS_OK)
                    result = look(state, params, y, level->x, level->x + level->width - beyond, &queue, &own);
        }
        if (result == STATUS_OK)
            result = drain(state, params, &queue, &own);
#pragma omp critical
        if (status == STATUS_OK)
            status = result == STATUS_OK ? detect_join(&list, &own) : result;
        free(own.keys);
    }
    TRY(status);
    TRY(detect_write(&list, &state->levels.layout, params, out));
out:
    free(list.keys);
    return status;
}

static void teardown(struct state *state)
{
    detect_free_levels(&state->levels);
    codes_free(&state->codes);
    planes_free(state->planes);
}

RUNGS_CPU_VERSION_WITH_STATE(detect, .instruction_set = SIMD_NAME, .declines = detect_cells_only)
