/*
 * Idea:     most windows in the queue pass the next stage, so the queue is closed up after four stages, not after each. Between two
 *           closings a window's place and response stay in registers: what is left of a stage is a bin, a vote and a comparison.
 * Changed:  close_up() takes windows through GROUP stages; it is compiled for LBP alone as well, and for what is no whole group.
 * Expect:   5 instructions a window and stage in place of 15: the queue, a third of the time, takes a third of it: 1.3 times queue.
 * From:     cpu/queue
 */
/* Try: make bench-detect */
#include <stdlib.h>
#include <string.h>

#include "common/algo/detect.h"
#include "common/simd/simd.h"
#include "cpu/detect/steps/bounds.h"
#include "cpu/detect/steps/codes.h"
#include "cpu/detect/steps/planes.h"

enum { QUEUED = 1024, GROUP = 4 /* stages between two closings */, LBP_BINS = 256 };

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Windows that may be hits: where they begin, and their responses. */
struct queue {
    size_t count;
    uint32_t offsets[QUEUED];
    float responses[QUEUED];
};

/* Takes the windows of the queue through stages t to t + count - 1, and closes up those that are left, in order, without a branch
 * that could be mispredicted. Where feature, bins and count are constants, no loop over stages is left. */
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

/* Adds the hits among the windows of the queue, which is empty then, to the list. */
static enum status drain(const struct state *state, const struct detect_params *params, struct queue *queue,
                         struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    const size_t stride = state->levels.image.stride;
    enum status status = STATUS_OK;

    memset(queue->responses, 0, sizeof queue->responses);
    for (int t = 0; t < params->stage_count && queue->count > 0; t += GROUP)
        if (model->feature == DETECT_LBP && params->stage_count - t >= GROUP)
            close_up(&state->codes, model, DETECT_LBP, LBP_BINS, t, GROUP, stride, queue);
        else
            close_up(&state->codes, model, (int)model->feature, (int)model->bins, t,
                     params->stage_count - t < GROUP ? params->stage_count - t : GROUP, stride, queue);
    for (size_t i = 0; i < queue->count && status == STATUS_OK; i++)
        if (queue->responses[i] >= (float)params->min_response)
            status =
                detect_append(list, detect_key(queue->responses[i], &state->levels.layout,
                                               (int)(queue->offsets[i] % stride), (int)(queue->offsets[i] / stride)));
    queue->count = 0;
    return status;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1: those that may be hits go to the queue. */
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
        for (int t = 0; left && t < state->bounds.stages; t++)
            left &= bounds_decide(&state->bounds, t, &sums,
                                  codes_bins(&state->codes, model, t, offset, state->levels.image.stride));
        for (; left; left &= left - 1)
            queue->offsets[queue->count++] = (uint32_t)offset + (uint32_t)__builtin_ctzll(left);
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

    TRY(detect_make_levels(&state->levels, in, params, "cpu/simd"));
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
