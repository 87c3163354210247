/*
 * Idea:     lanes are neighbouring windows, which look at the same stage: nine loads for all of them, and comparisons
 *           that count ranks. They go on until the last of them has been rejected.
 * Changed:  look(), by vectors of windows.
 * Expect:   three times cells: a stage takes some 40 instructions for 32 windows and a look into the table for each
 *           that is left, in place of 25 for one; but the last of 32 windows stays for several stages more than the
 *           mean.
 */
#include "common/algo/detect/windows.h"
#include "common/simd/simd.h"

struct state {
    struct detect_windows windows;
};

static simd_u8 rank(const simd_u8 cells[], int k)
{
    simd_u8 count = {0};

    for (int c = 0; c < DETECT_CELLS; c++)
        count -= (simd_u8)(cells[c] < cells[k]);
    return count;
}

static simd_u8 find_bins(int feature, const struct detect_stage *stage, const uint8_t *from, size_t step)
{
    static const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};
    simd_u8 cells[DETECT_CELLS], code = {0};

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = simd_load(from + c / 3 * step + c % 3 * stage->width);
    if (feature == DETECT_LBP) {
        for (int i = 0; i < 8; i++)
            code |= (simd_u8)(cells[border[i]] > cells[4]) & (uint8_t)(1 << i);
        return code;
    }
    if (feature == DETECT_LRP)
        return rank(cells, stage->a) * DETECT_CELLS + rank(cells, stage->b);
    return rank(cells, stage->a) - rank(cells, stage->b) + (DETECT_CELLS - 1);
}

static enum status look(const struct detect_windows *windows, const struct detect_params *params, int y, int x, int end,
                        struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x += SIMD_BYTES) {
        const int lanes = end - x < SIMD_BYTES ? end - x : SIMD_BYTES;
        uint64_t alive = lanes < 64 ? ((uint64_t)1 << lanes) - 1 : ~(uint64_t)0;
        float responses[SIMD_BYTES] = {0};

        for (int t = 0; t < params->stage_count && alive; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            const float *table = detect_tables(model) + t * (int)model->bins;
            size_t step;
            const uint8_t *from = detect_find_cells(windows, stage, x, y, &step);
            uint8_t bins[SIMD_BYTES];

            simd_store(bins, find_bins((int)model->feature, stage, from, step));
            for (uint64_t left = alive; left; left &= left - 1) {
                const int i = __builtin_ctzll(left);

                responses[i] += table[bins[i]];
                if (responses[i] < stage->threshold)
                    alive &= ~((uint64_t)1 << i);
            }
        }
        for (; alive && status == STATUS_OK; alive &= alive - 1) {
            const int i = __builtin_ctzll(alive);

            if (responses[i] >= (float)params->min_response)
                status = detect_append(list, detect_key(responses[i], &windows->levels.layout, x + i, y));
        }
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
