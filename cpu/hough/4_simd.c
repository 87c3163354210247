/*
 * Problem:  cpu/ring_buffer computes a vote (two products, rounding, adding 1) point by point.
 * Idea:     A vector computes the cells of 16 points; adding 1.5 * 2^23 to a float leaves its
 *           rounded integer in the lower bits. 1024 cells are stored before the first is loaded,
 *           because a load right after its vector store would wait. Increments stay scalar.
 * Expect:   2.5 times as fast as cpu/ring_buffer: mostly the scalar increments are left.
 * Result:   3.9 times as fast as cpu/ring_buffer with 16 threads, 4.7 ms
 *           (results/h100/hough/hough_1920x1080.json); the reason is not known.
 * Run:      make diff-hough A=cpu/ring_buffer B=cpu/simd
 */
#include <string.h>

#include "common/algo/hough.h"
#include "common/simd/simd.h"
#include "cpu/hough/shared/ring.h"

struct state {
    struct points points;
};

/* The cells, counted from the centre, of a vector of points. |x c + y s| < 2^22. */
static simd_i32 offsets(const float *x, const float *y, simd_f32 cosine, simd_f32 sine)
{
    const simd_f32 rounder = (simd_f32){0} + 0x1.8p23F;
    const simd_f32 rho = (simd_f32)simd_load(x) * cosine + (simd_f32)simd_load(y) * sine;

    return (simd_i32)(rho + rounder) - (simd_i32)rounder;
}

/* Lets points first to last - 1 vote. A load brings two cells. */
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

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points, true));
    TRY(ring_find_lines(&state->points, space, params, vote, 0, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
