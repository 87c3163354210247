#include "common/verify/check.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/core/clock.h"
#include "common/core/process.h"
#include "common/image/pattern.h"
#include "common/verify/diagnose.h"
#include "common/verify/outputs.h"

/* ----------------------------------------------------------------------------------------------- the case list */

struct check_case {
    int width, height, channels;
    enum pattern pattern;
    const char *settings;        /* as after -p; NULL: the defaults */
    const struct golden *golden; /* an answer worked out by hand; NULL: compare with the reference */
    int frames;                  /* a video of so many frames; 0: one call */
    const char *hard_case;       /* one of the contract's; NULL: the pattern */
};

struct case_list {
    struct check_case *items;
    size_t count, capacity;
};

static enum status add(struct case_list *list, struct check_case item)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 128;
        struct check_case *items = realloc(list->items, capacity * sizeof *items);

        if (!items)
            return status_set(STATUS_NO_MEMORY, "no memory for the list of cases");
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return STATUS_OK;
}

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

enum { VIDEO_FRAMES = 7, OVER_DEPTH = 3 };

/* More than the version has in flight, and no multiple of that: each place for a frame is filled, some twice. */
static int frames_over_depth(const struct version *version)
{
    const int depth = version->pipeline->depth;

    return depth < VIDEO_FRAMES && VIDEO_FRAMES % depth != 0 ? VIDEO_FRAMES : depth + OVER_DEPTH;
}

enum { TINY_PIXELS = 64 };

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

        for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
            item.pattern = (enum pattern)pattern;
            if (pattern == PATTERN_RANDOM || i % 3 == 0)
                TRY(add(list, item));
        }
        item.pattern = PATTERN_RANDOM;
        for (int s = i % 3; s < settings; s += 3) {
            item.settings = algorithm->check_settings[s];
            TRY(add(list, item));
        }
    }
out:
    return status;
}

/* The random pattern in every shape, the other patterns and settings in a few, the contract's hard cases, answers worked
 * out by hand, videos. What all versions of a ladder have in common comes first and in the same order, so that a case has
 * the same number, and with it the same seed, for each of them. */
static enum status make_cases(const struct version *version, struct case_list *list)
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
            TRY(add(list, (struct check_case){.width = sizes[i][0],
                                              .height = sizes[i][1],
                                              .channels = channels[c],
                                              .pattern = PATTERN_RANDOM}));
    for (int i = 0; !algorithm->check_shapes && i < LENGTH(pattern_sizes); i++)
        for (int pattern = 0; pattern < PATTERN_COUNT; pattern++)
            if (pattern != PATTERN_RANDOM)
                TRY(add(list, (struct check_case){.width = pattern_sizes[i][0],
                                                  .height = pattern_sizes[i][1],
                                                  .channels = channels[(i + pattern) % channel_counts],
                                                  .pattern = (enum pattern)pattern}));
    for (int s = 0; !algorithm->check_shapes && algorithm->check_settings && algorithm->check_settings[s]; s++)
        for (int i = 0; i < LENGTH(setting_sizes); i++)
            TRY(add(list, (struct check_case){.width = with_settings[i][0],
                                              .height = with_settings[i][1],
                                              .channels = channels[(i + s) % channel_counts],
                                              .pattern = PATTERN_RANDOM,
                                              .settings = algorithm->check_settings[s]}));
    TRY(add_shapes(list, algorithm));
    for (const struct hard_case *hard = algorithm->hard_cases; hard && hard->name; hard++)
        for (int i = 0; hard->shapes[i][0]; i++)
            TRY(add(list, (struct check_case){.width = hard->shapes[i][0],
                                              .height = hard->shapes[i][1],
                                              .channels = hard->shapes[i][2],
                                              .pattern = PATTERN_RANDOM,
                                              .settings = hard->settings,
                                              .hard_case = hard->name}));
    if (strcmp(version->source->id, "cpu/serial") == 0)
        for (const struct golden *golden = algorithm->goldens; golden && golden->name; golden++)
            TRY(add(list, (struct check_case){.width = golden->width,
                                              .height = golden->height,
                                              .channels = golden->channels,
                                              .pattern = PATTERN_COUNT,
                                              .settings = golden->settings,
                                              .golden = golden}));
    for (int i = 0; algorithm->video && i < LENGTH(setting_sizes); i++) {
        TRY(add(list, (struct check_case){.width = setting_sizes[i][0],
                                          .height = setting_sizes[i][1],
                                          .channels = channels[0],
                                          .pattern = PATTERN_GRADIENT,
                                          .frames = frames_over_depth(version)}));
        for (int s = 0; algorithm->check_settings && algorithm->check_settings[s]; s++)
            TRY(add(list, (struct check_case){.width = with_settings[i][0],
                                              .height = with_settings[i][1],
                                              .channels = channels[0],
                                              .pattern = PATTERN_GRADIENT,
                                              .settings = algorithm->check_settings[s],
                                              .frames = VIDEO_FRAMES}));
    }
out:
    return status;
}

/* ----------------------------------------------------------------------------------------------- in the child */

/* Shared with the parent, so that it knows where the child was when it died. */
struct shared {
    struct check_report report;
    char current[256]; /* the case being tried; "" before the first and after the last */
    bool in_reference; /* the reference is at work, not the version */
    bool finished;     /* the child came to its own end; a version can call exit(0) too */
    bool tiny;         /* the case being tried is a row, a column, or has fewer than TINY_PIXELS pixels */
    int telling;       /* of the failure kept in the report, see telling() */
    char message[512]; /* why the check itself could not be done; "" when it could */
};

struct job {
    const struct version *version;
    struct check_options *options;
    struct shared *shared;
    void (*watch)(const struct check_report *report);
};

/* SIGALRM, which ends the process, comes after so long; 0: not at all. */
static void set_alarm(double seconds)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(1e6 * fmod(seconds, 1))}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

/* "blur-cuda-v1.2" */
static void picture_name(const struct version *version, char *text, size_t size)
{
    snprintf(text, size, "%s-%s", version->algorithm->name, version->source->id);
    for (char *c = text; *c; c++)
        if (*c == '/')
            *c = '-';
}

static void log_failure(struct check_report *report, const char *which, const char *what)
{
    const size_t length = strlen(report->failures);

    snprintf(report->failures + length, sizeof report->failures - length, "%s: %s\n", which, what);
}

/* Which failure to report of several: the one whose cause is surest. Of those that are equally sure it is the first
 * that is no more tiny, for small images are the easiest to follow by hand, but single pixels and rows show no pattern
 * to whoever looks for one. */
static int telling(const struct verdict *verdict, bool tiny)
{
    return 2 * verdict->certainty + !tiny;
}

static void take_verdict(struct job *job, const struct verdict *verdict, const char *picture)
{
    struct shared *shared = job->shared;
    struct check_report *report = &shared->report;
    char name[128];

    if (verdict->outcome == OUTCOME_SKIP) {
        report->declined++;
        snprintf(report->reason, sizeof report->reason, "%s", verdict->what);
        return;
    }
    report->checked++;
    if (verdict->outcome == OUTCOME_PASS) {
        report->worst = fmax(report->worst, verdict->worst);
        return;
    }
    log_failure(report, shared->current, verdict->what);
    if (report->failed++ > 0 && telling(verdict, shared->tiny) <= shared->telling) {
        remove(picture);
        return;
    }
    shared->telling = telling(verdict, shared->tiny);
    snprintf(report->failed_case, sizeof report->failed_case, "%s", shared->current);
    snprintf(report->what, sizeof report->what, "%s", verdict->what);
    snprintf(report->diagnosis, sizeof report->diagnosis, "%s", verdict->diagnosis);
    if (report->picture[0])
        remove(report->picture);
    report->picture[0] = '\0';
    if (!verdict->pictured)
        return;
    picture_name(job->version, name, sizeof name);
    snprintf(report->picture, sizeof report->picture, "%s/%s.png", job->options->pictures, name);
    if (rename(picture, report->picture) != 0)
        report->picture[0] = '\0';
}

/* The samples of an answer worked out by hand lie without padding. */
static void copy_packed(struct image *image, const uint8_t *samples)
{
    for (int y = 0; y < image->height; y++)
        memcpy(image_row(image, y), samples + (size_t)y * image_row_bytes(image), image_row_bytes(image));
}

static enum status golden_inputs(const struct algorithm *algorithm, const struct golden *golden, struct image in[])
{
    enum status status = STATUS_OK;

    for (int i = 0; i < algorithm->input_count; i++) {
        const int *shape = golden->shapes[i];

        TRY(array_create(&in[i], shape[0] ? shape[0] : golden->width, shape[1] ? shape[1] : golden->height,
                         shape[2] ? shape[2] : golden->channels,
                         golden->types ? golden->types[i] : algorithm->inputs[i].type));
        copy_packed(&in[i], golden->in[i]);
    }
out:
    return status;
}

/* The reference's answer, or the one worked out by hand. */
static enum status make_expected(const struct check_case *item, const struct algorithm *algorithm,
                                 const struct image in[], const void *params, struct image expected[])
{
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    if (!item->golden)
        return verify_reference(algorithm, in, params, expected);
    TRY(algorithm->shape(in, params, shapes));
    TRY(outputs_create_like(expected, shapes));
    for (int slot = 0; slot < algorithm->output_count; slot++)
        if (expected[slot].data)
            copy_packed(&expected[slot], item->golden->out[slot]);
out:
    return status;
}

static enum status try_case(struct job *job, const struct check_case *item, uint64_t seed)
{
    const struct algorithm *algorithm = job->version->algorithm;
    struct shared *shared = job->shared;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}};
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct input_request request = {.width = item->width,
                                    .height = item->height,
                                    .channels = item->channels,
                                    .pattern = item->pattern,
                                    .seed = seed,
                                    .hard_case = item->hard_case};
    struct verdict verdict;
    char settings[128] = "", name[128], picture[1024] = "";
    void *params = calloc(1, algorithm->params_size ? algorithm->params_size : 1);
    enum status status = STATUS_OK;

    if (!params)
        return status_set(STATUS_NO_MEMORY, "no memory for parameters");
    TRY(params_parse_text(algorithm, item->settings ? item->settings : "", params));
    params_describe(algorithm, params, settings, sizeof settings);
    if (item->golden) {
        TRY(golden_inputs(algorithm, item->golden, in));
    } else {
        request.params = params;
        TRY(inputs_make(algorithm, &request, in));
    }
    /* A shape that the contract refuses is no case. */
    if (algorithm->shape(in, params, shapes) != STATUS_OK) {
        shared->report.cases--;
        goto out;
    }

    shared->tiny = item->width == 1 || item->height == 1 || item->width * item->height < TINY_PIXELS;
    snprintf(shared->current, sizeof shared->current, "%s%dx%d, %d channel%s, %s%s, %s", item->frames ? "video, " : "",
             item->width, item->height, item->channels, item->channels == 1 ? "" : "s",
             item->golden      ? "answer worked out by hand: "
             : item->hard_case ? "hard case: "
                               : pattern_name(item->pattern),
             item->golden      ? item->golden->name
             : item->hard_case ? item->hard_case
                               : "",
             settings);
    picture_name(job->version, name, sizeof name);
    if (job->options->pictures)
        snprintf(picture, sizeof picture, "%s/%s-next.png", job->options->pictures, name);

    set_alarm(job->options->case_seconds);
    if (item->frames) {
        status = verify_stream(job->version, in, params, item->frames, &verdict);
        set_alarm(0);
        if (status == STATUS_OK)
            take_verdict(job, &verdict, "");
        goto out;
    }
    shared->in_reference = true;
    status = make_expected(item, algorithm, in, params, expected);
    shared->in_reference = false;
    if (status == STATUS_OK)
        status = verify_version(job->version, in, params, expected, item->golden ? NULL : &request,
                                picture[0] ? picture : NULL, &verdict);
    set_alarm(0);
    if (status == STATUS_OK)
        take_verdict(job, &verdict, picture);
out:
    shared->current[0] = '\0';
    inputs_free(algorithm, in);
    outputs_free(expected);
    free(params);
    return status;
}

static int check_body(void *argument)
{
    struct job *job = argument;
    struct shared *shared = job->shared;
    struct check_report *report = &shared->report;
    struct case_list list = {0};
    bool made_folder = false;
    const double start = clock_seconds();
    enum status status = STATUS_OK;

    setenv("RUNGS_EMULATOR_LATE", "1", 0); /* a missing wait shall show; for the device that this process is to start */
    const char *why = version_unavailable(job->version);

    report->emulated = version_is_cuda(job->version) && device_is_emulated();
    if (why) {
        report->declined++;
        snprintf(report->reason, sizeof report->reason, "%s", why);
        goto out;
    }
    TRY(make_cases(job->version, &list));
    report->cases = (int)list.count;
    if (job->options->pictures) {
        made_folder = mkdir(job->options->pictures, 0777) == 0;
        if (!made_folder && errno != EEXIST)
            job->options->pictures = NULL;
    }
    for (size_t i = 0; i < list.count && clock_seconds() - start < job->options->total_seconds; i++) {
        const struct check_case *item = &list.items[i];

        const long pixels = (long)item->width * item->height, largest = job->options->largest_pixels;

        /* Bands count as well: a few pixels of 198 bands are no small input. */
        if (largest && (pixels > largest || pixels * item->channels > 3 * largest)) {
            report->cases--;
            continue;
        }
        report->goldens += item->golden != NULL;
        TRY(try_case(job, item, job->options->seed + 1000 * i));
        /* A kernel that failed takes the device's context with it: what follows would say nothing. */
        const struct version_remote *remote = job->version->remote;
        const bool lost =
            report->failed &&
            (remote ? remote->lost() : version_is_cuda(job->version) && version_unavailable(job->version));

        if (lost || (job->options->first && report->failed && shared->telling > 2 * CERTAINTY_SURE)) {
            report->ended_early = i + 1 < list.count;
            break;
        }
    }
out:
    if (status != STATUS_OK)
        snprintf(shared->message, sizeof shared->message, "%s", status_message());
    if (made_folder)
        rmdir(job->options->pictures); /* refused unless it is empty */
    free(list.items);
    shared->finished = true;
    return 0;
}

/* ---------------------------------------------------------------------------------------------- in the parent */

static void watch_job(void *argument)
{
    const struct job *job = argument;

    if (job->watch)
        job->watch(&job->shared->report);
}

/* A child that did not come to its end: names the case and what ended it. */
static void report_death(const struct job *job, const struct process_result *result, const char *how)
{
    struct check_report *report = &job->shared->report;
    const char *current = job->shared->current;
    const bool late = result->timed_out || result->signal == SIGALRM;

    report->failed++;
    report->checked++;
    report->ended_early = true;
    snprintf(report->failed_case, sizeof report->failed_case, "%s", current[0] ? current : "before the first case");
    if (job->shared->in_reference)
        snprintf(report->what, sizeof report->what, "the reference cpu/serial %s", how);
    else if (result->signal == SIGALRM)
        snprintf(report->what, sizeof report->what, "ran past its limit of %g s for one case",
                 job->options->case_seconds);
    else
        snprintf(report->what, sizeof report->what, "%s", how);

    if (late)
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "time-out: an endless loop, a deadlock, or far too slow (--limit allows more)");
    else if (strstr(how, "ThreadSanitizer: data race"))
        snprintf(report->diagnosis, sizeof report->diagnosis, "race: two threads touch the line above unordered");
    else if (strstr(how, "Sanitizer"))
        snprintf(report->diagnosis, sizeof report->diagnosis, "memory error, found by a sanitizer: see the line above");
    else if (!result->signal)
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "the version ended the process: a call of exit(), or a check of a library that failed");
    else
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "crash: probably a pointer or an index out of bounds (make check SANITIZE=1 names the line)");
    report->picture[0] = '\0';
    log_failure(report, report->failed_case, report->what);
}

enum status check_version(const struct version *version, const struct check_options *options,
                          void (*watch)(const struct check_report *report), struct check_report *report)
{
    struct check_options own = *options;
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct job job = {.version = version, .options = &own, .shared = shared, .watch = watch};
    struct process_result result;
    char how[400];
    enum status status = STATUS_OK;

    memset(report, 0, sizeof *report);
    if (!shared)
        return status_set(STATUS_NO_MEMORY, "no memory to share with a child process");
    /* The alarm inside ends a case that hangs; this limit is for a version that blocks the alarm. */
    TRY(process_run_watched(check_body, watch_job, &job, options->total_seconds + 2 * options->case_seconds + 10,
                            &result));
    process_describe(&result, how, sizeof how);
    if (!how[0] && !shared->finished)
        snprintf(how, sizeof how, "ended with exit code 0 before all cases were tried");
    if (how[0])
        report_death(&job, &result, how);
    else if (shared->message[0])
        TRY(status_set(STATUS_FAILED, "%s:%s: %s", version->algorithm->name, version->source->id, shared->message));

    *report = shared->report;
    report->outcome = report->failed ? OUTCOME_FAIL : report->checked ? OUTCOME_PASS : OUTCOME_SKIP;
out:
    process_shared_free(shared, sizeof *shared);
    return status;
}
