/*
 * Idea:     a mask is 1 bit a pixel, 64 pixels a word: comparing packs it, dilating is shift and or, a component is a
 *           list of runs of bits. Nothing between the blur and the boxes is ever a picture.
 * Changed:  five steps of eight became one: difference and threshold write bits, close and open are four dilations of
 *           bits (an erosion is the dilation of the complement), boxes come straight from runs, without labels.
 * Expect:   at 1920x1080 close and open need 0.1 ms on one core, by operations: 4 passes x 1080 rows x 4 registers x
 *           100; labels and boxes 0.05 ms, to look at 32000 words of which few are set. Grayscale and blur are left.
 * Result:   close and open miss it, 0.5 ms on two cores (results/cpu2/motion/motion_1920x1080.json): a third of the
 *           frame, after the blur the most. Labels and boxes take what was expected.
 * From:     cpu/simd
 */
/* Try: make bench-motion VERSIONS=cpu/simd,cpu/packed */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "common/algo/morphology.h"
#include "common/algo/motion.h"
#include "common/algo/threshold.h"

static const char rung[] = "cpu/packed", step_rung[] = "cpu/simd";

enum { WORD = 64, VECTOR = 8 /* words; rows are as many or a multiple, so that loops have no remainder */ };

/* A picture of bits. A word before a row's first one and one behind its last are 0, as are bits beyond the width: what
 * lies outside the image counts for nothing. */
struct bits {
    int words; /* of a row, a multiple of VECTOR */
    int rows;
    uint64_t *data;
};

/* A component while it is found: what it has so far, and the one it turned out to be a part of (itself: none). */
struct component {
    int parent, label;
    struct boxes_sums sums;
};

struct run {
    int from, to; /* columns, to excluded */
    int component;
};

struct state {
    struct motion_params params;
    struct step grayscale, blur, absdiff;
    struct image gray, blurred, background, mean, difference, zero;
    struct bits mask, cleaned;
    struct component *components;
    int component_capacity;
    struct run *runs;   /* of two rows */
    struct image frame; /* submitted, not yet received; the pixels are the caller's */
};

static uint64_t *bits_row(const struct bits *bits, int y)
{
    return bits->data + (size_t)y * (size_t)(bits->words + 2 * VECTOR) + VECTOR;
}

static enum status bits_create(struct bits *bits, int width, int rows)
{
    bits->words = (width + WORD * VECTOR - 1) / (WORD * VECTOR) * VECTOR;
    bits->rows = rows;
    const size_t bytes = (size_t)(bits->words + 2 * VECTOR) * (size_t)rows * sizeof *bits->data;
    bits->data = aligned_alloc(IMAGE_ALIGNMENT, bytes);
    if (!bits->data)
        return status_set(STATUS_NO_MEMORY, "no memory for a mask of %dx%d", width, rows);
    memset(bits->data, 0, bytes);
    return STATUS_OK;
}

/* ------------------------------------------------------------------------------------ difference and threshold */

/* Bit i: |a[i] - b[i]| > value. Reads 64 of each, which the rows of an image have (image.h). */
static uint64_t differing(const uint8_t *a, const uint8_t *b, int value)
{
#if defined(__AVX512BW__)
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const __m512i difference = _mm512_or_si512(_mm512_subs_epu8(x, y), _mm512_subs_epu8(y, x));
    return _mm512_cmpgt_epu8_mask(difference, _mm512_set1_epi8((char)value));
#elif defined(__AVX2__)
    uint64_t bits = 0;
    for (int half = 0; half < 2; half++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)a + half),
                      y = _mm256_loadu_si256((const __m256i *)b + half);
        const __m256i difference = _mm256_or_si256(_mm256_subs_epu8(x, y), _mm256_subs_epu8(y, x));
        const __m256i not_over =
            _mm256_cmpeq_epi8(_mm256_subs_epu8(difference, _mm256_set1_epi8((char)value)), _mm256_setzero_si256());
        bits |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(not_over) << (32 * half);
    }
    return bits;
#else
    uint8_t over[WORD];
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i++)
        over[i] = (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) > value;
    for (int i = 0; i < WORD; i += 8) { /* the product's top byte gathers the lowest bits of eight bytes */
        uint64_t eight;
        memcpy(&eight, over + i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << i;
    }
    return bits;
#endif
}

static void pack(const struct image *a, const struct image *b, int value, struct bits *mask)
{
    const int whole = a->width / WORD, rest = a->width % WORD;

#pragma omp for schedule(static)
    for (int y = 0; y < a->height; y++) {
        const uint8_t *left = image_row(a, y), *right = image_row(b, y);
        uint64_t *to = bits_row(mask, y);
        for (int w = 0; w < whole; w++)
            to[w] = differing(left + WORD * w, right + WORD * w, value);
        if (rest)
            to[whole] = differing(left + WORD * whole, right + WORD * whole, value) & (~UINT64_C(0) >> (WORD - rest));
    }
}

/* ---------------------------------------------------------------------------------------------- close and open */

/* Bits of `from` have been widened by `reach` to both sides before; `to` widens them by `by` more. by <= reach + 1: what
 * was shifted over the row's end is lost, so each side must be covered by shifts away from it alone. */
static void widen(const uint64_t *restrict from, uint64_t *restrict to, int words, int by)
{
    for (int w = 0; w < words; w++)
        to[w] = from[w] | from[w] << by | from[w - 1] >> (WORD - by) | from[w] >> by | from[w + 1] << (WORD - by);
}

static void or_into(uint64_t *restrict to, const uint64_t *restrict from, int words)
{
    for (int w = 0; w < words; w++)
        to[w] |= from[w];
}

/* Rows first..last-1 of `to` from rows of `from`, both buffers of the rows from `origin` on; rows outside 0..height-1
 * count for nothing. A row of `from`, widened step by step, is or-ed into the rows above and below that see so much of
 * it: farthest first, for there the element is narrowest. tail: the bits of the last used word that are pixels. */
static void dilate(const struct bits *from, struct bits *to, int origin, int first, int last, int height, int radius,
                   int shape, int last_word, uint64_t tail, uint64_t *scratch)
{
    const int words = from->words;
    const int from_first = first - radius < 0 ? 0 : first - radius;
    const int from_last = last + radius > height ? height : last + radius;

    for (int y = first; y < last; y++)
        memset(bits_row(to, y - origin), 0, (size_t)words * sizeof *to->data);
    for (int y = from_first; y < from_last; y++) {
        uint64_t *row = scratch, *wider = scratch + words + 2 * VECTOR;
        int reach = 0;

        memcpy(row, bits_row(from, y - origin), (size_t)words * sizeof *row);
        for (int j = radius; j >= 0; j--) {
            const int wanted = morphology_reach(shape, radius, j);
            while (reach < wanted) {
                const int by = wanted - reach < reach + 1 ? wanted - reach : reach + 1;
                widen(row, wider, words, by);
                uint64_t *swap = row;
                row = wider;
                wider = swap;
                reach += by;
            }
            if (y - j >= first && y - j < last)
                or_into(bits_row(to, y - j - origin), row, words);
            if (j > 0 && y + j >= first && y + j < last)
                or_into(bits_row(to, y + j - origin), row, words);
        }
    }
    for (int y = first; y < last; y++) {
        uint64_t *row = bits_row(to, y - origin);
        row[last_word] &= tail;
        memset(row + last_word + 1, 0, (size_t)(words - last_word - 1) * sizeof *row);
    }
}

static void complement(struct bits *bits, int origin, int first, int last, int last_word, uint64_t tail)
{
    for (int y = first; y < last; y++) {
        uint64_t *row = bits_row(bits, y - origin);
        for (int w = 0; w <= last_word; w++)
            row[w] = ~row[w];
        row[last_word] &= tail;
    }
}

static int at_least_0(int y)
{
    return y < 0 ? 0 : y;
}

static int at_most(int y, int height)
{
    return y > height ? height : y;
}

/* This thread's rows of `cleaned`, the mask closed and perhaps opened: a band, and around it as many rows as later passes look at, computed again by each
 * thread rather than waited for. */
static enum status clean(const struct state *state, const struct bits *mask, struct bits *cleaned)
{
    const int passes = motion_has_opening(&state->params) ? 4 : 2;
    const int height = mask->rows, radius = state->params.disk / 2, shape = state->params.shape;
    const int band = (height + omp_get_num_threads() - 1) / omp_get_num_threads();
    const int first = at_most(omp_get_thread_num() * band, height), last = at_most(first + band, height);
    const int origin = at_least_0(first - passes * radius), end = at_most(last + passes * radius, height);
    const int width = state->gray.width, last_word = (width - 1) / WORD;
    const uint64_t tail = ~UINT64_C(0) >> (WORD - 1 - (width - 1) % WORD);
    struct bits a = {0}, b = {0}, scratch = {0};
    enum status status = STATUS_OK;

    if (first == last)
        return STATUS_OK;
    TRY(bits_create(&a, width, end - origin));
    TRY(bits_create(&b, width, end - origin));
    TRY(bits_create(&scratch, width, 2));
    for (int y = origin; y < end; y++)
        memcpy(bits_row(&a, y - origin), bits_row(mask, y), (size_t)a.words * sizeof *a.data);
    for (int pass = 0; pass < passes; pass++) {
        const int margin = (passes - 1 - pass) * radius;
        const int from = at_least_0(first - margin), to = at_most(last + margin, height);
        struct bits *in = pass % 2 ? &b : &a, *out = pass % 2 ? &a : &b;

        dilate(in, out, origin, from, to, height, radius, shape, last_word, tail, bits_row(&scratch, 0));
        /* close = dilate, complement, dilate, complement; open = complement, dilate, complement, dilate: between close
         * and open two complements cancel. */
        if (pass % 2 == 0 || passes == 2)
            complement(out, origin, from, to, last_word, tail);
    }
    for (int y = first; y < last; y++)
        memcpy(bits_row(cleaned, y), bits_row(&a, y - origin), (size_t)a.words * sizeof *a.data);
out:
    free(a.data);
    free(b.data);
    free(scratch.data);
    return status;
}

/* -------------------------------------------------------------------------------------------- runs and boxes */

static int root_of(struct component *components, int i)
{
    while (components[i].parent != i)
        i = components[i].parent = components[components[i].parent].parent;
    return i;
}

static void unite(struct component *components, int a, int b)
{
    a = root_of(components, a);
    b = root_of(components, b);
    if (a != b)
        components[a > b ? a : b].parent = a < b ? a : b;
}

/* The row's runs of set bits, a word at a time; how many. */
static int find_runs(const uint64_t *row, int words, struct run *runs)
{
    int count = 0;

    for (int w = 0; w < words; w++) {
        uint64_t left = row[w];

        while (left) {
            const int from = __builtin_ctzll(left);
            const uint64_t behind = ~(left >> from); /* the first 0 ends the run */
            const int length = behind ? __builtin_ctzll(behind) : WORD;

            if (count && runs[count - 1].to == w * WORD + from)
                runs[count - 1].to += length; /* goes on from the word before */
            else
                runs[count++] = (struct run){w * WORD + from, w * WORD + from + length, -1};
            left = from + length < WORD ? left & (~UINT64_C(0) << (from + length)) : 0;
        }
    }
    return count;
}

static void add(struct boxes_sums *sums, const struct run *run, int y)
{
    const int length = run->to - run->from;

    if (sums->area == 0)
        *sums = (struct boxes_sums){.x_min = run->from, .y_min = y, .x_max = run->to - 1, .y_max = y};
    sums->x_min = run->from < sums->x_min ? run->from : sums->x_min;
    sums->x_max = run->to - 1 > sums->x_max ? run->to - 1 : sums->x_max;
    sums->y_max = y;
    sums->area += length;
    sums->x_sum += (unsigned long long)length * (unsigned)(run->from + run->to - 1) / 2;
    sums->y_sum += (unsigned long long)length * (unsigned)y;
}

static void merge(struct boxes_sums *to, const struct boxes_sums *from)
{
    to->x_min = from->x_min < to->x_min ? from->x_min : to->x_min;
    to->y_min = from->y_min < to->y_min ? from->y_min : to->y_min;
    to->x_max = from->x_max > to->x_max ? from->x_max : to->x_max;
    to->y_max = from->y_max > to->y_max ? from->y_max : to->y_max;
    to->area += from->area;
    to->x_sum += from->x_sum;
    to->y_sum += from->y_sum;
}

/* Components in the order of their first pixels. A run that touches none of the row above begins one; a run that
 * touches several makes them one, and the earliest stands for all. */
static enum status find_components(struct state *state, const struct bits *bits, int *count)
{
    const int touch = state->params.connectivity == 8, width = state->gray.width;
    struct run *above = state->runs, *row = state->runs + width / 2 + 1;
    int above_count = 0;

    *count = 0;
    for (int y = 0; y < bits->rows; y++) {
        const int row_count = find_runs(bits_row(bits, y), (width + WORD - 1) / WORD, row);

        if (*count + row_count > state->component_capacity) {
            const int capacity = 2 * (*count + row_count);
            struct component *larger = realloc(state->components, (size_t)capacity * sizeof *larger);
            if (!larger)
                return status_set(STATUS_NO_MEMORY, "no memory for %d components", capacity);
            state->components = larger;
            state->component_capacity = capacity;
        }
        for (int i = 0, k = 0; i < row_count; i++) {
            struct run *run = &row[i];
            while (k < above_count && above[k].to + touch <= run->from)
                k++;
            for (int m = k; m < above_count && above[m].from < run->to + touch; m++) {
                if (run->component < 0)
                    run->component = above[m].component;
                else
                    unite(state->components, run->component, above[m].component);
            }
            if (run->component < 0) {
                run->component = (*count)++;
                state->components[run->component] =
                    (struct component){.parent = run->component, .label = y * width + run->from + 1};
            }
            add(&state->components[run->component].sums, run, y);
        }
        struct run *swap = above;
        above = row;
        row = swap;
        above_count = row_count;
    }
    return STATUS_OK;
}

static enum status write_boxes(struct state *state, const struct bits *bits, struct image *result)
{
    struct component *components;
    int count, listed = 0;
    enum status status = STATUS_OK;

    TRY(find_components(state, bits, &count));
    components = state->components;
    for (int i = count - 1; i >= 0; i--)
        if (components[i].parent != i)
            merge(&components[root_of(components, i)].sums, &components[i].sums);
    image_fill(result, 0);
    for (int i = 0; i < count; i++)
        if (components[i].parent == i && components[i].sums.area >= state->params.min_area &&
            ++listed <= state->params.max_boxes)
            boxes_write_row(&components[i].sums, components[i].label, image_row(result, listed));
    *(int32_t *)image_row(result, 0) = listed;
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------ the pipeline */

static enum status allocate(struct state *state, const struct image *first)
{
    enum status status = STATUS_OK;

    TRY(motion_step_open(&state->grayscale, MOTION_GRAYSCALE, &state->params, rung, step_rung));
    TRY(motion_step_open(&state->blur, MOTION_BLUR, &state->params, rung, step_rung));
    TRY(motion_step_open(&state->absdiff, MOTION_ABSDIFF, &state->params, rung, step_rung));
    for (int step = MOTION_ABSDIFF; step < MOTION_STEPS; step++)
        TRY(motion_refuse_swap(&state->params, (enum motion_step)step, rung));
    TRY(image_create(&state->gray, first->width, first->height, 1, PIXEL_U8));
    TRY(image_create_like(&state->blurred, &state->gray));
    TRY(image_create_like(&state->background, &state->gray));
    TRY(image_create_like(&state->difference, &state->gray));
    TRY(image_create_like(&state->zero, &state->gray));
    memset(state->zero.data, 0, state->zero.stride * (size_t)state->zero.height);
    TRY(image_create(&state->mean, first->width, first->height, 1, PIXEL_U16));
    TRY(bits_create(&state->mask, first->width, first->height));
    TRY(bits_create(&state->cleaned, first->width, first->height));
    state->runs = malloc(2 * (size_t)(first->width / 2 + 1) * sizeof *state->runs);
    if (!state->runs)
        status = status_set(STATUS_NO_MEMORY, "no memory for runs of %d columns", first->width);
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->runs) {
        state->params = *params;
        TRY(allocate(state, first));
    }
    TRY(step_run(&state->grayscale, first, &state->gray, NULL));
    TRY(step_run(&state->blur, &state->gray, &state->background, NULL));
    motion_mean_start(&state->mean, &state->background);
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->frame = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    const struct image both[2] = {state->blurred, state->background};
    const struct image *left = &state->blurred, *right = &state->background;
    struct threshold_params threshold = {.value = state->params.value};
    int value = state->params.value;
    enum status status = STATUS_OK, morphology = STATUS_OK;
    char message[256];

    TRY(step_run(&state->grayscale, &state->frame, &state->gray, NULL));
    TRY(step_run(&state->blur, &state->gray, &state->blurred, NULL));
    step_begin("threshold", NULL);
    if (value == MOTION_VALUE_OTSU) { /* needs the histogram of the whole difference before the first bit */
        TRY(step_run(&state->absdiff, both, &state->difference, NULL));
        TRY(threshold_value(&state->difference, &threshold, step_rung, &value));
        left = &state->difference;
        right = &state->zero;
    }
#pragma omp parallel
    {
        pack(left, right, value, &state->mask);
#pragma omp master
        step_begin("morphology", NULL);
        const enum status own = clean(state, &state->mask, &state->cleaned);
        if (own != STATUS_OK) /* its message is this thread's own */
#pragma omp critical
        {
            morphology = own;
            snprintf(message, sizeof message, "%s", status_message());
        }
    }
    if (morphology != STATUS_OK)
        return status_set(morphology, "%s", message);
    step_begin("boxes", NULL);
    TRY(write_boxes(state, &state->cleaned, result));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", NULL);
#pragma omp parallel for schedule(static)
        for (int y = 0; y < state->mean.height; y++)
            motion_mean_update(&state->mean, &state->blurred, &state->background, state->params.rate, y, y + 1);
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    struct image *images[] = {&state->gray, &state->blurred,    &state->background,
                              &state->mean, &state->difference, &state->zero};

    step_close(&state->grayscale);
    step_close(&state->blur);
    step_close(&state->absdiff);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    free(state->mask.data);
    free(state->cleaned.data);
    free(state->components);
    free(state->runs);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1)
