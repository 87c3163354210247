/*
 * Idea:     the cells of 16 points are computed at once: two products, a sum, and the rounding by adding 1.5 * 2^23, which
 *           leaves the whole number, halves to even, in the lower bits of the float. Only the increments are one by one.
 * Changed:  vote() goes by vectors of 16 points where all points vote for all rows.
 * Expect:   twice as fast as buffer: what is left of a vote is to load an index and to increment a counter, one store a
 *           cycle at best.
 * Result:   2.8 times buffer (results/cpu2/hough/hough_1920x1080.json), more than predicted.
 * From:     cpu/buffer
 */
/* Try: make bench-hough */

#include "common/simd/simd.h"
#include "common/algo/hough.h"
#include "cpu/hough/shared/buffer.h"

struct state {
    struct points points;
};

/* Of 16 points, which lie where a row of numbers does: their cells from the centre. |x c + y s| < 2^22. */
static simd_i32 offsets(const float *x, const float *y, simd_f32 cosine, simd_f32 sine)
{
    const simd_f32 rounder = (simd_f32){0} + 0x1.8p23F;
    const simd_f32 rho = (simd_f32)simd_load(x) * cosine + (simd_f32)simd_load(y) * sine;

    return (simd_i32)(rho + rounder) - (simd_i32)rounder;
}

static void vote(int32_t *centre, const struct points *points, struct hough_angle angle,
                 const struct hough_params *params, int n)
{
    enum { LANES = SIMD_BYTES / 4 };
    const simd_f32 cosine = (simd_f32){0} + angle.cosine, sine = (simd_f32){0} + angle.sine;
    const bool all = params->half_width == HOUGH_ALL_ROWS;
    size_t i = 0;

    for (; all && i + LANES <= points->count; i += LANES) {
        int32_t offset[LANES];
        simd_store(offset, (simd_u8)offsets(points->x + i, points->y + i, cosine, sine));
        for (int k = 0; k < LANES; k++)
            centre[offset[k]]++;
    }
    for (; i < points->count; i++)
        if (all || hough_votes_for(params, points->bins[i], n))
            centre[hough_offset((int)points->x[i], (int)points->y[i], angle)]++;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points));
    TRY(buffer_find_lines(&state->points, space, params, vote, 0, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
