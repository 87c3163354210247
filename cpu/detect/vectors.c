/*
 * Idea:     vectors wait, too: 160 of them go through a stage before the next one is looked at. They are independent of each
 *           other, so their waits overlap; the stage's votes stay in registers; and the vectors without a window left are closed
 *           up without a branch.
 * Changed:  look() appends vectors to a list, which sift(), for one stage, and settle() take to the queue of windows.
 * Expect:   a vector's 17 stages, 23 cycles each, waited for one another, and each vector ended with mispredicted branches: 8
 *           cycles a stage, so half of the loop's time, a fifth of the whole.
 * From:     cpu/passes
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

enum { PASS = 4 /* stages */, VECTORS = 160 };

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Vectors of neighbouring windows: where they begin, bounds of their responses, and bit i: window i may be left. */
struct vectors {
    size_t count;
    bounds_i8 sums[VECTORS];
    uint64_t left[VECTORS];
    uint32_t offsets[VECTORS];
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

/* Takes the vectors through stage t, and closes up those with windows left, in order. */
static void sift(const struct state *state, const struct detect_model *model, int t, struct vectors *restrict vectors)
{
    size_t kept = 0;

    for (size_t i = 0; i < vectors->count; i++) {
        const uint32_t offset = vectors->offsets[i];
        const simd_u8 bins = codes_bins(&state->codes, model, t, offset, state->levels.image.stride);
        bounds_i8 sums = vectors->sums[i];
        const uint64_t left = vectors->left[i] & bounds_decide(&state->bounds, t, &sums, bins);

        vectors->offsets[kept] = offset;
        vectors->sums[kept] = sums;
        vectors->left[kept] = left;
        kept += left != 0;
    }
    vectors->count = kept;
}

/* Takes the vectors through all stages with bounds; their windows that may be hits go to the queue. */
static enum status settle(const struct state *state, const struct detect_params *params, struct vectors *vectors,
                          struct queue *queue, struct detect_list *list)
{
    enum status status = STATUS_OK;

    memset(vectors->sums, 0, sizeof vectors->sums);
    for (int t = 0; t < state->bounds.stages && vectors->count > 0; t++)
        sift(state, detect_model_of(params), t, vectors);
    for (size_t i = 0; i < vectors->count && status == STATUS_OK; i++) {
        for (uint64_t left = vectors->left[i]; left; left &= left - 1)
            queue->offsets[queue->count++] = vectors->offsets[i] + (uint32_t)__builtin_ctzll(left);
        if (queue->count > QUEUED - SIMD_BYTES)
            status = drain(state, params, queue, list);
    }
    vectors->count = 0;
    return status;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1. */
static enum status look(const struct state *state, const struct detect_params *params, int y, int x, int end,
                        struct vectors *vectors, struct queue *queue, struct detect_list *list)
{
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x += SIMD_BYTES) {
        const uint64_t all = SIMD_BYTES < 64 ? ((uint64_t)1 << SIMD_BYTES % 64) - 1 : ~(uint64_t)0;

        vectors->left[vectors->count] = end - x < SIMD_BYTES ? ((uint64_t)1 << (end - x)) - 1 : all;
        vectors->offsets[vectors->count++] = (uint32_t)y * (uint32_t)state->levels.image.stride + (uint32_t)x;
        if (vectors->count == VECTORS)
            status = settle(state, params, vectors, queue, list);
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
        struct vectors vectors = {.count = 0};
        enum status result = STATUS_OK;

        for (int l = 0; l < state->levels.layout.count; l++) {
            const struct pyramid_level *level = &state->levels.layout.levels[l];

#pragma omp for schedule(dynamic, 4) nowait
            for (int y = level->y; y < level->y + level->height - beyond; y++)
                if (result == STATUS_OK)
                    result = look(state, params, y, level->x, level->x + level->width - beyond, &vectors, &queue, &own);
        }
        if (result == STATUS_OK)
            result = settle(state, params, &vectors, &queue, &own);
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
