/*
 * Problem:  Per stage, cpu/omp computes nine cells (means of 1 to 4 pixels) and compares them.
 * Idea:     Windows overlap, so means are computed once per pixel and size of cell
 *           (shared/planes.h). Two shuffles put the nine cells into the lanes of one vector; one
 *           instruction compares all (Jošth 2014; shared/cells.h).
 * Expect:   9 times as fast as cpu/omp: 25 instructions and a few mispredictions instead of 40 ns.
 * Result:   2.2 times as fast as cpu/omp with 16 threads, 8.8 ms
 *           (results/h100/detect/detect_1280x720.json); the reason is not known.
 * Run:      make diff-detect A=cpu/omp B=cpu/cells
 */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "cpu/detect/shared/cells.h"
#include "cpu/detect/shared/planes.h"

struct state {
    struct detect_levels levels;
    struct image planes[PLANES_KINDS];
};

/* The bin of a stage in the window at `offset`. */
static int find_bin(const struct state *state, const struct detect_model *model, const struct detect_stage *stage,
                    size_t offset)
{
    const uint8_t *from = planes_first_cell(state->planes, &state->levels, stage) + offset;

    return cells_bin((int)model->feature, stage, from, stage->height * state->levels.image.stride);
}

/* Whether the window whose upper left pixel is at `offset` of the levels is a hit; its response. */
static bool is_hit(const struct state *state, const struct detect_params *params, size_t offset, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const struct detect_stage *stage = detect_stages(model), *end = stage + params->stage_count;

    *response = 0;
    for (const float *table = detect_tables(model); stage < end; stage++, table += model->bins) {
        *response += table[find_bin(state, model, stage, offset)];
        if (*response < stage->threshold)
            return false;
    }
    return *response >= (float)params->min_response;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1. */
static enum status look(const struct state *state, const struct detect_params *params, int y, int x, int end,
                        struct detect_list *list)
{
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x++) {
        float response;
        if (is_hit(state, params, (size_t)y * state->levels.image.stride + (size_t)x, &response))
            status = detect_append(list, detect_key(response, &state->levels.layout, x, y));
    }
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    struct detect_list list = {0};
    const int beyond = params->pyramid.window - 1; /* pixels behind a window's first, to the right and below */
    enum status status = STATUS_OK;

    TRY(detect_make_levels(&state->levels, in, params, "cpu/omp"));
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
