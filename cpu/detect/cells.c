/*
 * Idea:     lanes are cells, as in Jošth 2014: three loads bring the rows of cells, two shuffles put the nine into one
 *           vector, and a rank is one comparison with a cell in all lanes and a count of the bits that it sets.
 * Changed:  find_bin(). A load takes eight bytes where three to five are wanted.
 * Expect:   some 25 instructions a stage, 3 ns instead of 12; leaving a window is a mispredicted branch, so three times
 *           faster than planes in all.
 * Result:   1.7 times planes, not 3 (results/cpu2/detect/detect_1280x720.json).
 * From:     cpu/planes
 */
/* Try: make bench-detect */
#include <stdlib.h>

#include "common/algo/detect.h"
#include "cpu/detect/shared/cells.h"

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

/* The bin of a stage in the window at `offset`. */
static int find_bin(const struct state *state, const struct detect_model *model, const struct detect_stage *stage,
                    size_t offset)
{
    const struct image *plane = plane_of(state, stage);
    const uint8_t *from = (const uint8_t *)plane->data + offset + stage->y * plane->stride + stage->x;

    return cells_bin((int)model->feature, stage, from, stage->height * plane->stride);
}

/* Whether the window whose upper left pixel is at `offset` of the levels is a hit; its response. */
static bool is_hit(const struct state *state, const struct detect_params *params, size_t offset, float *response)
{
    const struct detect_model *model = detect_model_of(params);
    const struct detect_stage *stage = detect_stages(model), *end = stage + params->stage_count;

    *response = 0;
    for (const float *table = detect_tables(model); stage < end; stage++, table += model->bins) {
        *response += table[find_bin(state, model, stage, offset)];
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
