/*
 * Idea:     a line has more votes than the cells before and above it, which have smaller indices, and no fewer than those behind
 *           and below it. That and the threshold are five comparisons in vectors; of few cells the whole neighbourhood is looked at.
 * Changed:  find_lines().
 * Expect:   a tenth less than dealt: with 230 million votes for 2 million cells most of them are above the threshold, and looking
 *           at their neighbours one by one takes 16 of 120 ms of one core.
 * From:     cpu/dealt
 */
/* Try: make bench-pclines */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, BATCH = 1024 };

struct points {
    size_t count;
    uint32_t *both; /* x in the lower half, y in the upper one, from the middle of the picture; a vector of room */
};

static uint32_t pack(int lower, int upper)
{
    return (uint16_t)lower | (uint32_t)upper << 16;
}

static enum status find_points(const struct image *in, const struct pclines_params *params, struct points *points)
{
    const size_t pixels = (size_t)in->width * (size_t)in->height;
    struct hough_gradient gradient;

    *points = (struct points){0, malloc((pixels + LANES) * sizeof *points->both)};
    if (!points->both)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", pixels);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (hough_is_point(in, x, y, &params->hough, &gradient))
                points->both[points->count++] = pack(x - in->width / 2, y - in->height / 2);
    memset(points->both + points->count, 0, LANES * sizeof *points->both);
    return STATUS_OK;
}

/* Sixteen hands, each a run of the list; the cards lie one from each hand, then the next from each. What does not fill a
 * round stays at the end. */
static enum status deal(struct points *points)
{
    enum { HANDS = 16 };
    const size_t rounds = points->count / HANDS;
    uint32_t *dealt = malloc((points->count + LANES) * sizeof *dealt);

    if (!dealt)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", points->count);
    memcpy(dealt, points->both, (points->count + LANES) * sizeof *dealt);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < rounds; i++)
        for (size_t hand = 0; hand < HANDS; hand++)
            dealt[HANDS * i + hand] = points->both[rounds * hand + i];
    free(points->both);
    points->both = dealt;
    return STATUS_OK;
}

static void vote(int32_t *centre, const struct points *points, const struct pclines_params *params, int n)
{
    const int u = n - params->d + 1;
    const simd_i16 factors = (simd_i16)simd_splat(pack(params->d - (u < 0 ? -u : u), u));
    const simd_i32 half = (simd_i32)simd_splat((uint32_t)params->d / 2);
    int32_t offset[BATCH];

    for (size_t first = 0; first < points->count; first += BATCH) {
        const size_t batch = points->count - first < BATCH ? points->count - first : BATCH;
        size_t i = 0;
        for (size_t k = 0; k < batch; k += LANES) {
            const simd_i16 both = (simd_i16)simd_load(points->both + first + k);
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

static enum status run(const struct image *in, struct image *out, const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    struct points points = {0};
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads);
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    TRY(find_points(in, params, &points));
    TRY(deal(&points));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
        for (int n = first; n < last; n++)
            vote((int32_t *)image_row(accumulator, n) + space.centre, &points, params, n);
#pragma omp barrier
        if (out[0].data)
            found = find_lines(accumulator, space, params, first, last, &lists[thread]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(pclines_write_lines(&list, in, params, &out[0]));
out:
    free(points.both);
    free(lists);
    free(list.keys);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(pclines, .instruction_set = SIMD_NAME)
