/*
 * Problem:  cpu/serial looks at 2.9 million windows one after the other.
 * Idea:     Windows do not depend on each other, so threads share out the rows of all copies of the
 *           picture, four at a time. The schedule is dynamic, for load balancing: rows with
 *           face-like windows take longer. Each thread has a list of hits; sorting the joined list
 *           gives the order.
 * Expect:   The speedup over cpu/serial is the number of cores.
 * Result:   15 times as fast as cpu/serial, 16 threads (results/h100/detect/detect_1280x720.json).
 * Run:      make diff-detect A=cpu/serial B=cpu/omp
 */
#include <stdlib.h>

#include "common/algo/detect.h"

struct state {
    struct detect_levels levels;
};

/* Whether the window whose upper left pixel is at `offset` of the levels is a hit; its response. */
static bool is_hit(const struct state *state, const struct detect_params *params, size_t offset, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const struct detect_stage *stage = detect_stages(model), *end = stage + params->stage_count;
    const uint8_t *window = (const uint8_t *)state->levels.image.data + offset;

    *response = 0;
    for (const float *table = detect_tables(model); stage < end; stage++, table += model->bins) {
        *response += table[detect_stage_bin((int)model->feature, stage, window, state->levels.image.stride)];
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
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
