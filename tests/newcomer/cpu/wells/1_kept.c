/*
 * Idea:     the wells of a call are kept in a list, and the list is written from its end.
 * Changed:  a list, which lasts from call to call.
 * Expect:   nothing.
 */
#include "common/algo/wells.h"

#include <stdlib.h>

struct state {
    int (*list)[3]; /* x, y, depth */
    int room;
};

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct wells_params *params)
{
    double *moments[2] = {image_row(&out[2], 0), image_row(&out[2], 1)};
    const int pixels = in->width * in->height;
    int found = 0;

    if (state->room < pixels) {
        free(state->list);
        state->room = 0;
        state->list = malloc((size_t)pixels * sizeof *state->list);
        if (!state->list)
            return status_set(STATUS_NO_MEMORY, "no memory for a list");
        state->room = pixels;
    }
    moments[0][0] = moments[0][1] = moments[1][0] = moments[1][1] = 0;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const int depth = wells_depth(in, x, y, params);

            ((uint8_t *)image_row(&out[1], y))[x] = depth ? 255 : 0;
            if (depth) {
                int *well = state->list[found++];
                well[0] = x, well[1] = y, well[2] = depth;
            }
        }
    for (int row = 0; row <= WELLS_ROWS; row++)
        wells_put(&out[0], row, 0, 0, 0);
    for (int i = found - 1, row = 0; i >= 0; i--) {
        const int *well = state->list[i];

        if (i < WELLS_ROWS)
            wells_put(&out[0], ++row, well[0], well[1], well[2]);
        moments[0][0] += (double)well[0] * well[0];
        moments[0][1] += (double)well[0] * well[1];
        moments[1][1] += (double)well[1] * well[1];
    }
    moments[1][0] = moments[0][1];
    *(float *)image_row(&out[0], 0) = (float)found;
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    free(state->list);
}

RUNGS_CPU_VERSION_WITH_STATE(wells)
