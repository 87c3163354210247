/*
 * Idea:     The definition (WaldBoost): each window of the picture and of its smaller copies goes
 *           through stages. A stage compares nine cells (means of 1 to 4 pixels), looks up a number
 *           for the outcome in its table and adds it to the window's response; a response below the
 *           stage's threshold rejects the window.
 * Expect:   40 ns per stage, for nine cells and up to 18 comparisons; the 2.9 million windows of
 *           1280x720 are rejected after 5 stages on average: 0.58 s.
 * Result:   0.29 s (results/h100/detect/detect_1280x720.json): windows take 3 stages, not 5.
 * Run:      make bench-detect VERSIONS=cpu/serial
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

    TRY(detect_make_levels(&state->levels, in, params, "cpu/serial"));
    for (int l = 0; l < state->levels.layout.count; l++) {
        const struct pyramid_level *level = &state->levels.layout.levels[l];

        for (int y = level->y; y < level->y + level->height - beyond; y++)
            TRY(look(state, params, y, level->x, level->x + level->width - beyond, &list));
    }
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
