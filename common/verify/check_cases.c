#include "common/verify/check_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/pipeline.h"
#include "common/verify/check_further.h"
#include "common/verify/check_values.h"

/* Single pixels, rows and columns; tile sides 16, 32, 64, 128, one less and one more, along x and y; primes, which no
 * tile divides; flat and tall; and one image of several tiles of any kind. */
static const int sizes[][2] = {
    {1, 1},    {1, 61},  {67, 1},  {2, 3},   {5, 2},     {13, 7},  {15, 17},  {16, 16},  {17, 15},
    {31, 33},  {32, 32}, {33, 31}, {63, 65}, {64, 64},   {65, 63}, {127, 33}, {128, 32}, {129, 31},
    {33, 129}, {97, 89}, {300, 5}, {5, 300}, {257, 131}, {512, 9}, {1030, 7}, {7, 520},
};
/* The patterns that are not random, and the other settings, are tried on fewer. */
static const int pattern_sizes[][2] = {{17, 15}, {65, 63}, {128, 32}};
static const int setting_sizes[][2] = {{3, 2}, {33, 31}, {97, 89}};
/* Pipelines: naive steps one after the other, by the frame, so none larger than a few tiles. */
static const int pipeline_setting_sizes[][2] = {{3, 2}, {33, 31}, {65, 35}};

/* Many pictures: the first of these by the default settings, the second by other ones. */
static const int queue_sizes[][2] = {{33, 31}, {19, 17}};

enum { VIDEO_FRAMES = 7, OVER_DEPTH = 3 };

/* More than the version has in flight, and no multiple of that: each place for a frame is filled, some twice. */
static int frames_over_depth(const struct version *version)
{
    const int depth = version->pipeline->depth;

    return depth < VIDEO_FRAMES && VIDEO_FRAMES % depth != 0 ? VIDEO_FRAMES : depth + OVER_DEPTH;
}

/* A contract's own shapes that are larger than this are there for their size. */
enum { ALL_CALLS_PIXELS = 20000 };

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

/* The shapes that an algorithm on other things than pictures names: each with random content, every third one with the
 * other patterns, all settings in turn. */
static enum status add_shapes(struct case_list *list, const struct algorithm *algorithm)
{
    enum status status = STATUS_OK;
    int settings = 0;

    while (algorithm->check_settings && algorithm->check_settings[settings])
        settings++;
    for (int i = 0; algorithm->check_shapes && algorithm->check_shapes[i][0]; i++) {
        struct check_case item = {.width = algorithm->check_shapes[i][0],
                                  .height = algorithm->check_shapes[i][1],
                                  .channels = algorithm->check_shapes[i][2]};

        for (int pattern = 0; pattern <= PATTERN_RANDOM; pattern++) {
            item.pattern = (enum pattern)pattern;
            item.calls = pattern == PATTERN_RANDOM && item.width * item.height <= ALL_CALLS_PIXELS
                             ? CHECK_ALL_CALLS
                             : case_one_call(list);
            if (pattern == PATTERN_RANDOM || i % 3 == 0)
                TRY(case_add(list, item));
        }
        item.pattern = PATTERN_RANDOM;
        for (int s = i % 3; s < settings; s += 3) {
            item.settings = algorithm->check_settings[s];
            item.calls = case_one_call(list);
            TRY(case_add(list, item));
        }
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------- values of parameters */

/* Of others, of REAL parameters, and of all parameters at once. */
enum { DRAWN_VALUES = 2, DRAWN_SETS = 3 };

static const int set_size[2] = {67, 35};
/* Both ends of each range: several tiles of any kind, wider and taller than the largest window. */
static const int end_size[2] = {131, 67};

/* Both ends of every range by itself, then of all ranges together, for every version. */
static enum status add_ends(const struct algorithm *algorithm, struct check_case item, struct case_list *list)
{
    enum status status = STATUS_OK;

    item.own = false;
    for (int end = 0; end < 2; end++) {
        char all[512] = "";

        for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
            char text[96] = "";

            if (!value_is_drawn(p))
                continue;
            value_append_end(text, sizeof text, p, end == 1);
            value_append_end_beside(all, sizeof all, p, end == 1);
            if (p->kind != PARAMETER_CHOICE && (item.settings = case_keep_settings(list, algorithm, text))) {
                item.calls = case_one_call(list);
                TRY(case_add(list, item));
            }
        }
        if (all[0] && (item.settings = case_keep_settings(list, algorithm, all)))
            TRY(case_add(list, item));
    }
out:
    return status;
}

/* Every version tries all values of small ranges, its share of larger ones, some of any others; then sets in which any
 * parameter may differ from its default; then two sets in turn, with a state each. */
static enum status add_values(const struct version *version, uint64_t seed, struct case_list *list)
{
    const struct algorithm *algorithm = version->algorithm;
    struct version *const *versions;
    size_t count, place = 0, parameters = 0;
    struct check_case item = check_values_case(algorithm);
    uint64_t random = seed;
    enum status status = STATUS_OK;

    registry_versions(algorithm, &versions, &count);
    while (place < count && versions[place] != version)
        place++;
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++, parameters++) {
        int values;

        if (!value_is_drawn(p))
            continue;
        value_first(p, &values);
        const bool all = p->kind != PARAMETER_REAL && values <= SHARED_VALUES;
        const int first = all && values > ALL_VALUES ? (int)place : 0,
                  step = all && values > ALL_VALUES ? (int)count : 1;

        item.own = step > 1;
        for (int i = first; i < (all ? values : DRAWN_VALUES); i += step) {
            char text[96] = "";

            if (all)
                value_append(text, sizeof text, p, i);
            else
                value_append_drawn(text, sizeof text, p, &random);
            if ((item.settings = case_keep_settings(list, algorithm, text)))
                TRY(case_add(list, item));
        }
    }
    item.own = false;
    const struct check_case plain = {.width = item.width,
                                     .height = item.height,
                                     .channels = item.channels,
                                     .pattern = item.pattern,
                                     .calls = item.calls};
    /* What is kept of a call shows when another one, on the same picture, has had another value. */
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        int values;

        if (!value_is_drawn(p) || version->remote) /* a worker has one state */
            continue;
        value_first(p, &values);
        item.settings = item.between = NULL;
        for (int i = 0; i < 16 && !item.between; i++) {
            char text[96] = "";

            if (p->kind == PARAMETER_REAL || values > SHARED_VALUES)
                value_append_drawn(text, sizeof text, p, &random);
            else
                value_append(text, sizeof text, p, (int)((uint64_t)i * 7 % (uint64_t)values));
            if (!item.settings)
                item.settings = case_keep_settings(list, algorithm, text);
            else if (strcmp(item.settings, text) != 0)
                item.between = case_keep_settings(list, algorithm, text);
        }
        if (item.between)
            TRY(case_add(list, item));
    }
    /* The same of a model: the default one, and another that the contract's settings name. */
    for (const struct parameter *p = algorithm->parameters; p && p->name && !version->remote; p++)
        for (int s = 0; p->kind == PARAMETER_MODEL && algorithm->check_settings && algorithm->check_settings[s]; s++)
            if (check_settings_name(algorithm->check_settings[s], p->name)) {
                item.settings = NULL;
                item.between = algorithm->check_settings[s];
                TRY(case_add(list, item));
                break;
            }
    item.between = NULL;
    item.own = true;
    if (!algorithm->check_shapes) {
        item.width = set_size[0];
        item.height = set_size[1];
    }
    random += 0x9e3779b97f4a7c15 * (place + 1);
    for (int set = 0, attempts = 0; parameters > 1 && set < DRAWN_SETS && attempts < 16 * DRAWN_SETS; attempts++) {
        char text[512] = "";

        for (const struct parameter *p = algorithm->parameters; p->name; p++)
            if (value_is_drawn(p) && pattern_random(&random) % 2)
                value_append_drawn(text, sizeof text, p, &random);
        if (!*text || !(item.settings = case_keep_settings(list, algorithm, text)))
            continue;
        TRY(case_add(list, item));
        set++;
    }
    item = plain;
    if (!algorithm->check_shapes) {
        item.width = end_size[0];
        item.height = end_size[1];
    }
    TRY(add_ends(algorithm, item, list));
    item = plain;
    item.growth = true;
    if (!version->remote)
        TRY(case_add(list, item));
out:
    return status;
}

/* --------------------------------------------------------------------------------------------------- the lists */

enum status check_cases_make(const struct version *version, uint64_t seed, struct case_list *list)
{
    const struct algorithm *algorithm = version->algorithm;
    const int(*const with_settings)[2] = algorithm->video ? pipeline_setting_sizes : setting_sizes;
    const int *channels = algorithm->check_channels;
    int channel_counts = 0;
    enum status status = STATUS_OK;

    while (channels && channels[channel_counts])
        channel_counts++;
    for (int i = 0; !algorithm->check_shapes && i < LENGTH(sizes); i++)
        for (int c = 0; c < channel_counts; c++)
            TRY(case_add(
                list, (struct check_case){.width = sizes[i][0],
                                          .height = sizes[i][1],
                                          .channels = channels[c],
                                          .pattern = PATTERN_RANDOM,
                                          .calls = i % channel_counts == c ? CHECK_ALL_CALLS : case_one_call(list)}));
    for (int i = 0; !algorithm->check_shapes && i < LENGTH(pattern_sizes); i++)
        for (int pattern = 0; pattern <= PATTERN_RANDOM; pattern++)
            if (pattern != PATTERN_RANDOM)
                TRY(case_add(list, (struct check_case){.width = pattern_sizes[i][0],
                                                       .height = pattern_sizes[i][1],
                                                       .channels = channels[(i + pattern) % channel_counts],
                                                       .pattern = (enum pattern)pattern,
                                                       .calls = i == 0 ? CHECK_ALL_CALLS : case_one_call(list)}));
    for (int s = 0; !algorithm->check_shapes && algorithm->check_settings && algorithm->check_settings[s]; s++)
        for (int i = 0; i < LENGTH(setting_sizes); i++)
            TRY(case_add(list, (struct check_case){.width = with_settings[i][0],
                                                   .height = with_settings[i][1],
                                                   .channels = channels[(i + s) % channel_counts],
                                                   .pattern = PATTERN_RANDOM,
                                                   .settings = algorithm->check_settings[s],
                                                   .calls = i == 1 ? CHECK_ALL_CALLS : case_one_call(list)}));
    TRY(add_shapes(list, algorithm));
    for (const struct hard_case *hard = algorithm->hard_cases; hard && hard->name; hard++)
        for (int i = 0; !hard->further && hard->shapes[i][0]; i++)
            TRY(case_add(
                list, (struct check_case){.width = hard->shapes[i][0],
                                          .height = hard->shapes[i][1],
                                          .channels = hard->shapes[i][2],
                                          .pattern = PATTERN_RANDOM,
                                          .settings = hard->settings,
                                          .hard_case = hard->name,
                                          .unanswered = hard->unanswered,
                                          .calls = i == 0 && hard->shapes[i][0] * hard->shapes[i][1] <= ALL_CALLS_PIXELS
                                                       ? CHECK_ALL_CALLS
                                                       : case_one_call(list)}));
    if (strcmp(version->source->id, "cpu/serial") == 0)
        for (const struct golden *golden = algorithm->goldens; golden && golden->name; golden++)
            TRY(case_add(list, (struct check_case){.width = golden->width,
                                                   .height = golden->height,
                                                   .channels = golden->channels,
                                                   .pattern = PATTERN_COUNT,
                                                   .settings = golden->settings,
                                                   .golden = golden}));
    for (int i = 0; algorithm->video && i < LENGTH(setting_sizes); i++) {
        TRY(case_add(list, (struct check_case){.width = setting_sizes[i][0],
                                               .height = setting_sizes[i][1],
                                               .channels = channels[0],
                                               .pattern = PATTERN_GRADIENT,
                                               .frames = frames_over_depth(version)}));
        for (int s = 0; algorithm->check_settings && algorithm->check_settings[s]; s++)
            if (s % LENGTH(setting_sizes) == i)
                TRY(case_add(list, (struct check_case){.width = with_settings[i][0],
                                                       .height = with_settings[i][1],
                                                       .channels = channels[0],
                                                       .pattern = PATTERN_GRADIENT,
                                                       .settings = algorithm->check_settings[s],
                                                       .frames = VIDEO_FRAMES}));
    }
    for (int i = 0; version->queue && i < LENGTH(queue_sizes); i++)
        TRY(case_add(list, (struct check_case){
                               .width = queue_sizes[i][0],
                               .height = queue_sizes[i][1],
                               .channels = channels ? channels[0] : algorithm->check_shapes[0][2],
                               .pattern = PATTERN_RANDOM,
                               .settings = i > 0 && algorithm->check_settings ? algorithm->check_settings[0] : NULL,
                               .queue = true}));
    if (!version_is_peer(version)) /* each state of one may be a process */
        TRY(add_values(version, seed, list));
    TRY(check_cases_further(version, seed, list));
out:
    return status;
}

/* Flat and tall first; then pixels by the million; at last, in colour where there is, the most bytes that a row has. */
static const struct {
    int width, height;
    enum pattern pattern;
} large_cases[] = {
    {4099, 37, PATTERN_RANDOM},   {37, 4099, PATTERN_RANDOM},   {65535, 3, PATTERN_MAXIMUM},
    {3, 65535, PATTERN_MAXIMUM},  {2049, 2051, PATTERN_RANDOM}, {2051, 2049, PATTERN_MAXIMUM},
    {4099, 4103, PATTERN_RANDOM}, {5, 33001, PATTERN_RANDOM},   {2051, 2049, PATTERN_BLOCKS},
    {65535, 1, PATTERN_RANDOM},
};

enum status check_cases_make_large(const struct version *version, struct case_list *list)
{
    const struct algorithm *algorithm = version->algorithm;
    int channel_counts = 0;
    enum status status = STATUS_OK;

    while (algorithm->check_channels && algorithm->check_channels[channel_counts])
        channel_counts++;
    for (int i = 0; !algorithm->check_shapes && i < LENGTH(large_cases); i++)
        TRY(case_add(list, (struct check_case){.width = large_cases[i].width,
                                               .height = large_cases[i].height,
                                               .channels = algorithm->check_channels[i % channel_counts],
                                               .pattern = large_cases[i].pattern,
                                               .large = true,
                                               .calls = CHECK_ONE_RUN}));
out:
    return status;
}

void check_cases_vary(const struct version *version, uint64_t seed, struct case_list *list)
{
    /* 0: what the machine has. More than rows of tiles, not a power of two, more than cores. */
    static const int threads[] = {0, 1, 2, 9, 0, 3, 8};
    enum { MANY = 64, EVERY = 24, FEW_PIXELS = 1500 }; /* so many threads on a few small cases */
    enum { ALIKE = 8 };                                /* cases in a row: threads that come and go take time */
    const bool of_cpu = !version_is_cuda(version) && !version_is_peer(version) && !version->remote;
    size_t small = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct check_case *item = &list->items[i];

        if (item->golden || item->growth)
            continue;
        item->drawn = i % 2;
        if (!of_cpu)
            continue;
        item->threads = threads[(i / ALIKE + seed) % LENGTH(threads)];
        if (item->width * item->height <= FEW_PIXELS && small++ % EVERY == EVERY / 2)
            item->threads = MANY;
    }
}

void check_cases_share(struct case_list *list)
{
    static const enum check_calls in_turn[] = {CHECK_ALL_CALLS, CHECK_ALL_RUNS, CHECK_ALL_LAUNCHES};
    size_t found = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].calls == CHECK_ALL_CALLS && !list->items[i].golden && !list->items[i].frames &&
            !list->items[i].queue)
            list->items[i].calls = in_turn[found++ % LENGTH(in_turn)];
}

void check_cases_shorten(struct case_list *list, uint64_t seed)
{
    for (size_t i = 0; i < list->count; i++) {
        struct check_case *item = &list->items[i];

        if (item->calls != CHECK_ALL_CALLS && item->settings && !item->between && !item->hard_case &&
            (i + seed) % 4 != 0)
            item->left_out = true;
        if (item->calls == CHECK_ALL_CALLS && i % 4 != 0)
            item->calls = i % 4 == 2 ? CHECK_ONE_LAUNCH : CHECK_ONE_RUN;
    }
}

/* The place of a version among the ladder's for the GPU, and how many there are. */
static size_t place_on_device(const struct version *version, size_t *count)
{
    struct version *const *versions;
    size_t all, place = 0;

    *count = 0;
    registry_versions(version->algorithm, &versions, &all);
    for (size_t i = 0; i < all; i++) {
        if (versions[i] == version)
            place = *count;
        *count += version_is_cuda(versions[i]) && !version_is_peer(versions[i]);
    }
    return place;
}

void check_cases_deal(const struct version *version, struct case_list *list, int share, uint64_t seed)
{
    size_t players, shapes = 0, own = 0, others = 0;
    const size_t first = place_on_device(version, &players) + (size_t)(seed % 1000);
    const size_t hands = players < (size_t)share ? players : (size_t)share; /* all must be dealt */

    for (size_t i = 0; hands > 1 && i < list->count; i++) {
        struct check_case *item = &list->items[i];

        if (item->golden || (item->frames && !item->settings && item->width < 64)) /* short videos of few tiles */
            continue;
        if (item->own)
            item->left_out |= (first + own++) % hands != 0;
        else if (item->settings || item->between || item->hard_case || item->pattern != PATTERN_RANDOM || item->large)
            item->left_out |= (first + others++) % hands != 0;
        else if (item->calls == CHECK_ALL_CALLS && (first + shapes++) % hands != 0)
            item->calls = case_one_call_of(i);
    }
}

void check_cases_thin(struct case_list *list, int share, uint64_t seed)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i].left_out |= !list->items[i].golden && (i + seed) % (uint64_t)share != 0;
}

void check_cases_free(struct case_list *list)
{
    for (size_t i = 0; i < list->text_count; i++)
        free(list->texts[i]);
    free(list->texts);
    free(list->items);
    memset(list, 0, sizeof *list);
}
