/*
 * Idea:     X and Y, which fit in 16 bits, are the halves of a word, and X (d - |u|) + Y u for 16 points is one
 *           instruction, which adds the two products of the halves. Besides, two loads bring the cells of four votes.
 * Changed:  points are words, made of the list that all threads find as in hough; vote().
 * Expect:   a quarter faster than rows: half as many bytes a point and a third of the instructions, but each increment is still
 *           a load and a store, and those of a run of pixels wait for each other in rows where they share a cell.
 * Result:   2.6 times rows (results/cpu2/pclines/pclines_1920x1080.json), more than predicted.
 * From:     cpu/rows
 */
/* Try: make bench-pclines */
#include <omp.h>
#include <string.h>

#include "common/algo/pclines.h"
#include "common/simd/simd.h"
#include "cpu/pclines/shared/words.h"

enum { LANES = SIMD_BYTES / 4, BATCH = 1024 };

static enum status find_points(const struct image *in, const struct pclines_params *params, struct words *words)
{
    struct points points = {0};
    enum status status = STATUS_OK;

    TRY(points_find(in, &params->hough, &points));
    words->count = points.count;
    TRY(words_reserve(words, points.count, LANES, params));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < points.count; i++)
        words_set(words, i, &points, i, in);
out:
    points_free(&points);
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

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    enum status status = STATUS_OK;

    for (int n = first; n < last; n++)
        for (int r = 0; r < space.cells; r++)
            if (status == STATUS_OK && hough_is_line(accumulator, space, n, r, &params->hough))
                status = hough_append(list, hough_key(space, n, r, ((const int32_t *)image_row(accumulator, n))[r]));
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int threads = omp_get_max_threads();
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    struct words words = {0};
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for the lists of %d threads", threads);
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    TRY(find_points(in, params, &words));
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        enum status found = STATUS_OK;
        for (int n = first; n < last; n++)
            vote((int32_t *)image_row(accumulator, n) + space.centre, &words, params, n);
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
    words_free(&words);
    free(lists);
    free(list.keys);
    image_free(&scratch);
    return status;
}

RUNGS_CPU_VERSION(pclines, .instruction_set = SIMD_NAME)
