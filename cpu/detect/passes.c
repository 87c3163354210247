/*
 * Idea:     a window of the queue goes through four stages before the queue is closed up: what it costs to find a window and to put
 *           it back is shared by four, and four bins are waited for at once.
 * Changed:  close_up() takes windows through `stages` stages, and drain() calls it for four, at the end of the model for one.
 * Expect:   2 cycles for a window and stage in place of 5, and a tenth more of them, for a rejected window goes on to the end of
 *           its four: half of drain(), which was a third of the whole: 1.2 times queue.
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
#include "cpu/detect/steps/queue.h"

enum { PASS = 4 /* stages */ };

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Takes the windows of the queue through so many stages from t on, and closes up those that none of them rejects, in order,
 * without a branch that could be mispredicted. `feature` and `stages` are known where this is inlined. */
SIMD_INLINE void close_up(const struct codes *codes, const struct detect_model *model, int feature, int t, int stages,
                          size_t stride, struct queue *restrict queue)
{
    const size_t bins = feature == DETECT_LBP ? BOUNDS_BINS : model->bins;
    const float *tables = detect_tables(model) + (size_t)t * bins;
    size_t kept = 0;

    for (size_t i = 0; i < queue->count; i++) {
        const uint32_t offset = queue->offsets[i];
        float response = queue->responses[i];
        unsigned rejected = 0;

        for (int k = 0; k < stages; k++) {
            const unsigned bin = feature == DETECT_LBP ? codes->first[t + k][offset]
                                                       : (unsigned)codes_bin(codes, model, t + k, offset, stride);
            response += tables[(size_t)k * bins + bin];
            rejected |= response < detect_stages(model)[t + k].threshold;
        }
        queue->offsets[kept] = offset;
        queue->responses[kept] = response;
        kept += !rejected;
    }
    queue->count = kept;
}

/* Adds the hits among the windows of the queue, which is empty then, to the list. */
static enum status drain(const struct state *state, const struct detect_params *params, struct queue *queue,
                         struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    const size_t stride = state->levels.image.stride;
    int t = 0;

    memset(queue->responses, 0, sizeof queue->responses);
    for (; t + PASS <= params->stage_count && queue->count > 0; t += PASS)
        if (model->feature == DETECT_LBP)
            close_up(&state->codes, model, DETECT_LBP, t, PASS, stride, queue);
        else
            close_up(&state->codes, model, (int)model->feature, t, PASS, stride, queue);
    for (; t < params->stage_count && queue->count > 0; t++)
        close_up(&state->codes, model, (int)model->feature, t, 1, stride, queue);
    return queue_list(queue, &state->levels, params, list);
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

RUNGS_CPU_VERSION_WITH_STATE(detect, .instruction_set = SIMD_NAME)
