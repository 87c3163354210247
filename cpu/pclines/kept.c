/*
 * Idea:     points and accumulator stay from call to call on the same pages; a row is cleared before its votes.
 * Changed:  points and accumulator are members of struct state; run() clears each row before its votes.
 * Expect:   a tenth less than peaks with two threads: the fresh pages of 25 MB cost one thread 5 ms of 55.
 * Result:   the time of peaks (results/cpu2/pclines/pclines_1920x1080.json).
 * From:     cpu/peaks
 */
/* Try: make bench-pclines */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"
#include "cpu/pclines/shared/words.h"

enum { LANES = SIMD_BYTES / 4, BATCH = 1024, HANDS = 16 };

struct state {
    struct points points;
    struct words words;
    struct image accumulator;
};

/* The points are dealt out to sixteen hands, each a run of the list; what does not fill a round stays at the end. */
static enum status find_points(struct state *state, const struct image *in, const struct pclines_params *params)
{
    struct points *points = &state->points;
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, points));
    TRY(words_reserve(&state->words, points->capacity, LANES, params));
    state->words.count = points->count;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < points->count; i++) {
        const size_t rounds = points->count / HANDS, from = i < rounds * HANDS ? rounds * (i % HANDS) + i / HANDS : i;
        words_set(&state->words, i, points, from, in);
    }
out:
    return status;
}

static void vote(int32_t *centre, const struct words *words, const struct pclines_params *params, int n)
{
    const int u = n - params->d + 1;
    const simd_i16 factors = (simd_i16)simd_splat(words_pack(params->d - (u < 0 ? -u : u), u));
    const simd_i32 half = (simd_i32)simd_splat((uint32_t)params->d / 2);
    int32_t offset[BATCH];

    for (size_t first = 0; first < words->count; first += BATCH) {
        const size_t batch = words->count - first < BATCH ? words->count - first : BATCH;
        size_t i = 0;
        for (size_t k = 0; k < batch; k += LANES) {
            const simd_i16 both = (simd_i16)simd_load(words->both + first + k);
            simd_store(offset + k, (simd_u8)(simd_dot2(half, both, factors) >> params->shift));
        }
        const size_t votes = words_keep(offset, batch, words->bins ? words->bins + first : NULL, params, n);
        for (; i + 4 <= votes; i += 4) {
            uint64_t pair[2];
            memcpy(pair, offset + i, sizeof pair);
            centre[(int32_t)pair[0]]++;
            centre[(int64_t)pair[0] >> 32]++;
            centre[(int32_t)pair[1]]++;
            centre[(int64_t)pair[1] >> 32]++;
        }
        for (; i < votes; i++)
            centre[offset[i]]++;
    }
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
        for (int n = first; n < last; n++) {
            int32_t *row = image_row(accumulator, n);
            memset(row, 0, (size_t)space.cells * sizeof *row);
            vote(row + space.centre, &state->words, params, n);
        }
#pragma omp barrier
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
    image_free(&state->accumulator);
}

RUNGS_CPU_VERSION_WITH_STATE(pclines, .instruction_set = SIMD_NAME)
