/*
 * Problem:  cpu/cells uses 9 of 16 lanes, and a branch misprediction ends nearly every window.
 * Idea:     Lanes are SIMD_BYTES neighbouring windows: nine loads bring their cells, all lanes
 *           work, and a vector has one branch where each window had one. A bit mask says which
 *           windows remain; the last four go on alone: a vector costs as much for four as for all.
 * Expect:   A stage takes 15 ns per vector, 3 ns per lone window: 2 times as fast as cpu/cells.
 * Result:   1.8 times as fast as cpu/cells, 16 threads (results/h100/detect/detect_1280x720.json).
 * Run:      make diff-detect A=cpu/cells B=cpu/simd
 */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "cpu/detect/shared/cells.h"
#include "cpu/detect/shared/lanes.h"
#include "cpu/detect/shared/planes.h"

enum { FEW = 4 /* windows of a vector that go on alone */ };

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
};

/* Whether the window at `offset` is a hit, from stage t and the response so far on. */
static bool go_on(const struct state *state, const struct detect_params *params, size_t offset, int t, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const float *table = detect_tables(model) + t * (int)model->bins;

    for (; t < params->stage_count; t++, table += model->bins) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const uint8_t *from = planes_first_cell(state->planes, &state->levels, stage) + offset;
        *response += table[cells_bin((int)model->feature, stage, from, stage->height * state->levels.image.stride)];
        if (*response < stage->threshold)
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
        struct lanes lanes = {.alive = end - x < 64 ? ((uint64_t)1 << (end - x)) - 1 : ~(uint64_t)0};
        int t = 0;

        if (SIMD_BYTES < 64)
            lanes.alive &= ((uint64_t)1 << SIMD_BYTES % 64) - 1;
        for (; t < params->stage_count && __builtin_popcountll(lanes.alive) > FEW; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            const uint8_t *from = planes_first_cell(state->planes, &state->levels, stage) + offset;
            const simd_u8 bins =
                lanes_bins((int)model->feature, stage, from, stage->height * state->levels.image.stride);
            lanes_decide(&lanes, bins, detect_tables(model) + t * (int)model->bins, (int)model->bins, stage->threshold);
        }
        for (uint64_t left = lanes.alive; left && status == STATUS_OK; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            float response = lanes.responses[i / LANES_FLOATS][i % LANES_FLOATS];
            if (go_on(state, params, offset + (size_t)i, t, &response))
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
    planes_free(state->planes);
}

RUNGS_CPU_VERSION_WITH_STATE(detect, .instruction_set = SIMD_NAME, .declines = detect_cells_only)
