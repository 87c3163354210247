/*
 * Idea:     lanes are neighbouring windows: all of them look at the same stage, nine loads bring its cells for as many windows as
 *           a vector has bytes, and a rank is nine comparisons for all. The vector goes on until its last window leaves.
 * Changed:  find_bin() and is_hit() became look(), whose loop is over vectors of windows.
 * Expect:   40 instructions a stage for 64 windows, with AVX-512, are a fifth of a nanosecond a window; but one window in 64
 *           reaches the 30th stage, and all take part: five times faster than planes with a short classifier, less with a
 *           long one.
 * Result:   1.3 times planes, not 5 (results/cpu2/detect/detect_1280x720.json): the model has 300 stages, and 64 windows go on
 *           until the last of them leaves.
 * From:     cpu/planes
 */
/* Try: make bench-detect */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "cpu/detect/shared/lanes.h"

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
        for (; t < params->stage_count && lanes.alive; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            const struct image *plane = plane_of(state, stage);
            const uint8_t *from = (const uint8_t *)plane->data + offset + stage->y * plane->stride + stage->x;
            const simd_u8 bins = lanes_bins((int)model->feature, stage, from, stage->height * plane->stride);
            lanes_decide(&lanes, bins, detect_tables(model) + t * (int)model->bins, (int)model->bins, stage->threshold);
        }
        for (uint64_t left = lanes.alive; left && status == STATUS_OK; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            const float response = lanes.responses[i / LANES_FLOATS][i % LANES_FLOATS];
            if (response >= (float)params->min_response)
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

    TRY(detect_make_levels(&state->levels, in, params, "cpu/omp"));
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
