/*
 * Idea:     early stages with neighbouring windows as lanes, for most of them leave there; when a few of a vector's windows
 *           are left, each of them goes on alone, with its cells as lanes.
 * Changed:  the loop over stages ends early, and go_on() takes what is left through the other stages; pyramid by vectors.
 * Expect:   a stage costs a vector 15 ns whoever is left, and a window 3 ns: from four on the latter is cheaper. With 500 stages
 *           twice as fast as cells, whose every window starts alone.
 * Result:   1.9 times cells (results/cpu2/detect/detect_1280x720.json).
 * From:     cpu/positions
 */
/* Try: make bench-detect */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "cpu/detect/shared/cells.h"
#include "cpu/detect/shared/lanes.h"

enum { FEW = 4 /* windows of a vector that go on alone */ };

struct state {
    struct detect_levels levels;
    struct image planes[3]; /* means of cells of 2 x 1, 1 x 2 and 2 x 2 pixels, at the place of the upper left one */
};

/* The plane with the cells of a stage. */
static const struct image *plane_of(const struct state *state, const struct detect_stage *stage)
{
    const int kind = stage->width - 1 + 2 * (stage->height - 1);

    return kind ? &state->planes[kind - 1] : &state->levels.image;
}

static enum status make_planes(struct state *state)
{
    const struct image *in = &state->levels.image;
    enum status status = STATUS_OK;

    for (int kind = 0; kind < 3; kind++)
        if (!state->planes[kind].data)
            TRY(detect_create_plane(&state->levels, &state->planes[kind]));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *own = image_row(in, y), *below = image_row(in, y + 1 < in->height ? y + 1 : y);
        uint8_t *wide = image_row(&state->planes[0], y), *high = image_row(&state->planes[1], y);
        uint8_t *large = image_row(&state->planes[2], y);

        high[in->width - 1] = (uint8_t)((own[in->width - 1] + below[in->width - 1] + 1) / 2);
#pragma omp simd
        for (int x = 0; x < in->width - 1; x++) {
            wide[x] = (uint8_t)((own[x] + own[x + 1] + 1) / 2);
            high[x] = (uint8_t)((own[x] + below[x] + 1) / 2);
            large[x] = (uint8_t)((own[x] + own[x + 1] + below[x] + below[x + 1] + 2) / 4);
        }
    }
out:
    return status;
}

/* Whether the window at `offset` is a hit, from stage t and the response so far on. */
static bool go_on(const struct state *state, const struct detect_params *params, size_t offset, int t, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const float *table = detect_tables(model) + t * (int)model->bins;

    for (; t < params->stage_count; t++, table += model->bins) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const struct image *plane = plane_of(state, stage);
        const uint8_t *from = (const uint8_t *)plane->data + offset + stage->y * plane->stride + stage->x;
        *response += table[cells_bin((int)model->feature, stage, from, stage->height * plane->stride)];
        if (*response < stage->threshold)
            return false;
    }
    return *response >= (float)params->min_response;
}

/* All windows of row y of the pyramid that begin in a level's columns x to end - 1. */
static enum status look(const struct state *state, const struct detect_params *params, int y, int x, int end,
                        struct detect_list *list)
{
    const struct detect_model *model = detect_model_of(params);
    enum status status = STATUS_OK;

    for (; x < end && status == STATUS_OK; x += SIMD_BYTES) {
        const size_t offset = (size_t)y * state->levels.image.stride + (size_t)x;
        struct lanes lanes = {.alive = end - x < 64 ? ((uint64_t)1 << (end - x)) - 1 : ~(uint64_t)0};
        int t = 0;

        if (SIMD_BYTES < 64)
            lanes.alive &= ((uint64_t)1 << SIMD_BYTES % 64) - 1;
        for (; t < params->stage_count && __builtin_popcountll(lanes.alive) > FEW; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            const struct image *plane = plane_of(state, stage);
            const uint8_t *from = (const uint8_t *)plane->data + offset + stage->y * plane->stride + stage->x;
            const simd_u8 bins = lanes_bins((int)model->feature, stage, from, stage->height * plane->stride);
            lanes_decide(&lanes, bins, detect_tables(model) + t * (int)model->bins, (int)model->bins, stage->threshold);
        }
        for (uint64_t left = lanes.alive; left && status == STATUS_OK; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            float response = lanes.responses[i / LANES_FLOATS][i % LANES_FLOATS];
            if (go_on(state, params, offset + (size_t)i, t, &response))
                status = detect_append(list, detect_key(response, &state->levels.layout, x + i, y));
        }
    }
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    struct detect_list list = {0};
    const int beyond = params->pyramid.window - 1; /* pixels behind a window's first, to the right and below */
    enum status status = STATUS_OK;

    TRY(detect_make_levels(&state->levels, in, params, "cpu/simd"));
    TRY(make_planes(state));
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
    for (int kind = 0; kind < 3; kind++)
        image_free(&state->planes[kind]);
}

RUNGS_CPU_VERSION_WITH_STATE(detect, .instruction_set = SIMD_NAME, .declines = detect_cells_only)
