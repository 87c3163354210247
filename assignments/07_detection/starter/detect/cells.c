/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/serial)
 * Expect:   (how many times as fast as cpu/serial it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/detect/windows.h"
#include "common/simd/simd.h"

struct state {
    struct detect_windows windows;
};

/* Task 1: the bin of a stage (detect.h, "Feature") whose cell 3j + i is the byte at cells[j * step + i * stage->width].
 * All nine cells in one vector. */
static int find_bin(int feature, const struct detect_stage *stage, const uint8_t *cells, size_t step)
{
    (void)feature, (void)stage, (void)cells, (void)step;
    return -1;
}

static enum status look(const struct detect_windows *windows, const struct detect_params *params, int y, int x, int end,
                        struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x++) {
        float response = 0;
        int t = 0;

        for (; t < params->stage_count; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            size_t step;
            const uint8_t *cells = detect_find_cells(windows, stage, x, y, &step);
            const int bin = find_bin((int)model->feature, stage, cells, step);

            if (bin < 0)
                return status_set(STATUS_FAILED, "cells.c is not written yet");
            response += detect_tables(model)[t * (int)model->bins + bin];
            if (response < stage->threshold)
                break;
        }
        if (t == params->stage_count && response >= (float)params->min_response)
            status = detect_append(list, detect_key(response, &windows->levels.layout, x, y));
    }
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    return detect_all_windows(&state->windows, in, out, params, look);
}

static void teardown(struct state *state)
{
    detect_free_windows(&state->windows);
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
