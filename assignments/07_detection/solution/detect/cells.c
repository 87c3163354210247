/*
 * Idea:     lanes are the nine cells of one window: a rank is one comparison of all with one of them, and a count.
 * Changed:  find_bin().
 * Expect:   three times cpu/serial: nine bytes in place of up to 36, and two comparisons in place of 18; nine bytes one
 *           by one into a vector are what is left.
 */
#include <string.h>

#include "common/algo/detect/windows.h"

struct state {
    struct detect_windows windows;
};

typedef uint8_t lanes __attribute__((vector_size(16)));

/* Lanes 0 to 8 are the cells, the others 0. */
static lanes load(const uint8_t *cells, size_t step, int width)
{
    uint8_t nine[16] = {0};
    lanes result;

    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            nine[3 * j + i] = cells[j * step + i * width];
    memcpy(&result, nine, sizeof result);
    return result;
}

/* How many of the lanes 0 to 8 are -1. */
static int count(lanes yes)
{
    uint64_t first;

    memcpy(&first, &yes, sizeof first);
    return __builtin_popcountll(first) / 8 + (yes[8] != 0);
}

static int find_bin(int feature, const struct detect_stage *stage, const uint8_t *cells, size_t step)
{
    static const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};
    const lanes nine = load(cells, step, stage->width);
    int code = 0;

    if (feature == DETECT_LBP) {
        const lanes above = (lanes)(nine > nine[4]);

        for (int i = 0; i < 8; i++)
            code |= (above[border[i]] != 0) << i;
        return code;
    }
    const int a = count((lanes)(nine < nine[stage->a])), b = count((lanes)(nine < nine[stage->b]));
    return feature == DETECT_LRP ? DETECT_CELLS * a + b : a - b + DETECT_CELLS - 1;
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
