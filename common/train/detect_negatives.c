#include "common/train/detect_negatives.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/core/progress.h"
#include "common/image/image_io.h"
#include "common/image/pattern.h"

enum {
    BATCH = 32,      /* jobs between two looks at how many windows there are */
    MOST_OF_JOB = 48 /* windows that one job gives, so that they come from many photographs */
};

/* --------------------------------------------------------------------------------------------- photographs */

static enum status add_photograph(struct photographs *photographs, const char *path, bool must_load)
{
    enum status status = STATUS_OK;

    if (photographs->count == photographs->capacity) {
        const int capacity = photographs->capacity ? 2 * photographs->capacity : 64;
        struct image *items = realloc(photographs->items, (size_t)capacity * sizeof *items);

        if (!items)
            return status_set(STATUS_NO_MEMORY, "no memory for %d photographs", capacity);
        photographs->items = items;
        photographs->capacity = capacity;
    }
    status = image_load(&photographs->items[photographs->count], path, 1);
    if (status == STATUS_OK && photographs->items[photographs->count].type != PIXEL_U8)
        image_free(&photographs->items[photographs->count]);
    else if (status == STATUS_OK)
        photographs->count++;
    return status == STATUS_BAD_INPUT && !must_load ? STATUS_OK : status;
}

enum status photographs_load(struct photographs *photographs, const char *path)
{
    struct dirent **names = NULL;
    struct stat about;
    char file[4096];
    int count = 0;
    enum status status = STATUS_OK;

    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return add_photograph(photographs, path, true);
    count = scandir(path, &names, NULL, alphasort);
    if (count < 0)
        return status_set(STATUS_BAD_INPUT, "%s: cannot be read", path);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (stat(file, &about) == 0 && S_ISREG(about.st_mode))
            TRY(add_photograph(photographs, file, false));
    }
out:
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

void photographs_free(struct photographs *photographs)
{
    for (int i = 0; i < photographs->count; i++)
        image_free(&photographs->items[i]);
    free(photographs->items);
    *photographs = (struct photographs){0};
}

/* ----------------------------------------------------------------------------------------------------- jobs */

/* What one job found: windows of its own pyramid, by their upper left pixels. */
struct found {
    uint8_t *pixels; /* MOST_OF_JOB windows */
    int count;
    double windows, stages, hits;
    enum status status;
};

/* The taps of all columns of a picture of `width` that is resampled from one of `source`. */
static void find_columns(struct pyramid_tap *columns, int width, uint32_t relative, int source)
{
    for (int x = 0; x < width; x++)
        columns[x] = pyramid_find_tap(x, relative, source);
}

/* Level `l` of a layout, out of level 0 and those between. */
static void resample(const struct pyramid_layout *layout, int l, struct pyramid_tap *columns, struct image *image)
{
    const struct pyramid_level *level = &layout->levels[l], *source = &layout->levels[level->source];

    find_columns(columns, level->width, level->relative, source->width);
    for (int y = 0; y < level->height; y++) {
        const struct pyramid_tap row = pyramid_find_tap(y, level->relative, source->height);
        const uint8_t *upper = (const uint8_t *)image_row(image, source->y + row.first) + source->x;
        const uint8_t *lower = (const uint8_t *)image_row(image, source->y + row.second) + source->x;
        uint8_t *to = (uint8_t *)image_row(image, level->y + y) + level->x;

        for (int x = 0; x < level->width; x++)
            to[x] = pyramid_blend(upper, lower, columns[x], row.weight);
    }
}

/* The photograph shrunk by up to 1.2, in one of the eight orientations, and its pyramid. */
static enum status make_levels(const struct image *photograph, uint64_t random, int window,
                               struct pyramid_layout *layout, struct image *levels)
{
    const struct pyramid_params params = {.scale = 1.2, .window = window};
    const uint32_t relative = 65536 + (uint32_t)(random >> 8) % 13107;
    const int width = (int)(((uint64_t)photograph->width << 16) / relative);
    const int height = (int)(((uint64_t)photograph->height << 16) / relative);
    const bool turned = random & 1, mirrored = random & 2, flipped = random & 4;
    struct pyramid_tap *columns = NULL; /* of one level after the other */
    enum status status = STATUS_OK;

    *layout = (struct pyramid_layout){0};
    if (width < window || height < window)
        return STATUS_OK;
    pyramid_lay_out(turned ? height : width, turned ? width : height, &params, layout);
    TRY(image_create(levels, layout->width, layout->height, 1, PIXEL_U8));
    image_fill(levels, 0);
    columns = malloc((size_t)(width > height ? width : height) * sizeof *columns);
    if (!columns) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d columns", width);
        goto out;
    }
    find_columns(columns, width, relative, photograph->width);
    for (int y = 0; y < height; y++) {
        const struct pyramid_tap row = pyramid_find_tap(y, relative, photograph->height);
        const uint8_t *upper = image_row(photograph, row.first), *lower = image_row(photograph, row.second);

        for (int x = 0; x < width; x++) {
            const int u = mirrored ? width - 1 - x : x, v = flipped ? height - 1 - y : y;
            const uint8_t value = pyramid_blend(upper, lower, columns[x], row.weight);
            ((uint8_t *)image_row(levels, turned ? u : v))[turned ? v : u] = value;
        }
    }
    for (int l = 1; l < layout->count; l++)
        resample(layout, l, columns, levels);
out:
    free(columns);
    return status;
}

static inline void cell_row(const uint8_t *from, size_t stride, int count, int width, int height, uint8_t *to)
{
#pragma omp simd
    for (int x = 0; x < count; x++)
        to[x] = detect_cell(from + x, stride, width, height);
}

/* Cell means of all four sizes at every pixel of `levels`, row by row; those that would reach outside are not looked
 * at. */
static enum status make_planes(const struct image *levels, struct image planes[SAMPLES_CELLS])
{
    enum status status = STATUS_OK;

    for (int kind = 0; kind < SAMPLES_CELLS; kind++) {
        const int width = kind % 2 + 1, height = kind / 2 + 1;

        TRY(image_create_like(&planes[kind], levels));
        for (int y = 0; y + height <= levels->height; y++) {
            const uint8_t *from = image_row(levels, y);
            uint8_t *to = image_row(&planes[kind], y);
            const int count = levels->width - width + 1;

            /* Sizes are constants here: a mean is additions and a shift, with vectors, and no division. */
            if (kind == 0)
                cell_row(from, levels->stride, count, 1, 1, to);
            else if (kind == 1)
                cell_row(from, levels->stride, count, 2, 1, to);
            else if (kind == 2)
                cell_row(from, levels->stride, count, 1, 2, to);
            else
                cell_row(from, levels->stride, count, 2, 2, to);
        }
    }
out:
    return status;
}

/* Of all pixels above and to the left, modulo 2^32, which is enough for a window's: one column and one row more than
 * `levels`. */
struct sums {
    uint32_t *values, *squares;
    size_t stride;
};

static enum status make_sums(const struct image *levels, struct sums *sums)
{
    const size_t count = (size_t)(levels->width + 1) * (size_t)(levels->height + 1);

    *sums = (struct sums){calloc(count, sizeof *sums->values), calloc(count, sizeof *sums->squares),
                          (size_t)levels->width + 1};
    if (!sums->values || !sums->squares)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums of %zu pixels", count);
    for (int y = 0; y < levels->height; y++) {
        const uint8_t *from = image_row(levels, y);
        uint32_t *values = sums->values + (size_t)(y + 1) * sums->stride + 1;
        uint32_t *squares = sums->squares + (size_t)(y + 1) * sums->stride + 1;
        uint32_t value = 0, square = 0;

        for (int x = 0; x < levels->width; x++) {
            value += from[x];
            square += (uint32_t)from[x] * from[x];
            values[x] = *(values + x - sums->stride) + value;
            squares[x] = *(squares + x - sums->stride) + square;
        }
    }
    return STATUS_OK;
}

/* Of a rectangle whose upper left pixel is at `from`. */
static uint32_t sum_of(const uint32_t *from, size_t stride, int width, int height)
{
    const uint32_t *below = from + (size_t)height * stride;

    return below[width] - below[0] - from[width] + from[0];
}

static bool rectangles_pass(const struct sums *sums, size_t offset, const struct detect_model *model, int stages,
                            double *evaluated)
{
    const int window = (int)model->window;
    const uint32_t *values = sums->values + offset;
    const int deviation = detect_haar_deviation(window, sum_of(values, sums->stride, window, window),
                                                sum_of(sums->squares + offset, sums->stride, window, window));
    float response = 0;

    for (int t = 0; t < stages; t++) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const int across = detect_haar_across(stage->a), down = detect_haar_down(stage->a);
        int difference = 0;

        for (int i = 0; i < across * down; i++) {
            const uint32_t *from = values + (size_t)(stage->y + i / across * stage->height) * sums->stride + stage->x +
                                   (size_t)(i % across * stage->width);
            difference +=
                detect_haar_weight(stage->a, i) * (int)sum_of(from, sums->stride, stage->width, stage->height);
        }
        response += detect_tables(
            model)[t * (int)model->bins + detect_haar_bin(difference, stage->width * stage->height, window, deviation)];
        ++*evaluated;
        if (response < stage->threshold)
            return false;
    }
    return true;
}

static bool passes(const struct image planes[], size_t offset, const struct detect_model *model, int stages,
                   double *evaluated)
{
    const size_t stride = planes[0].stride;
    float response = 0;

    for (int t = 0; t < stages; t++) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const uint8_t *from = (const uint8_t *)planes[samples_cell_kind(stage->width, stage->height)].data + offset +
                              stage->y * stride + stage->x;
        uint8_t cells[DETECT_CELLS];

        for (int c = 0; c < DETECT_CELLS; c++)
            cells[c] = from[(size_t)(c / 3 * stage->height) * stride + (size_t)(c % 3 * stage->width)];
        response +=
            detect_tables(model)[t * (int)model->bins + detect_bin((int)model->feature, cells, stage->a, stage->b)];
        ++*evaluated;
        if (response < stage->threshold)
            return false;
    }
    return true;
}

/* Looks at every `step`th window or so; of more than MOST_OF_JOB that pass, each is as likely to stay. */
static void look(const struct image *levels, const struct image planes[], const struct sums *sums,
                 const struct pyramid_layout *layout, const struct detect_model *model, int stages, uint64_t step,
                 uint64_t random, struct found *found)
{
    const int window = (int)model->window;
    const size_t area = (size_t)window * (size_t)window;
    uint64_t wait = step > 1 ? pattern_random(&random) % step : 0;

    for (int l = 0; l < layout->count; l++) {
        const struct pyramid_level *level = &layout->levels[l];

        for (int y = level->y; y <= level->y + level->height - window; y++) {
            const int end = level->x + level->width - window + 1;
            for (int x = level->x; x < end; x++) {
                if (wait >= (uint64_t)(end - x)) {
                    wait -= (uint64_t)(end - x);
                    break;
                }
                x += (int)wait;
                wait = step > 1 ? pattern_random(&random) % (2 * step - 1) : 0;
                found->windows++;
                if (sums->values
                        ? !rectangles_pass(sums, (size_t)y * sums->stride + (size_t)x, model, stages, &found->stages)
                        : !passes(planes, (size_t)y * levels->stride + (size_t)x, model, stages, &found->stages))
                    continue;
                found->hits++;
                const int place = found->count < MOST_OF_JOB ? found->count++
                                                             : (int)(pattern_random(&random) % (uint64_t)found->hits);
                for (int v = 0; v < window && place < MOST_OF_JOB; v++)
                    memcpy(found->pixels + (size_t)place * area + (size_t)(v * window),
                           (const uint8_t *)image_row(levels, y + v) + x, (size_t)window);
            }
        }
    }
}

static void do_job(const struct photographs *photographs, const struct detect_model *model, int stages, uint64_t seed,
                   uint64_t job, double passing, struct found *found)
{
    uint64_t random = seed ^ job * 0x9e3779b97f4a7c15u;
    struct image levels = {0}, planes[SAMPLES_CELLS] = {{0}};
    struct sums sums = {0};
    struct pyramid_layout layout;
    double step;
    enum status status = STATUS_OK;

    *found = (struct found){.pixels = found->pixels};
    const struct image *photograph = &photographs->items[pattern_random(&random) % (uint64_t)photographs->count];
    TRY(make_levels(photograph, pattern_random(&random), (int)model->window, &layout, &levels));
    if (layout.count == 0)
        goto out;
    if (model->feature == DETECT_HAAR)
        TRY(make_sums(&levels, &sums));
    else
        TRY(make_planes(&levels, planes));
    /* As many as should give the most that a job may give. */
    step = (double)layout.width * layout.height * passing / MOST_OF_JOB;
    look(&levels, planes, &sums, &layout, model, stages, step > 1 ? (uint64_t)step : 1, pattern_random(&random), found);
out:
    found->status = status;
    image_free(&levels);
    free(sums.values);
    free(sums.squares);
    for (int kind = 0; kind < SAMPLES_CELLS; kind++)
        image_free(&planes[kind]);
}

enum status mine(const struct photographs *photographs, const struct detect_model *model, int stages, uint64_t seed,
                 int threads, int most_jobs, int held, struct mining *mining, struct samples *samples,
                 struct samples *held_out)
{
    const size_t area = (size_t)model->window * model->window;
    struct found found[BATCH] = {{0}};
    uint8_t *pixels = malloc(BATCH * MOST_OF_JOB * area);
    int taken = 0;
    enum status status = STATUS_OK;

    if (!pixels)
        return status_set(STATUS_NO_MEMORY, "no memory for windows");
    mining->windows = mining->stages = 0;
    for (int done = 0; done < most_jobs && samples->count < samples->capacity; done += BATCH) {
        double windows = 0, hits = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int i = 0; i < BATCH; i++) {
            found[i].pixels = pixels + (size_t)i * MOST_OF_JOB * area;
            do_job(photographs, model, stages, seed, mining->jobs + (uint64_t)i, mining->passing, &found[i]);
        }
        mining->jobs += BATCH;
        for (int i = 0; i < BATCH; i++) {
            if (found[i].status != STATUS_OK) {
                status = status_set(found[i].status, "no memory for the pyramid of a photograph");
                goto out;
            }
            windows += found[i].windows;
            hits += found[i].hits;
            mining->stages += found[i].stages;
            for (int k = 0; k < found[i].count; k++) {
                struct samples *to = ++taken % held == 0 && held_out->count < held_out->capacity ? held_out : samples;
                if (to->count < to->capacity)
                    samples_add(to, found[i].pixels + (size_t)k * area, model->window, false);
            }
        }
        mining->windows += windows;
        mining->passing = windows > 0 ? (hits + 1) / windows : 1;
        progress("looking for windows that %d stages do not reject: %d of %d in %.0f million", stages, samples->count,
                 samples->capacity, mining->windows * 1e-6);
    }
out:
    free(pixels);
    return status;
}
