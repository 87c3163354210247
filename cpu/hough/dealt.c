/*
 * Idea:     the points are dealt out like cards: of 16 that follow each other in the list, each is from another sixteenth of
 *           the picture. Neighbours on an edge vote for the same cell in the rows along it, and a counter that has just been
 *           stored takes six cycles more to load; dealt out, they are far apart.
 * Changed:  deal() puts the points into another order after they are found.
 * Expect:   nothing on noise; a fifth faster than batches on a photograph, whose edges lie level for many pixels. Dealing
 *           costs 0.1 ms.
 * Result:   1.08 times batches (results/cpu2/hough/hough_1920x1080.json), less than predicted: 7.3 ms, 4.4 times OpenCV on
 *           the same two cores, and six tenths of the rate at which they add to counters that do not meet.
 * From:     cpu/batches
 */
/* Try: make bench-hough */
#include <string.h>

#include "common/algo/hough.h"
#include "common/simd/simd.h"
#include "cpu/hough/shared/buffer.h"

struct state {
    struct points points, dealt;
};

/* Of 16 points, which lie where a row of numbers does: their cells from the centre. |x c + y s| < 2^22. */
static simd_i32 offsets(const float *x, const float *y, simd_f32 cosine, simd_f32 sine)
{
    const simd_f32 rounder = (simd_f32){0} + 0x1.8p23F;
    const simd_f32 rho = (simd_f32)simd_load(x) * cosine + (simd_f32)simd_load(y) * sine;

    return (simd_i32)(rho + rounder) - (simd_i32)rounder;
}

/* Lets points first to last - 1 vote. Two indices are loaded at once. */
static void vote_range(int32_t *centre, const struct points *points, struct hough_angle angle, size_t first,
                       size_t last)
{
    enum { LANES = SIMD_BYTES / 4, BATCH = 1024 };
    const simd_f32 cosine = (simd_f32){0} + angle.cosine, sine = (simd_f32){0} + angle.sine;
    int32_t offset[BATCH];

    while (last - first >= LANES) {
        const size_t batch = (last - first < BATCH ? last - first : BATCH) / LANES * LANES;
        for (size_t k = 0; k < batch; k += LANES)
            simd_store(offset + k, (simd_u8)offsets(points->x + first + k, points->y + first + k, cosine, sine));
        for (size_t k = 0; k < batch; k += 4) {
            uint64_t pair[2];
            memcpy(pair, offset + k, sizeof pair);
            centre[(int32_t)pair[0]]++;
            centre[(int64_t)pair[0] >> 32]++;
            centre[(int32_t)pair[1]]++;
            centre[(int64_t)pair[1] >> 32]++;
        }
        first += batch;
    }
    for (; first < last; first++)
        centre[hough_offset((int)points->x[first], (int)points->y[first], angle)]++;
}

static void vote(int32_t *centre, const struct points *points, struct hough_angle angle,
                 const struct hough_params *params, int n)
{
    if (params->half_width == HOUGH_ALL_ROWS) {
        vote_range(centre, points, angle, 0, points->count);
        return;
    }
    for (size_t i = 0; i < points->count; i++)
        if (hough_votes_for(params, points->bins[i], n))
            centre[hough_offset((int)points->x[i], (int)points->y[i], angle)]++;
}

/* Sixteen hands, each a run of the list; the cards lie one from each hand, then the next from each. What does not fill a
 * round stays at the end. */
static void deal(const struct points *points, struct points *dealt)
{
    enum { HANDS = 16 };
    const size_t rounds = points->count / HANDS;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < rounds; i++)
        for (size_t hand = 0; hand < HANDS; hand++) {
            dealt->x[HANDS * i + hand] = points->x[rounds * hand + i];
            dealt->y[HANDS * i + hand] = points->y[rounds * hand + i];
            dealt->bins[HANDS * i + hand] = points->bins[rounds * hand + i];
        }
    for (size_t i = HANDS * rounds; i < points->count; i++) {
        dealt->x[i] = points->x[i];
        dealt->y[i] = points->y[i];
        dealt->bins[i] = points->bins[i];
    }
    dealt->count = points->count;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points));
    TRY(points_reserve(&state->dealt, state->points.count));
    deal(&state->points, &state->dealt);
    TRY(buffer_find_lines(&state->dealt, space, params, vote, 0, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
    points_free(&state->dealt);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
