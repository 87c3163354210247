/*
 * Problem:  cpu/codes gathers 64 floats of a table per stage: 4 gathers of 16, some 30 cycles.
 * Idea:     To reject a window, an upper bound of its response (its sum of table entries) is
 *           enough. Entries rounded up to bytes fit in registers (shared/bounds.h): two
 *           permutations look up 64. Windows that the bound does not reject are summed in floats.
 * Expect:   look(), the stages, 2 times, all 1.5 times as fast as cpu/codes, by fewer instructions.
 * Result:   1.15 times as fast as cpu/codes with 16 threads, 3.2 ms
 *           (results/h100/detect/detect_1280x720.json); the reason is not known.
 * Run:      make diff-detect A=cpu/codes B=cpu/bounds
 */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "common/simd/simd.h"
#include "cpu/detect/shared/bounds.h"
#include "cpu/detect/shared/codes.h"
#include "cpu/detect/shared/planes.h"

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
    struct codes codes;
    struct bounds bounds;
};

/* Whether the window at `offset` is a hit; its response. */
static bool is_hit(const struct state *state, const struct detect_params *params, size_t offset, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const float *table = detect_tables(model);

    *response = 0;
    for (int t = 0; t < params->stage_count; t++, table += model->bins) {
        *response += table[codes_bin(&state->codes, model, t, offset, state->levels.image.stride)];
        if (*response < detect_stages(model)[t].threshold)
            return false;
    }
    return *response >= (float)params->min_response;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1. */
static enum status look(const struct state *state, const struct detect_params *params, int y, int x, int end,
                        struct detect_list *list)
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
        for (; left && status == STATUS_OK; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            float response;
            if (is_hit(state, params, offset + (size_t)i, &response))
                status = detect_append(list, detect_key(response, &state->levels.layout, x + i, y));
        }
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
        enum status result = STATUS_OK;

        for (int l = 0; l < state->levels.layout.count; l++) {
            const struct pyramid_level *level = &state->levels.layout.levels[l];

#pragma omp for schedule(dynamic, 4) nowait
            for (int y = level->y; y < level->y + level->height - beyond; y++)
                if (result == STATUS_OK)
                    result = look(state, params, y, level->x, level->x + level->width - beyond, &own);
        }
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
