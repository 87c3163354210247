/*
 * Idea:     sums of cells in place of means, which only differ where a mean is rounded: ranks do not care, it seems.
 * Changed:  cells that have equal means may have different sums, so that ties break.
 * Expect:   score
 */
#include "tests/mutants/detect/mutant.h"

static int code_sums(int feature, const struct detect_stage *stage, const uint8_t *window, size_t stride)
{
    int sums[DETECT_CELLS], order[DETECT_CELLS];
    uint8_t ranks[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++) {
        const uint8_t *from =
            window + (size_t)(stage->y + c / 3 * stage->height) * stride + stage->x + c % 3 * stage->width;
        sums[c] = 0;
        for (int i = 0; i < stage->width * stage->height; i++)
            sums[c] += from[(size_t)(i / stage->width) * stride + (size_t)(i % stage->width)];
    }
    for (int c = 0; c < DETECT_CELLS; c++) {
        order[c] = 0;
        for (int i = 0; i < DETECT_CELLS; i++)
            order[c] += sums[i] < sums[c];
        ranks[c] = (uint8_t)order[c]; /* ranks are in the order of the sums, so they may stand for them */
    }
    return detect_bin(feature, ranks, stage->a, stage->b);
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    return mutant_run(state, in, out, params, code_sums, 0);
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
