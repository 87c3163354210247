/*
 * Problem:  With orientation=10 one of 9 rows gets a point's vote (adds 1), and cpu/simd tests all.
 * Idea:     A counting sort of the points by gradient angle (Jošth 2014) makes a row's voters one
 *           or two ranges: no tests. Points come from 16 parts of the list in turn: neighbours vote
 *           for one counter, and an increment waits until the one before it is stored.
 * Expect:   6 times as fast as cpu/simd with orientation=10; 1.2 times with all votes, by order.
 * Result:   8.5 times as fast as cpu/simd with orientation=10, 16 threads, 1.9 ms
 *           (results/h100/hough/hough_1920x1080_orientation_10.json).
 * Run:      make diff-hough A=cpu/simd B=cpu/bins P="edges=sobel orientation=10"
 */
#include <string.h>

#include "common/algo/hough.h"
#include "common/simd/simd.h"
#include "cpu/hough/shared/ring.h"
#include "cpu/hough/shared/sort.h"

enum { RUN = 16 /* rows that a thread takes at once, for load balancing: rows along edges have most points */ };

struct state {
    struct points points, sorted;
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
    const int rows = params->theta_steps, low = n - params->half_width, high = n + params->half_width;
    const size_t *starts = points->starts;

    if (params->half_width == HOUGH_ALL_ROWS) {
        vote_range(centre, points, angle, 0, points->count);
        return;
    }
    vote_range(centre, points, angle, starts[low < 0 ? 0 : low], starts[high >= rows ? rows : high + 1]);
    if (low < 0)
        vote_range(centre, points, angle, starts[low + rows], starts[rows]);
    if (high >= rows)
        vote_range(centre, points, angle, starts[0], starts[high + 1 - rows]);
}

/* The angle of (x, y), y >= 0, to 1.2e-5 radians: 0.06 of 16384 rows (Abramowitz and Stegun 4.4.49). */
static float angle_near(float x, float y)
{
    const float a = fabsf(x), t = (a > y ? y : a) / ((a > y ? a : y) + 1e-9F), u = t * t;
    const float arc = t * (0.999866F + u * (-0.3302995F + u * (0.180141F + u * (-0.085133F + u * 0.0208351F))));
    const float quarter = a > y ? arc : 1.5707963F - arc;

    return x < 0 ? 3.14159265F - quarter : quarter;
}

/* hough_bin() of a gradient in the upper half from a guess that is wrong by less than a row: the signs of two cross
 * products decide between three rows. Branchless, so that the compiler makes vectors of it. */
static int bin_near(const struct hough_direction *directions, int rows, int x, int y, float guess)
{
    const int bin = (int)guess < rows ? (int)guess : rows, next = bin < rows ? bin + 1 : rows;
    const int behind = directions[bin].x * y - directions[bin].y * x < 0; /* directions[0] is (0, 0) */
    const int ahead = directions[next].x * y - directions[next].y * x >= 0 && bin < rows;
    const int found = bin - behind + ahead;

    return found < rows ? found : 0;
}

static enum status find_bins(const struct image *in, const struct hough_params *params, struct points *points)
{
    enum { BATCH = 256 };
    const float scale = (float)params->theta_steps / 3.14159265F;
    struct hough_direction *directions = malloc((size_t)(params->theta_steps + 1) * sizeof *directions);

    if (!directions)
        return status_set(STATUS_NO_MEMORY, "no memory for %d directions", params->theta_steps);
    hough_make_directions(params, directions);
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < points->count; first += BATCH) {
        const size_t batch = points->count - first < BATCH ? points->count - first : BATCH;
        int x[BATCH], y[BATCH];
        for (size_t i = 0; i < batch; i++) {
            const struct hough_gradient g = hough_sobel(in, (int)points->x[first + i], (int)points->y[first + i]);
            x[i] = g.y < 0 ? -g.x : g.x;
            y[i] = abs(g.y);
        }
        for (size_t i = 0; i < batch; i++)
            points->bins[first + i] = (uint16_t)bin_near(directions, params->theta_steps, x[i], y[i],
                                                         angle_near((float)x[i], (float)y[i]) * scale + 0.5F);
    }
    free(directions);
    return STATUS_OK;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const bool all = params->half_width == HOUGH_ALL_ROWS;
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points, false));
    if (!all)
        TRY(find_bins(in, params, &state->points));
    TRY(points_reserve(&state->sorted, state->points.count));
    TRY(sort_points(&state->points, all ? 1 : space.rows, &state->sorted));
    TRY(ring_find_lines(&state->sorted, space, params, vote, all ? 0 : RUN, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
    points_free(&state->sorted);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
