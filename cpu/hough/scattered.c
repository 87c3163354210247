/*
 * Idea:     all threads sort. A thread counts the bins of the points that it has found, and a prefix sum over bins and
 *           threads says where each thread's points of each bin go; then each scatters its own.
 * Changed:  sort_points(), which deals its cards as it scatters them; points_find_bands() in place of points_find(): nobody
 *           makes one list of what the threads have found.
 * Expect:   1.4 times bins with orientation=10. There one thread works 1.5 of 5.5 ms: it puts the lists together and sorts
 *           them; and all points are moved three times, here once. Nothing with orientation=90.
 * From:     cpu/bins
 */
/* Try: make bench-hough */
#include <omp.h>
#include <string.h>

#include "common/algo/hough.h"
#include "common/simd/simd.h"
#include "cpu/hough/steps/buffer.h"

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

/* A thread's points to their places, dealt out like cards: sixteen hands, each a run of them, and from each hand a card,
 * then the next from each. */
static void scatter(const struct points *points, struct stretch band, size_t *places, struct points *sorted)
{
    enum { HANDS = 16 };
    const size_t rounds = band.count / HANDS;

    for (size_t i = 0; i < band.count; i++) {
        const size_t k = i < HANDS * rounds ? rounds * (i % HANDS) + i / HANDS : i;
        const size_t from = band.first + k, to = places[points->bins[from]]++;
        sorted->x[to] = points->x[from];
        sorted->y[to] = points->y[from];
    }
}

/* By bin, and within a bin by band. places[t * bins + bin]: how many points of that bin band t has, then where they go. */
static void sort_points(const struct points *points, const struct stretch *bands, int threads, int bins, size_t *places,
                        struct points *sorted)
{
    memset(places, 0, (size_t)threads * (size_t)bins * sizeof *places);
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++)
        for (size_t i = bands[t].first; i < bands[t].first + bands[t].count; i++)
            places[t * bins + points->bins[i]]++;
    sorted->count = 0;
    for (int bin = 0; bin < bins; bin++) {
        sorted->starts[bin] = sorted->count;
        for (int t = 0; t < threads; t++) {
            const size_t own = places[t * bins + bin];
            places[t * bins + bin] = sorted->count;
            sorted->count += own;
        }
    }
    sorted->starts[bins] = sorted->count;
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++)
        scatter(points, bands[t], places + t * bins, sorted);
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads(), bins = params->half_width == HOUGH_ALL_ROWS ? 1 : space.rows;
    struct stretch *bands = malloc((size_t)threads * sizeof *bands);
    size_t *places = malloc((size_t)threads * (size_t)bins * sizeof *places);
    enum status status = STATUS_OK;

    TRY(points_reserve(&state->sorted, (size_t)in->width * (size_t)in->height));
    if (!state->sorted.starts)
        state->sorted.starts = malloc((size_t)(bins + 1) * sizeof *state->sorted.starts);
    if (!bands || !places || !state->sorted.starts) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d bins", bins);
        goto out;
    }
    TRY(points_find_bands(in, params, &state->points, bands));
    sort_points(&state->points, bands, threads, bins, places, &state->sorted);
    TRY(buffer_find_lines(&state->sorted, space, params, vote, RUN, out));
out:
    free(bands);
    free(places);
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
    points_free(&state->sorted);
}

RUNGS_CPU_VERSION_WITH_STATE(hough, .instruction_set = SIMD_NAME)
