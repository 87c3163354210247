/*
 * Idea:     the definition: every window of every level goes through the stages until one of them rejects it.
 * Changed:  nothing; this is the ground that the ladder stands on, and the reference for every other version.
 * Expect:   some 40 ns a stage for nine cells of up to four pixels and 18 comparisons. A 1280x720 picture has 2.9 million
 *           windows, which leave after four stages on average: half a second.
 */
/* Try: make bench-detect */
#include <stdio.h>
#include <stdlib.h>

#include "common/algo/detect.h"
#include "common/contract/pipeline.h"

struct state {
    struct step pyramid;
    struct image levels;
};

/* Whether the window whose upper left pixel is at `window` is a hit; its response. */
static bool is_hit(const struct detect_params *params, const uint8_t *window, size_t stride, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const struct detect_stage *stages = detect_stages(model);
    const float *table = detect_tables(model);

    *response = 0;
    for (int t = 0; t < params->stage_count; t++, table += model->bins) {
        *response += table[detect_stage_bin((int)model->feature, &stages[t], window, stride)];
        if (*response < stages[t].threshold)
            return false;
    }
    return *response >= (float)params->min_score;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    struct detect_list list = {0};
    struct pyramid_layout layout;
    char settings[64];
    enum status status = STATUS_OK;

    pyramid_lay_out(in->width, in->height, &params->pyramid, &layout);
    if (!state->levels.data) {
        snprintf(settings, sizeof settings, "scale=%.17g window=%d", params->scale, params->pyramid.window);
        TRY(step_open(&state->pyramid, "pyramid", "pyramid", "cpu/serial", settings));
        TRY(image_create(&state->levels, layout.width, layout.height, 1, PIXEL_U8));
    }
    TRY(step_run(&state->pyramid, in, &state->levels, NULL));
    for (int l = 0; l < layout.count; l++) {
        const struct pyramid_level *level = &layout.levels[l];

        for (int y = level->y; y <= level->y + level->height - params->pyramid.window; y++) {
            for (int x = level->x; x <= level->x + level->width - params->pyramid.window; x++) {
                float response;
                if (is_hit(params, (const uint8_t *)image_row(&state->levels, y) + x, state->levels.stride, &response))
                    TRY(detect_append(&list, detect_key(response, &layout, x, y)));
            }
        }
    }
    TRY(detect_write(&list, &layout, params, out));
out:
    free(list.keys);
    return status;
}

static void teardown(struct state *state)
{
    step_close(&state->pyramid);
    image_free(&state->levels);
    *state = (struct state){0};
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
