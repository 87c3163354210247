/*
 * Idea:     a stage costs a vector of bounds the same whether one of its windows is left or all. As soon as the queue
 *           would take the windows that are left through a stage for less, it gets them.
 * Changed:  the loop of look() ends at BOUNDS_FEW windows, which the cost of a look-up says: 20 of 32 with AVX2, whose bounds take 16
 *           permutations, 3 of 64 with AVX-512 VBMI, whose take two.
 * Expect:   with AVX2, 13 stages a vector become 2, for ten times as many windows in the queue, of which four in five leave within 8
 *           stages: a quarter of the time of look() less. Nothing with VBMI. (Written after a first form was measured.)
 * Result:   24.9 ms with AVX2, 1.34 times packed and 1.21 times groups (results/cpu2_avx2/detect/detect_1280x720.json): more than
 *           predicted.
 * From:     cpu/packed
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
        for (int t = 0; __builtin_popcountll(left) > BOUNDS_FEW && t < state->bounds.stages; t++)
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
