/*
 * Problem:  With orientation=10 one of 9 rows gets a point's vote (adds 1), and cpu/simd tests all.
 * Idea:     A counting sort of the points by gradient angle makes a row's voters one or two ranges
 *           of the list: no tests. Vectors search for lines, and the accumulator stays allocated.
 * Expect:   9 times as fast as cpu/simd with orientation=10, 1.1 times with all votes.
 * Result:   18 times as fast as cpu/simd with orientation=10, probably because a test costs more
 *           than a vote (results/cpu2/pclines/pclines_1920x1080_orientation_10_xeon.json).
 * Run:      make diff-pclines A=cpu/simd B=cpu/orientation_bins P="edges=sobel orientation=10"
 */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"
#include "cpu/hough/shared/sort.h"

enum {
    LANES = SIMD_BYTES / 4,
    BATCH = 1024,
    RUN = 16 /* rows that a thread takes at once: rows along edges have most points */
};

struct state {
    struct points points, sorted;
    uint32_t *words; /* of a point: x in the lower half, y in the upper one, from the middle of the picture */
    struct image accumulator;
};

static uint32_t pack(int lower, int upper)
{
    return (uint16_t)lower | (uint32_t)upper << 16;
}

/* By bin; one bin has all where all vote for all rows. */
static enum status find_words(struct state *state, const struct image *in, const struct pclines_params *params)
{
    const struct points *sorted = &state->sorted;
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, &state->points, true));
    TRY(points_reserve(&state->sorted, state->points.capacity));
    TRY(sort_points(&state->points, params->hough.half_width == HOUGH_ALL_ROWS ? 1 : 2 * params->d, &state->sorted));
    if (!state->words)
        state->words =
            calloc(sorted->capacity + LANES, sizeof *state->words); /* the last vector reads beyond the end */
    if (!state->words)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", sorted->capacity);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sorted->count; i++)
        state->words[i] = pack((int)sorted->x[i] - in->width / 2, (int)sorted->y[i] - in->height / 2);
out:
    return status;
}

/* Lets words first to last - 1 vote for row n. */
static void vote_range(int32_t *centre, const uint32_t *words, const struct pclines_params *params, int n, size_t first,
                       size_t last)
{
    const int u = n - params->d + 1;
    const simd_i16 factors = (simd_i16)simd_splat(pack(params->d - (u < 0 ? -u : u), u));
    const simd_i32 half = (simd_i32)simd_splat((uint32_t)params->d / 2);
    int32_t offset[BATCH];

    for (; first < last; first += BATCH) {
        const size_t batch = last - first < BATCH ? last - first : BATCH;
        size_t i = 0;
        for (size_t k = 0; k < batch; k += LANES) {
            const simd_i16 both = (simd_i16)simd_load(words + first + k);
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

/* The bins that vote for row n, u = n - d + 1, are those within half_width of it; the last bin is next to the first. */
static void vote(int32_t *centre, const struct state *state, const struct pclines_params *params, int n)
{
    const int bins = 2 * params->d, own = (n - params->d + 1) & (bins - 1);
    const int low = own - params->hough.half_width, high = own + params->hough.half_width + 1;
    const size_t *starts = state->sorted.starts;

    if (params->hough.half_width == HOUGH_ALL_ROWS) {
        vote_range(centre, state->words, params, n, 0, state->sorted.count);
        return;
    }
    vote_range(centre, state->words, params, n, starts[low < 0 ? 0 : low], starts[high > bins ? bins : high]);
    if (low < 0)
        vote_range(centre, state->words, params, n, starts[low + bins], starts[bins]);
    if (high > bins)
        vote_range(centre, state->words, params, n, 0, starts[high - bins]);
}

/* Of a row: 1 for a cell above the threshold that its four neighbours do not exceed, 0 for others; 1 at both ends. */
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
    TRY(find_words(state, in, params));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
#pragma omp for schedule(dynamic, RUN)
        for (int n = 0; n < space.rows; n++) {
            int32_t *row = image_row(accumulator, n);
            memset(row, 0, (size_t)space.cells * sizeof *row);
            vote(row + space.centre, state, params, n);
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
    points_free(&state->sorted);
    free(state->words);
    image_free(&state->accumulator);
}

RUNGS_CPU_VERSION_WITH_STATE(pclines, .instruction_set = SIMD_NAME)
