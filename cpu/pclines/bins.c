/*
 * Idea:     orientation bins (Jošth 2014, section 4.2), which apply as they are, for the direction of a line depends on u alone: the
 *           points are sorted by the rows that their gradients point to, and those that vote for a row are one stretch of the
 *           list, or two where u goes round.
 * Changed:  sort_points() and vote_row() in place of a test of each point; runs of 16 rows, for rows along the edges of a
 *           building have most of the points.
 * Expect:   nothing with orientation=90. With orientation=10 a ninth of the votes: five times as fast as kept, whose tests cost
 *           as much as votes; what remains are gradients, bins and the search.
 * Result:   20 times as fast as kept with orientation=10, 5.5 ms, not five: a test probably costs more than a
 *           vote (results/cpu2/pclines/pclines_1920x1080_orientation_10.json).
 * From:     cpu/kept
 */
/* Try: make bench-pclines P="edges=sobel orientation=10" */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"
#include "cpu/pclines/shared/words.h"

enum { LANES = SIMD_BYTES / 4, BATCH = 1024, HANDS = 16, RUN = 16 /* rows that a thread takes at once */ };

struct state {
    struct points points;
    struct words words;
    size_t *starts; /* where each bin begins, and behind the last one; NULL: all vote for all rows */
    struct image accumulator;
};

/* From count to place: a bin's points lie together, in the order in which they are dealt out. */
static enum status sort_points(struct state *state, const struct image *in, const struct pclines_params *params)
{
    const struct points *points = &state->points;
    const size_t bins = 2 * (size_t)params->d, rounds = points->count / HANDS;
    size_t *starts = state->starts, *next;

    if (!starts)
        starts = state->starts = malloc(2 * (bins + 1) * sizeof *starts);
    if (!starts)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu bins", bins);
    next = starts + bins + 1;
    memset(starts, 0, (bins + 1) * sizeof *starts);
    for (size_t i = 0; i < points->count; i++)
        starts[points->bins[i] + 1]++;
    for (size_t bin = 0; bin < bins; bin++)
        starts[bin + 1] += starts[bin];
    memcpy(next, starts, bins * sizeof *starts);
    for (size_t i = 0; i < points->count; i++) {
        const size_t from = i < rounds * HANDS ? rounds * (i % HANDS) + i / HANDS : i;
        words_set(&state->words, next[points->bins[from]]++, points, from, in);
    }
    return STATUS_OK;
}

/* The points are dealt out to sixteen hands, each a run of the list; what does not fill a round stays at the end. */
static enum status find_points(struct state *state, const struct image *in, const struct pclines_params *params)
{
    struct points *points = &state->points;
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, points));
    TRY(words_reserve(&state->words, points->capacity, LANES, params));
    state->words.count = points->count;
    if (params->hough.half_width != HOUGH_ALL_ROWS)
        return sort_points(state, in, params);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < points->count; i++) {
        const size_t rounds = points->count / HANDS, from = i < rounds * HANDS ? rounds * (i % HANDS) + i / HANDS : i;
        words_set(&state->words, i, points, from, in);
    }
out:
    return status;
}

/* Lets words first to last - 1 vote. */
static void vote(int32_t *centre, const struct words *words, const struct pclines_params *params, int n, size_t first,
                 size_t last)
{
    const int u = n - params->d + 1;
    const simd_i16 factors = (simd_i16)simd_splat(words_pack(params->d - (u < 0 ? -u : u), u));
    const simd_i32 half = (simd_i32)simd_splat((uint32_t)params->d / 2);
    int32_t offset[BATCH];

    for (; first < last; first += BATCH) {
        const size_t batch = last - first < BATCH ? last - first : BATCH;
        size_t i = 0;
        for (size_t k = 0; k < batch; k += LANES) {
            const simd_i16 both = (simd_i16)simd_load(words->both + first + k);
            simd_store(offset + k, (simd_u8)(simd_dot2(half, both, factors) >> params->shift));
        }
        for (; i + 4 <= batch; i += 4) {
            uint64_t pair[2];
            memcpy(pair, offset + i, sizeof pair);
            centre[(int32_t)pair[0]]++;
            centre[(int64_t)pair[0] >> 32]++;
            centre[(int32_t)pair[1]]++;
            centre[(int64_t)pair[1] >> 32]++;
        }
        for (; i < batch; i++)
            centre[offset[i]]++;
    }
}

static void vote_row(int32_t *centre, const struct state *state, const struct pclines_params *params, int n)
{
    const int bins = 2 * params->d, own = (n - params->d + 1) & (bins - 1);
    const int low = own - params->hough.half_width, high = own + params->hough.half_width + 1;
    const size_t *starts = state->starts;

    if (!starts) {
        vote(centre, &state->words, params, n, 0, state->words.count);
        return;
    }
    vote(centre, &state->words, params, n, starts[low < 0 ? 0 : low], starts[high > bins ? bins : high]);
    if (low < 0)
        vote(centre, &state->words, params, n, starts[low + bins], starts[bins]);
    if (high > bins)
        vote(centre, &state->words, params, n, 0, starts[high - bins]);
}

/* Of a row: 1 for a cell with enough votes that its four neighbours do not outdo, 0 for others; all at the ends may be. */
static void find_peaks(const int32_t *restrict above, const int32_t *restrict row, const int32_t *restrict below,
                       int cells, int32_t threshold, uint8_t *restrict peaks)
{
    for (int r = 1; r < cells - 1; r++)
        peaks[r] = (row[r] > threshold) & (row[r] > row[r - 1]) & (row[r] >= row[r + 1]) & (row[r] > above[r]) &
                   (row[r] >= below[r]);
    peaks[0] = peaks[cells - 1] = 1;
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    int32_t *nothing = calloc((size_t)space.cells, sizeof *nothing); /* beyond the accumulator the wrap decides */
    uint8_t *peaks = malloc((size_t)space.cells);
    enum status status = STATUS_OK;

    if (!peaks || !nothing)
        status = status_set(STATUS_NO_MEMORY, "no memory for the peaks of %d cells", space.cells);
    for (int n = first; n < last && status == STATUS_OK; n++) {
        const int32_t *row = image_row(accumulator, n);
        const int32_t *above = n > 0 ? image_row(accumulator, n - 1) : nothing;
        find_peaks(above, row, n + 1 < space.rows ? image_row(accumulator, n + 1) : nothing, space.cells,
                   params->hough.threshold, peaks);
        for (int r = 0; r < space.cells; r++)
            if (peaks[r] && status == STATUS_OK && hough_is_line(accumulator, space, n, r, &params->hough))
                status = hough_append(list, hough_key(space, n, r, row[r]));
    }
    free(nothing);
    free(peaks);
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct image *accumulator = out[1].data ? &out[1] : &state->accumulator;
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads);
    if (!accumulator->data)
        TRY(array_create(accumulator, space.cells, space.rows, 1, PIXEL_I32));
    TRY(find_points(state, in, params));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
#pragma omp for schedule(dynamic, RUN)
        for (int n = 0; n < space.rows; n++) {
            int32_t *row = image_row(accumulator, n);
            memset(row, 0, (size_t)space.cells * sizeof *row);
            vote_row(row + space.centre, state, params, n);
        }
        if (out[0].data)
            found = find_lines(accumulator, space, params, first, last, &lists[thread]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(pclines_write_lines(&list, accumulator, in, params, &out[0]));
out:
    free(lists);
    free(list.keys);
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
    words_free(&state->words);
    free(state->starts);
    image_free(&state->accumulator);
}

RUNGS_CPU_VERSION_WITH_STATE(pclines, .instruction_set = SIMD_NAME)
