/*
 * Idea:     most windows in the queue pass the next stage, so the queue is closed up after four stages, not after each. Between two
 *           closings a window's place and response stay in registers: what is left of a stage is a bin, a vote and a comparison.
 * Changed:  close_up() moved to shared/groups.h, where it takes windows through GROUP stages; it is compiled for LBP alone as well.
 * Expect:   5 instructions a window and stage in place of 15: the queue, a third of the time, takes a third of it: 1.3 times queue.
 * Result:   missed: 30.1 ms where queue takes 33.9, 1.13 times by medians of two threads, and the interquartile ranges overlap
 *           (results/cpu2_avx2/detect/detect_1280x720.json). The next rungs stand on it.
 * From:     cpu/queue
 */
/* Try: make bench-detect */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "common/simd/simd.h"
#include "cpu/detect/shared/bounds.h"
#include "cpu/detect/shared/codes.h"
#include "cpu/detect/shared/groups.h"
#include "cpu/detect/shared/planes.h"

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Adds the hits among the windows of the queue, which is empty then, to the list. */
static enum status drain(const struct state *state, const struct detect_params *params, struct queue *queue,
                         struct detect_list *list)
{
    const size_t stride = state->levels.image.stride;
    enum status status = STATUS_OK;

    groups_sieve(&state->codes, detect_model_of(params), params->stage_count, stride, queue);
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
