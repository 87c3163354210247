/*
 * Idea:     all threads sort. Each counts the bins of its share of the points, and a prefix sum over bins and threads says where
 *           its points of each bin go; then each scatters its own. Dealing is but another order to scatter in.
 * Changed:  sort_points(), which takes a list as it is found, and deals.
 * Expect:   1.2 times bins with orientation=10 on two threads, more on more: one thread sorts for 0.4 ms there, while the
 *           others wait, and points are moved twice. Nothing with orientation=90.
 * Result:   1.09 times bins with orientation=10 (results/cpu2/hough/hough_1920x1080_orientation_10.json): 1.75 ms,
 *           where OpenCV takes 46 ms for all votes (results/cpu2/hough/hough_1920x1080_sobel.json). Nothing with
 *           orientation=90.
 * From:     cpu/bins
 */
/* Try: make bench-hough */
#include <omp.h>
#include <string.h>

#include "common/algo/hough.h"
#include "common/simd/simd.h"
#include "cpu/hough/shared/buffer.h"

enum { RUN = 16 /* rows that a thread takes at once, of those whose numbers of points differ */ };

struct state {
    struct points points, sorted;
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

/* Sixteen hands, each a run of the list; the cards lie one from each hand, then the next from each. What does not fill a
 * round stays at the end. */
static size_t dealt(size_t i, size_t count)
{
    enum { HANDS = 16 };
    const size_t rounds = count / HANDS;

    return i < HANDS * rounds ? rounds * (i % HANDS) + i / HANDS : i;
}

/* By bin, and within a bin as they are dealt. places[t * stride + bin]: how many points of thread t's share are of that bin, then
 * where the next of them goes. */
static enum status sort_points(const struct points *points, int bins, struct points *sorted)
{
    const size_t threads = (size_t)omp_get_max_threads(), all = (size_t)bins, count = points->count;
    const size_t stride = all + 8; /* no two threads count in one line of 64 bytes */
    size_t *starts = sorted->starts ? sorted->starts : malloc((all + 1) * sizeof *starts);
    size_t *places = calloc(threads * stride, sizeof *places);

    sorted->starts = starts;
    sorted->count = 0;
    if (!starts || !places) {
        free(places);
        return status_set(STATUS_NO_MEMORY, "no memory for %d bins", bins);
    }
#pragma omp parallel for schedule(static, 1)
    for (size_t t = 0; t < threads; t++)
        for (size_t i = count * t / threads; i < count * (t + 1) / threads; i++)
            places[t * stride + points->bins[dealt(i, count)]]++;
    for (size_t bin = 0; bin < all; bin++) {
        starts[bin] = sorted->count;
        for (size_t t = 0; t < threads; t++) {
            const size_t own = places[t * stride + bin];
            places[t * stride + bin] = sorted->count;
            sorted->count += own;
        }
    }
    starts[all] = sorted->count;
#pragma omp parallel for schedule(static, 1)
    for (size_t t = 0; t < threads; t++)
        for (size_t i = count * t / threads; i < count * (t + 1) / threads; i++) {
            const size_t from = dealt(i, count), to = places[t * stride + points->bins[from]]++;
            sorted->x[to] = points->x[from];
            sorted->y[to] = points->y[from];
        }
    free(places);
    return STATUS_OK;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points));
    TRY(points_reserve(&state->sorted, state->points.count));
    TRY(sort_points(&state->points, params->half_width == HOUGH_ALL_ROWS ? 1 : space.rows, &state->sorted));
    TRY(buffer_find_lines(&state->sorted, space, params, vote, params->half_width == HOUGH_ALL_ROWS ? 0 : RUN, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
    points_free(&state->sorted);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
