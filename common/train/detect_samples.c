#include "common/train/detect_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t area(const struct samples *samples)
{
    return (size_t)samples->window * (size_t)samples->window;
}

const uint8_t *samples_plane(const struct samples *samples, int block, int kind)
{
    return samples->planes + ((size_t)block * SAMPLES_CELLS + (size_t)kind) * area(samples) * SAMPLES_BLOCK;
}

/* Of sums. */
static size_t places(const struct samples *samples)
{
    return (size_t)(samples->window + 1) * (size_t)(samples->window + 1);
}

const int32_t *samples_sums(const struct samples *samples, int block)
{
    return samples->sums + (size_t)block * places(samples) * SAMPLES_BLOCK;
}

enum status samples_create(struct samples *samples, int window, int capacity, int feature)
{
    const size_t blocks = (size_t)(capacity + SAMPLES_BLOCK - 1) / SAMPLES_BLOCK;
    const bool search = feature != SAMPLES_NO_SEARCH, cells = search && feature != DETECT_HAAR;

    *samples = (struct samples){.window = window, .capacity = capacity, .feature = feature};
    samples->pixels = malloc((size_t)capacity * area(samples));
    samples->responses = calloc((size_t)capacity, sizeof *samples->responses);
    samples->alive = calloc((size_t)capacity, sizeof *samples->alive);
    if (cells) {
        samples->planes = calloc(blocks * SAMPLES_CELLS, area(samples) * SAMPLES_BLOCK);
    } else if (search) {
        samples->sums = calloc(blocks * places(samples), SAMPLES_BLOCK * sizeof *samples->sums);
        samples->deviations = malloc(blocks * SAMPLES_BLOCK * sizeof *samples->deviations);
        for (size_t i = 0; samples->deviations && i < blocks * SAMPLES_BLOCK; i++)
            samples->deviations[i] = 1; /* behind the last sample, too, it divides */
    }
    if (search)
        samples->weights = calloc(blocks * SAMPLES_BLOCK, sizeof *samples->weights);
    if (samples->pixels && samples->responses && samples->alive && (!search || samples->weights) &&
        (!cells || samples->planes) && (!search || cells || (samples->sums && samples->deviations)))
        return STATUS_OK;
    samples_free(samples);
    return status_set(STATUS_NO_MEMORY, "no memory for %d samples", capacity);
}

void samples_free(struct samples *samples)
{
    free(samples->pixels);
    free(samples->responses);
    free(samples->alive);
    free(samples->planes);
    free(samples->sums);
    free(samples->deviations);
    free(samples->weights);
    *samples = (struct samples){0};
}

void samples_add(struct samples *samples, const uint8_t *pixels, size_t stride, bool mirrored)
{
    const int n = samples->window;
    uint8_t *to = samples->pixels + (size_t)samples->count * area(samples);

    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            *to++ = pixels[(size_t)y * stride + (size_t)(mirrored ? n - 1 - x : x)];
    samples->responses[samples->count] = 0;
    samples->alive[samples->count++] = true;
}

void samples_drop(struct samples *samples)
{
    int kept = 0;

    for (int i = 0; i < samples->count; i++) {
        if (!samples->alive[i])
            continue;
        if (kept < i) {
            memcpy(samples->pixels + (size_t)kept * area(samples), samples->pixels + (size_t)i * area(samples),
                   area(samples));
            samples->responses[kept] = samples->responses[i];
            samples->alive[kept] = true;
        }
        kept++;
    }
    samples->count = kept;
}

static void fill_planes(struct samples *samples, int block, int first, int own)
{
    const int n = samples->window;

    for (int kind = 0; kind < SAMPLES_CELLS; kind++) {
        const int width = kind % 2 + 1, height = kind / 2 + 1;
        uint8_t *plane = (uint8_t *)samples_plane(samples, block, kind);

        for (int i = 0; i < own; i++) {
            const uint8_t *pixels = samples->pixels + (size_t)(first + i) * area(samples);

            for (int y = 0; y + height <= n; y++)
                for (int x = 0; x + width <= n; x++)
                    plane[(y * n + x) * SAMPLES_BLOCK + i] = detect_cell(pixels + y * n + x, (size_t)n, width, height);
        }
    }
}

static void fill_sums(struct samples *samples, int block, int first, int own)
{
    const int n = samples->window;
    int32_t *sums = (int32_t *)samples_sums(samples, block);

    for (int i = 0; i < own; i++) {
        const uint8_t *pixels = samples->pixels + (size_t)(first + i) * area(samples);
        uint32_t sum = 0, squares = 0;

        for (int y = 0; y < n; y++) {
            int32_t row = 0;
            for (int x = 0; x < n; x++) {
                const uint32_t value = pixels[y * n + x];
                const int place = (y + 1) * (n + 1) + x + 1;
                row += (int32_t)value;
                sum += value;
                squares += value * value;
                sums[(size_t)place * SAMPLES_BLOCK + (size_t)i] =
                    sums[(size_t)(place - n - 1) * SAMPLES_BLOCK + (size_t)i] + row;
            }
        }
        samples->deviations[first + i] = detect_haar_deviation(n, sum, squares);
    }
}

void samples_transpose(struct samples *samples, int threads)
{
    const int blocks = samples_blocks(samples);

#pragma omp parallel for schedule(static) num_threads(threads)
    for (int block = 0; block < blocks; block++) {
        const int first = block * SAMPLES_BLOCK;
        const int own = samples->count - first < SAMPLES_BLOCK ? samples->count - first : SAMPLES_BLOCK;

        if (samples->feature == DETECT_HAAR)
            fill_sums(samples, block, first, own);
        else
            fill_planes(samples, block, first, own);
    }
    for (int i = samples->count; i < blocks * SAMPLES_BLOCK; i++)
        samples->weights[i] = 0;
}

void samples_evaluate(struct samples *samples, int first, const struct detect_model *model, int stages, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = first; i < samples->count; i++) {
        const uint8_t *pixels = samples->pixels + (size_t)i * area(samples);
        float response = 0;
        bool alive = true;

        for (int t = 0; t < stages && alive; t++) {
            const struct detect_stage *stage = &detect_stages(model)[t];
            const int bin = detect_stage_bin((int)model->feature, stage, pixels, (size_t)samples->window);
            response += detect_tables(model)[(size_t)t * model->bins + (size_t)bin];
            alive = !(response < stage->threshold);
        }
        samples->responses[i] = response;
        samples->alive[i] = alive;
    }
}

void samples_weigh(struct samples *samples, int sign)
{
    double sum = 0;

    for (int i = 0; i < samples->count; i++)
        sum += samples->alive[i] ? exp(-sign * (double)samples->responses[i]) : 0;
    for (int i = 0; i < samples->count; i++)
        samples->weights[i] =
            samples->alive[i] ? (uint32_t)(exp(-sign * (double)samples->responses[i]) / sum * 0x1p31) : 0;
}

int samples_alive(const struct samples *samples)
{
    int alive = 0;

    for (int i = 0; i < samples->count; i++)
        alive += samples->alive[i];
    return alive;
}
