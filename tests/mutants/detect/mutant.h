/*
 * mutant.h: what the mutants of detect share: a right answer in parts, of which each of them spoils one.
 */
#ifndef RUNGS_DETECT_MUTANT_H
#define RUNGS_DETECT_MUTANT_H

#include <stdlib.h>

#include "common/algo/detect.h"

struct state {
    struct detect_levels levels;
};

typedef int mutant_coder(int feature, const struct detect_stage *stage, const uint8_t *window, size_t stride);

static inline bool mutant_is_hit(const struct detect_params *params, const uint8_t *window, size_t stride,
                                 mutant_coder *code, float *response)
{
    const struct detect_model *model = detect_model_of(params);

    *response = 0;
    for (int t = 0; t < params->stage_count; t++) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        *response += detect_tables(model)[t * (int)model->bins + code((int)model->feature, stage, window, stride)];
        if (*response < stage->threshold)
            return false;
    }
    return *response >= (float)params->min_response;
}

/* Windows that lie within a level but for `beyond` columns fewer than a window has. */
static inline enum status mutant_run(struct state *state, const struct image *in, struct image *out,
                                     const struct detect_params *params, mutant_coder *code, int beyond)
{
    struct detect_list list = {0};
    const int window = params->pyramid.window;
    enum status status = STATUS_OK;

    TRY(detect_make_levels(&state->levels, in, params, "cpu/serial"));
    for (int l = 0; l < state->levels.layout.count; l++) {
        const struct pyramid_level *level = &state->levels.layout.levels[l];

        for (int y = level->y; y <= level->y + level->height - window; y++) {
            for (int x = level->x; x <= level->x + level->width - window - beyond; x++) {
                float response;
                if (mutant_is_hit(params, (const uint8_t *)image_row(&state->levels.image, y) + x,
                                  state->levels.image.stride, code, &response))
                    TRY(detect_append(&list, detect_key(response, &state->levels.layout, x, y)));
            }
        }
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

#endif
