/*
 * Idea:     taps depend on sizes alone, and a picture is often followed by others of its size: they are made by the first call.
 * Changed:  struct taps became the state that lasts from call to call; a call allocates the rows of its threads.
 * Expect:   14,000 columns of 27 levels at a scale of 1.1 take 10 ns each: 0.15 ms less on one thread while others wait.
 * Result:   no difference (results/cpu2/pyramid/pyramid_1280x720.json).
 * From:     cpu/simd
 */
/* Try: make bench-pyramid SIZE=1280x720 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/pyramid.h"
#include "common/simd/simd.h"

/* The taps of all columns, those of level l from begin[l] on. */
struct state {
    struct pyramid_layout layout;
    int32_t *columns;
    uint32_t *weights;
    size_t begin[PYRAMID_MAX_LEVELS];
};

static enum status make_taps(struct state *state)
{
    const struct pyramid_layout *layout = &state->layout;
    size_t count = 0;

    for (int l = 0; l < layout->count; l++) {
        state->begin[l] = count;
        count += (size_t)layout->levels[l].width;
    }
    state->columns = calloc(count, sizeof *state->columns);
    state->weights = calloc(count, sizeof *state->weights);
    if (!state->columns || !state->weights)
        return status_set(STATUS_NO_MEMORY, "no memory for the taps of %zu columns", count);
    for (int l = 1; l < layout->count; l++) {
        const struct pyramid_level *level = &layout->levels[l], *source = &layout->levels[level->source];

        for (int x = 0; x < level->width; x++) {
            const struct pyramid_tap tap = pyramid_find_tap(x, level->relative, source->width);
            state->columns[state->begin[l] + (size_t)x] = tap.first;
            state->weights[state->begin[l] + (size_t)x] = tap.weight;
        }
    }
    return STATUS_OK;
}

/* Rows top to bottom - 1 of a level from the pyramid's own rows of its source. */
static void resample(const struct state *state, uint32_t *pairs, int l, int top, int bottom, struct image *out)
{
    const struct pyramid_level *level = &state->layout.levels[l], *source = &state->layout.levels[level->source];
    const int32_t *columns = state->columns + state->begin[l];
    const uint32_t *weights = state->weights + state->begin[l];
    const int last = source->width - 1;

    for (int y = top; y < bottom; y++) {
        const struct pyramid_tap row = pyramid_find_tap(y, level->relative, source->height);
        const uint8_t *upper = (const uint8_t *)image_row(out, source->y + row.first) + source->x;
        const uint8_t *lower = (const uint8_t *)image_row(out, source->y + row.second) + source->x;
        const uint32_t below = row.weight, above = 256 - below;
        uint8_t *to = (uint8_t *)image_row(out, level->y + y) + level->x;

#pragma omp simd
        for (int x = 0; x < last; x++)
            pairs[x] = (above * upper[x] + below * lower[x]) | (above * upper[x + 1] + below * lower[x + 1]) << 16;
        pairs[last] = (above * upper[last] + below * lower[last]) * 0x10001; /* no column behind it: itself */
#pragma omp simd
        for (int x = 0; x < level->width; x++) {
            const uint32_t pair = pairs[columns[x]];
            to[x] = (uint8_t)(((256 - weights[x]) * (pair & 0xffff) + weights[x] * (pair >> 16) + 32768) >> 16);
        }
    }
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct pyramid_params *params)
{
    const struct pyramid_layout *layout = &state->layout;
    const size_t row = (size_t)in->width;
    uint32_t *pairs = calloc((size_t)omp_get_max_threads() * row, sizeof *pairs);
    enum status status = STATUS_OK;

    if (!pairs)
        TRY(status_set(STATUS_NO_MEMORY, "no memory for rows of %zu pairs", row));
    if (!state->weights) {
        pyramid_lay_out(in->width, in->height, params, &state->layout);
        TRY(make_taps(state));
    }
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < out->height; y++)
            memset(image_row(out, y), params->fill, (size_t)out->width);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++)
            memcpy(image_row(out, y), image_row(in, y), (size_t)in->width);
        for (int l = 1; l < layout->count; l++)
#pragma omp for schedule(static)
            for (int y = 0; y < layout->levels[l].height; y++)
                resample(state, pairs + (size_t)omp_get_thread_num() * row, l, y, y + 1, out);
    }
out:
    free(pairs);
    return status;
}

static void teardown(struct state *state)
{
    free(state->columns);
    free(state->weights);
}

RUNGS_CPU_VERSION_WITH_STATE(pyramid, .instruction_set = SIMD_NAME)
