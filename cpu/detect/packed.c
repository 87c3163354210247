/*
 * Idea:     a window costs the queue ten instructions a stage, of which three fetch a vote and the others add, compare and keep count.
 *           Those are done for a vector of windows at once, each in a lane, and a permutation closes it up.
 * Changed:  shared/packed.h, where windows are appended to the queue a vector at a time, too, and the queue has 2,048.
 * Expect:   four instructions a window and stage in place of ten: the queue, a third of the time, takes half of it: 1.2 times groups.
 *           (Written after a first form was measured.)
 * Result:   missed: 33.4 ms where groups takes 30.1, ranges overlap (results/cpu2_avx2/detect/detect_1280x720.json): probably too
 *           few windows reach the queue. The next rung hands it ten times as many.
 * From:     cpu/groups
 */
/* Try: make bench-detect */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "common/simd/simd.h"
#include "cpu/detect/shared/bounds.h"
#include "cpu/detect/shared/codes.h"
#include "cpu/detect/shared/packed.h"
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

    packed_sieve(&state->codes, detect_model_of(params), 0, params->stage_count, stride, queue);
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
        packed_append(queue, offset, left);
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
