/*
 * judge.c: the program rungs-judge: verifies and times one version that runs in a worker, and writes what it found as
 * JSON. assignments/labs.py turns that into points. It holds the contracts and cpu/serial of every algorithm; the version
 * is in another process, with limits, and is believed nothing.
 *
 * Timing   The version and a reference rung, each in a worker, take turns on the same input. All inputs are new for every
 *          call: the pattern shifted by a random distance, with random samples changed in every row. Each round fills
 *          more buffers than the last-level cache holds, then calls; both results of every call are compared. A result
 *          counts as it is when the call returns: it is copied at once, and must not have changed at the round's end.
 *          A pipeline is timed over a whole video, start() included, and gets another one each time: mobiles of
 *          scene.h, shifted as above, and in every frame a rectangle somewhere that nobody can foresee.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/core/clock.h"
#include "common/core/file.h"
#include "common/image/pattern.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"
#include "common/remote/remote.h"
#include "common/verify/check.h"
#include "common/verify/scene.h"

static const char help[] =
    "usage: rungs-judge check --worker FILE --id ID --json FILE [OPTION...]\n"
    "       rungs-judge time --worker FILE --reference FILE --size WxH --json FILE [OPTION...]\n\n"
    "Verifies or times the version in a worker program and writes what was found as JSON; `make lab-NN` calls it.\n\n"
    "  --worker FILE     the program around the version\n"
    "  --json FILE       where the result goes\n"
    "  --threads N       OpenMP threads (default: all cores)\n"
    "  --memory MIB      the most memory that the version may take besides the images (default 1024)\n"
    "  --limit SECONDS   the longest that one case or call may take (default 30)\n"
    "  --unconfined      no system call filter: for code that you trust, where the kernel has none\n"
    "check:\n"
    "  --id ID           its name, student/omp say\n"
    "  --total SECONDS   cases that have not begun by then are left out (default 120)\n"
    "  --seed N          of the random inputs (default 1)\n"
    "  --pictures DIR    where to put pictures of differences\n"
    "  --tune NAME=N     a tunable of the version\n"
    "time:\n"
    "  --reference FILE  the worker of the rung to compare with\n"
    "  --size WxH        of the input\n"
    "  --frames N        of the video that a pipeline gets (default 8)\n"
    "  -p NAME=VALUE     a parameter of the algorithm\n"
    "  --seconds S       how long to go on (default 2)\n"
    "  --enough RATIO    stop after 60 calls of each when the best are no further apart (default 0: go on)\n"
    "  --zero RATIO      stop early when the version takes more than twice that many times the reference\n"
    "  --kernel          time launch() on device images; without it run(), transfers and all\n\n"
    "Exit status: 0 the JSON is there, 2 bad use or no result.\n";

struct arguments {
    struct remote_options worker, reference;
    const char *id, *json, *pictures;
    const char *tune[CHANNEL_MAX_TUNABLES], *settings[16];
    size_t tune_count, setting_count;
    uint64_t seed;
    double total_seconds, seconds, zero, enough;
    int width, height, frames;
    bool kernel;
};

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int fail(const char *format, ...)
{
    va_list list;

    fputs("rungs-judge: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return 2;
}

/* Text that a version may have made: valid UTF-8 or none. */
static json_t *text(const char *characters)
{
    json_t *string = json_string(characters);

    if (!string) {
        char clean[1024];

        snprintf(clean, sizeof clean, "%s", characters);
        for (char *c = clean; *c; c++)
            if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
                *c = '?';
        string = json_string(clean);
    }
    return string;
}

static enum status write_json(json_t *result, const char *path)
{
    char *dump = json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    struct output_file file = {0};
    enum status status = STATUS_OK;

    if (!dump)
        return status_set(STATUS_NO_MEMORY, "no memory for %s", path);
    TRY(file_create(&file, path));
    file_write(&file, dump, strlen(dump));
    TRY(file_commit(&file));
out:
    file_discard(&file);
    free(dump);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- check */

/* Fills images that are there with inputs as the contract wants them. */
static enum status fill_inputs(const struct algorithm *algorithm, struct image in[], uint64_t seed, const void *params)
{
    const struct input_request request = {.width = in[0].width,
                                          .height = in[0].height,
                                          .channels = in[0].channels,
                                          .pattern = PATTERN_RANDOM,
                                          .seed = seed,
                                          .params = params};
    struct image made[ALGORITHM_MAX_INPUTS] = {{0}};
    enum status status = STATUS_OK;

    TRY(inputs_make(algorithm, &request, made));
    for (int i = 0; i < algorithm->input_count; i++)
        image_copy(&in[i], &made[i]);
out:
    inputs_free(algorithm, made);
    return status;
}

static enum status place_image(struct remote *remote, struct image *image, const struct image *like)
{
    *image = *like;
    image->stride = image_minimal_stride(image);
    image->data = remote_allocate(remote, image->stride * (size_t)image->height);
    return image->data ? STATUS_OK
                       : status_set(STATUS_NO_MEMORY, "images of %dx%d are too large to be shared with a worker",
                                    like->width, like->height);
}

/* What two calls with one state do on the device, as the emulator counts: the second shows what lasts. */
static enum status count_calls(const struct arguments *arguments, const struct algorithm *algorithm, json_t *result)
{
    static const char *const names[2] = {"first_call", "second_call"};
    struct remote_options options = arguments->worker;
    struct remote *remote = NULL;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, out = {0};
    enum status status = STATUS_OK;

    options.quiet = true;
    TRY(remote_start(&options, &remote));
    struct channel *const channel = remote_channel(remote);

    for (int i = 0; i < algorithm->input_count; i++) {
        const struct image like = {130, 70, algorithm->bench_channels, algorithm->inputs[i].type, 0, NULL};

        TRY(place_image(remote, &in[i], &like));
        channel->in[0] = in[i];
        if (channel->depth)
            TRY(remote_call(remote, CHANNEL_PIN, NULL));
    }
    TRY(params_parse_text(algorithm, "", channel->params));
    TRY(fill_inputs(algorithm, in, 7, channel->params));
    TRY(algorithm->shape(in, channel->params, &out));
    TRY(place_image(remote, &out, &out));
    for (int call = 0; call < 2; call++) {
        struct channel_counts counts;

        channel->inputs = algorithm->input_count;
        memcpy(channel->in, in, sizeof in);
        channel->out[0] = out;
        channel->outputs = algorithm->output_count;
        TRY(remote_call(remote, CHANNEL_RUN, NULL));
        counts = channel->counts;
        json_object_set_new(result, names[call],
                            json_pack("{s:I, s:I, s:I, s:I, s:I}", "allocations", (json_int_t)counts.allocations,
                                      "launches", (json_int_t)counts.launches, "shared_bytes",
                                      (json_int_t)counts.shared_bytes, "barriers", (json_int_t)counts.barriers,
                                      "stream_copies", (json_int_t)counts.stream_copies));
    }
out:
    remote_stop(remote);
    return status;
}

static json_t *report_json(const struct check_report *report)
{
    static const char *const outcomes[] = {"pass", "fail", "skip"};
    json_t *result = json_object(), *failures = json_array();

    json_object_set_new(result, "outcome", json_string(outcomes[report->outcome]));
    json_object_set_new(result, "emulated", json_boolean(report->emulated));
    json_object_set_new(result, "cases", json_integer(report->cases));
    json_object_set_new(result, "checked", json_integer(report->checked));
    json_object_set_new(result, "failed", json_integer(report->failed));
    json_object_set_new(result, "ended_early", json_boolean(report->ended_early));
    json_object_set_new(result, "reason", text(report->reason));
    json_object_set_new(result, "case", text(report->failed_case));
    json_object_set_new(result, "what", text(report->what));
    json_object_set_new(result, "diagnosis", text(report->diagnosis));
    json_object_set_new(result, "picture", text(report->picture));
    for (const char *line = report->failures; *line;) {
        const size_t length = strcspn(line, "\n");
        char one[1024];

        snprintf(one, sizeof one, "%.*s", (int)length, line);
        json_array_append_new(failures, text(one));
        line += length + (line[length] == '\n');
    }
    json_object_set_new(result, "failures", failures);
    return result;
}

static enum status check(const struct arguments *arguments)
{
    const struct check_options options = {.seed = arguments->seed,
                                          .case_seconds = arguments->worker.call_seconds,
                                          .total_seconds = arguments->total_seconds,
                                          .pictures = arguments->pictures};
    static struct channel facts; /* large */
    static struct check_report report;
    struct remote_options quiet = arguments->worker;
    struct remote *remote = NULL;
    const struct algorithm *algorithm;
    const struct version *version;
    json_t *result = NULL, *tunables = json_object();
    enum status status = STATUS_OK;
    void *params = NULL;

    /* Once for what it registers; a worker that cannot even start has an answer too. */
    quiet.quiet = true;
    status = remote_start(&quiet, &remote);
    if (status != STATUS_OK) {
        result = json_pack("{s:s, s:i, s:i, s:i, s:b, s:s, s:s, s:[]}", "outcome", "fail", "cases", 0, "checked", 0,
                           "failed", 1, "ended_early", 1, "case", "before the first case", "diagnosis",
                           "the file does something as it is loaded, before it is called", "failures");
        json_object_set_new(result, "what", text(status_message()));
        status = STATUS_OK;
        goto write;
    }
    facts = *remote_channel(remote);
    remote_stop(remote);
    remote = NULL;
    facts.algorithm[sizeof facts.algorithm - 1] = '\0';
    TRY(remote_register(&arguments->worker, &facts, arguments->id, arguments->id));
    TRY(registry_open());
    algorithm = registry_find_algorithm(facts.algorithm);
    TRY(registry_find_version(algorithm, arguments->id, &version));
    params = calloc(1, algorithm->params_size + 1);
    TRY(params_parse(algorithm, &version, 1, arguments->tune, arguments->tune_count, params));
    if (facts.unavailable[0]) {
        facts.unavailable[sizeof facts.unavailable - 1] = '\0';
        report.outcome = OUTCOME_SKIP;
        snprintf(report.reason, sizeof report.reason, "%s", facts.unavailable);
    } else {
        TRY(check_version(version, &options, NULL, &report));
    }
    result = report_json(&report);
    json_object_set_new(result, "cuda", json_boolean(version_is_cuda(version)));
    if (version->pipeline)
        json_object_set_new(result, "pipeline", json_pack("{s:i}", "depth", version->pipeline->depth));
    if (version_is_cuda(version) && report.outcome == OUTCOME_PASS && device_is_emulated())
        count_calls(arguments, algorithm, result); /* fails only where the check would have */
    for (const struct tunable *t = version->tunables; t && t->name; t++) {
        json_t *legal = json_array();

        for (int i = 0; t->legal[i]; i++)
            json_array_append_new(legal, json_integer(t->legal[i]));
        json_object_set_new(tunables, t->name, json_pack("{s:i, s:o}", "value", *t->value, "legal", legal));
    }
    json_object_set(result, "tunables", tunables);
write:
    TRY(write_json(result, arguments->json));
out:
    remote_stop(remote);
    json_decref(tunables);
    json_decref(result);
    free(params);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- time */

enum { MAX_SETS = 64, MAX_PAIRS = 600, ENOUGH_PAIRS = 60, FEW_PAIRS = 3 };
static const size_t SET_BYTES = (size_t)256 << 20;

struct runner {
    struct remote *remote;
    struct image in[MAX_SETS][ALGORITHM_MAX_INPUTS], out[MAX_SETS];
    double seconds[MAX_PAIRS];
    double busy, idle; /* processor seconds: during calls, and from one's end to the next one's start */
    double left_at;    /* processor seconds when the last call returned */
    double left, rest; /* when that was, and the seconds between calls */
    int depth;         /* frames that may be in flight */
};

struct timing {
    const struct arguments *arguments;
    const struct algorithm *algorithm;
    void *params;
    struct image base[ALGORITHM_MAX_INPUTS]; /* what all inputs are made of */
    struct image shape, kept[MAX_SETS];      /* the version's results as they were when its calls returned */
    struct image scenes[MAX_SETS];           /* of a video: what its frames are made of */
    int frames;                              /* of a video, of which each set holds one; 0: pictures */
    int inputs;                              /* of a set */
    int sets, pairs;
    uint64_t random;
    struct runner runners[2]; /* the version, the reference */
    char wrong[512];          /* the version's fault, or "" */
};
enum { THE_VERSION, THE_REFERENCE };

static void shift_row(const struct image *from, int source, struct image *to, int target, int right)
{
    const size_t cut = (size_t)right * (size_t)from->channels * pixel_size(from->type);
    const char *row = image_row(from, source);
    char *shifted = image_row(to, target);

    memcpy(shifted, row + cut, image_row_bytes(from) - cut);
    memcpy(shifted + image_row_bytes(from) - cut, row, cut);
}

static int below(struct timing *timing, int limit)
{
    return (int)(pattern_random(&timing->random) % (uint64_t)limit);
}

/* A new input: the base, shifted cyclically, and a random sample of each row changed. Masks and the like, which may hold
 * but certain values, are shifted only. */
static void renew(struct timing *timing, struct image to[])
{
    const struct image *base = &timing->base[0];
    const int down = below(timing, base->height), right = below(timing, base->width);

    for (int i = 0; i < timing->algorithm->input_count; i++)
        for (int y = 0; y < base->height; y++) {
            uint8_t *target = image_row(&to[i], y);

            shift_row(&timing->base[i], (y + down) % base->height, &to[i], y, right);
            if (base->type == PIXEL_U8 && !timing->algorithm->make_inputs)
                target[pattern_random(&timing->random) % image_row_bytes(base)] ^= (uint8_t)(1 + below(timing, 255));
        }
}

/* A new video. Its first frame is the empty scene, for a background. */
static void renew_video(struct timing *timing, struct image (*to)[ALGORITHM_MAX_INPUTS])
{
    const struct image *scene = &timing->scenes[0];
    const int down = below(timing, scene->height), right = below(timing, scene->width);
    const int begin = below(timing, timing->frames - 1);

    for (int frame = 0; frame < timing->frames; frame++) {
        const int side = scene->width < 64 || scene->height < 64 ? 1 : 16 + below(timing, 32);
        const int left = below(timing, scene->width - side), top = below(timing, scene->height - side);

        if (frame > 0)
            scene = &timing->scenes[1 + (begin + frame) % (timing->frames - 1)];
        for (int y = 0; y < scene->height; y++)
            shift_row(scene, (y + down) % scene->height, &to[frame][0], y, right);
        for (int y = top; frame > 0 && y < top + side; y++) {
            uint8_t *row = image_row(&to[frame][0], y);

            for (int x = left * scene->channels; x < (left + side) * scene->channels; x++)
                row[x] = (uint8_t)(255 - row[x]);
        }
    }
}

/* Before a call, or the calls of a video: its processor seconds so far, for end_work(). */
static double begin_work(struct runner *runner)
{
    const double used = remote_processor_seconds(runner->remote);

    if (runner->left > 0) {
        runner->idle += used - runner->left_at;
        runner->rest += clock_seconds() - runner->left;
    }
    return used;
}

static void end_work(struct runner *runner, double before)
{
    runner->left_at = remote_processor_seconds(runner->remote);
    runner->left = clock_seconds();
    runner->busy += runner->left_at - before;
}

static enum status call_once(struct timing *timing, int which, int set, double *seconds)
{
    struct runner *runner = &timing->runners[which];
    struct channel *channel = remote_channel(runner->remote);
    const double before = begin_work(runner);
    enum status status = STATUS_OK;

    channel->inputs = timing->algorithm->input_count;
    memcpy(channel->in, runner->in[set], sizeof channel->in);
    channel->out[0] = runner->out[set];
    channel->outputs = timing->algorithm->output_count;
    channel->heap_byte = 0;
    memcpy(channel->params, timing->params, timing->algorithm->params_size);
    if (timing->arguments->kernel) {
        TRY(remote_call(runner->remote, CHANNEL_UPLOAD, NULL));
        /* One launch is near what asking for it takes; of twenty, little of it is left in each. The last one finds a
         * poisoned output, and which is the last nobody knows. */
        const int repeat = 20 + (int)(pattern_random(&timing->random) % 5);

        channel->repeat = repeat;
        TRY(remote_call(runner->remote, CHANNEL_LAUNCH, seconds));
        *seconds /= repeat;
        TRY(remote_call(runner->remote, CHANNEL_DOWNLOAD, NULL));
    } else {
        TRY(remote_call(runner->remote, CHANNEL_RUN, seconds));
    }
    end_work(runner, before);
    if (which == THE_VERSION)
        image_copy(&timing->kept[set], &runner->out[set]);
out:
    return status;
}

static bool same_pixels(const struct image *a, const struct image *b, double tolerance)
{
    for (int y = 0; y < a->height; y++) {
        if (memcmp(image_row(a, y), image_row(b, y), image_row_bytes(a)) == 0)
            continue;
        if (tolerance == 0 || a->type != PIXEL_F32)
            return false;
        for (int x = 0; x < a->width * a->channels; x++)
            if (!(fabs((double)((float *)image_row(a, y))[x] - (double)((float *)image_row(b, y))[x]) <= tolerance))
                return false;
    }
    return true;
}

/* Finds the version's fault, if it has one: in the results of the first `played` sets, or in what it did besides. */
static void look_at_results(struct timing *timing, int played)
{
    const struct runner *version = &timing->runners[THE_VERSION], *reference = &timing->runners[THE_REFERENCE];

    for (int set = 0; set < played; set++) {
        if (!same_pixels(&timing->kept[set], &reference->out[set], timing->algorithm->outputs[0].comparison.tolerance))
            snprintf(timing->wrong, sizeof timing->wrong, "%s",
                     same_pixels(&version->out[set], &reference->out[set],
                                 timing->algorithm->outputs[0].comparison.tolerance)
                         ? "a timed call returned before its result was there"
                         : "right when checked, but wrong in a timed call, whose inputs are new each time: a cached "
                           "result, or right for some sizes only");
        else if (!same_pixels(&timing->kept[set], &version->out[set], 0))
            snprintf(timing->wrong, sizeof timing->wrong, "a result was changed after its call had returned");
    }
    /* An idle version takes none but what its threads spin before they sleep: up to half a millisecond each in a call
     * (82 us each on 16 cores, results/h200/labs/lab02_native.txt). Work that goes on and on is also done during the calls,
     * so it must not be held against those alone. */
    const double spun = 0.0005 * timing->arguments->worker.threads * (2 + timing->pairs);

    if (!timing->wrong[0] && version->idle > spun + fmin(0.3 * version->busy, 2 * spun + 0.1 * version->rest))
        snprintf(timing->wrong, sizeof timing->wrong,
                 "works on between its calls: %.0f ms of processor time that nobody was waiting for",
                 1e3 * version->idle);
}

/* One call of a pipeline on `frame`, or for the result of that one. */
static enum status call_pipeline(struct runner *runner, enum channel_request request, int frame)
{
    struct channel *channel = remote_channel(runner->remote);

    channel->in[0] = runner->in[frame][0];
    channel->out[0] = runner->out[frame];
    channel->outputs = 1;
    return remote_call(runner->remote, request, NULL);
}

/* The whole video through one pipeline, as many frames in flight as it takes. */
static enum status play_video(struct timing *timing, int which, double *seconds)
{
    struct runner *runner = &timing->runners[which];
    struct channel *channel = remote_channel(runner->remote);
    const double before = begin_work(runner), start = clock_seconds();
    enum status status = STATUS_OK;

    channel->heap_byte = 0;
    memcpy(channel->params, timing->params, timing->algorithm->params_size);
    TRY(call_pipeline(runner, CHANNEL_START, 0));
    for (int submitted = 0, received = 0; received < timing->frames;) {
        if (submitted < timing->frames && submitted - received < runner->depth) {
            TRY(call_pipeline(runner, CHANNEL_SUBMIT, submitted++));
        } else {
            TRY(call_pipeline(runner, CHANNEL_RECEIVE, received));
            if (which == THE_VERSION)
                image_copy(&timing->kept[received], &runner->out[received]);
            received++;
        }
    }
    *seconds = (clock_seconds() - start) / timing->frames;
    end_work(runner, before);
out:
    return status;
}

/* One round: new inputs for all sets, both versions on each (or on the video that they are), then all results
 * compared. */
static enum status play_round(struct timing *timing, bool counts)
{
    struct runner *version = &timing->runners[THE_VERSION], *reference = &timing->runners[THE_REFERENCE];
    enum status status = STATUS_OK;
    const int first = timing->pairs;
    int played = 0;

    if (timing->frames)
        renew_video(timing, version->in);
    for (int set = 0; set < timing->sets; set++) {
        if (!timing->frames)
            renew(timing, version->in[set]);
        for (int i = 0; i < timing->inputs; i++)
            image_copy(&reference->in[set][i], &version->in[set][i]);
        image_fill(&version->out[set], 0xA5);
        image_fill(&reference->out[set], 0x5A);
    }
    while (played < timing->sets && timing->pairs < MAX_PAIRS) {
        double seconds[2] = {0, 0};
        const int begins = timing->pairs & 1;

        for (int turn = 0; turn < 2; turn++) {
            const int which = turn ^ begins;

            status = timing->frames ? play_video(timing, which, &seconds[which])
                                    : call_once(timing, which, played, &seconds[which]);
            if (status != STATUS_OK && which == THE_VERSION) {
                snprintf(timing->wrong, sizeof timing->wrong, "in a timed call: %s", status_message());
                return STATUS_OK;
            }
            TRY(status);
        }
        version->seconds[timing->pairs] = seconds[THE_VERSION];
        reference->seconds[timing->pairs] = seconds[THE_REFERENCE];
        timing->pairs++;
        played += timing->frames ? timing->frames : 1;
    }
    look_at_results(timing, played);
    if (!counts)
        timing->pairs = first;
out:
    return status;
}

/* All frames of a video side by side, where the pipeline wants them. */
static enum status place_video(struct timing *timing, struct runner *runner)
{
    struct channel *channel = remote_channel(runner->remote);
    const struct image *like = &timing->scenes[0];
    const size_t bytes = (image_minimal_stride(like) * (size_t)like->height + 127) / 128 * 128;
    const struct image room = {(int)bytes, timing->frames, 1, PIXEL_U8, bytes, NULL};
    enum status status = STATUS_OK;
    struct image all;

    TRY(place_image(runner->remote, &all, &room));
    for (int frame = 0; frame < timing->frames; frame++) {
        runner->in[frame][0] = *like;
        runner->in[frame][0].stride = image_minimal_stride(like);
        runner->in[frame][0].data = image_row(&all, frame);
    }
    runner->depth = channel->depth < 1 ? 1 : channel->depth > timing->frames ? timing->frames : channel->depth;
    channel->in[0] = all;
    TRY(remote_call(runner->remote, CHANNEL_PIN, NULL));
out:
    return status;
}

static enum status prepare_runner(struct timing *timing, int which, const struct remote_options *options)
{
    struct runner *runner = &timing->runners[which];
    enum status status = STATUS_OK;

    TRY(remote_start(options, &runner->remote));
    if (timing->frames)
        TRY(place_video(timing, runner));
    for (int set = 0; set < timing->sets; set++) {
        for (int i = 0; i < timing->inputs && !timing->frames; i++)
            TRY(place_image(runner->remote, &runner->in[set][i], &timing->base[i]));
        TRY(place_image(runner->remote, &runner->out[set], &timing->shape));
    }
out:
    return status;
}

/* The base pictures or scenes, and how many sets of inputs there are. */
static enum status prepare_inputs(struct timing *timing)
{
    const struct arguments *arguments = timing->arguments;
    const struct algorithm *algorithm = timing->algorithm;
    enum status status = STATUS_OK;
    size_t bytes = 0;

    for (int i = 0; i < algorithm->input_count; i++) {
        TRY(image_create(&timing->base[i], arguments->width, arguments->height, algorithm->bench_channels,
                         algorithm->inputs[i].type));
        bytes += timing->base[i].stride * (size_t)timing->base[i].height;
    }
    TRY(fill_inputs(algorithm, timing->base, timing->random, timing->params));
    TRY(algorithm->shape(timing->base, timing->params, &timing->shape));
    bytes += image_pixel_bytes(&timing->shape);
    timing->inputs = algorithm->input_count;
    timing->sets = (int)(SET_BYTES / bytes);
    timing->sets = arguments->kernel || timing->sets < 2 ? 2 : timing->sets > 8 ? 8 : timing->sets;
    if (algorithm->video) {
        timing->inputs = 1;
        timing->sets = timing->frames = arguments->frames;
        for (int i = 0; i < timing->frames; i++) {
            TRY(image_create_like(&timing->scenes[i], &timing->base[0]));
            scene_frame(&timing->scenes[i], i == 0 ? 0 : 5 * i);
        }
    }
    for (int set = 0; set < timing->sets; set++)
        TRY(image_create_like(&timing->kept[set], &timing->shape));
out:
    return status;
}

/* The reference rung itself against cpu/serial, on the inputs' top left: what everything is compared with. */
static enum status verify_rung(struct timing *timing)
{
    struct runner *runner = &timing->runners[THE_REFERENCE];
    struct channel *channel = remote_channel(runner->remote);
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, out;
    enum status status = STATUS_OK;

    if (timing->frames)
        renew_video(timing, runner->in);
    else
        renew(timing, runner->in[0]);
    for (int i = 0; i < timing->algorithm->input_count; i++) {
        channel->in[i] = timing->frames ? runner->in[i][0] : runner->in[0][i];
        channel->in[i].width = channel->in[i].width < 200 ? channel->in[i].width : 200;
        channel->in[i].height = channel->in[i].height < 100 ? channel->in[i].height : 100;
    }
    TRY(verify_reference(timing->algorithm, channel->in, timing->params, expected));
    out = runner->out[0];
    out.width = expected[0].width;
    out.height = expected[0].height;
    channel->inputs = timing->algorithm->input_count;
    channel->out[0] = out;
    channel->outputs = timing->algorithm->output_count;
    memcpy(channel->params, timing->params, timing->algorithm->params_size);
    TRY(remote_call(runner->remote, CHANNEL_RUN, NULL));
    if (!same_pixels(&out, &expected[0], timing->algorithm->outputs[0].comparison.tolerance))
        status = status_set(STATUS_FAILED, "%s: this reference is wrong", timing->arguments->reference.program);
    TRY(remote_call(runner->remote, CHANNEL_END, NULL));
out:
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        image_free(&expected[i]);
    return status;
}

static json_t *timing_json(struct timing *timing)
{
    struct runner *version = &timing->runners[THE_VERSION], *reference = &timing->runners[THE_REFERENCE];
    const size_t pairs = (size_t)timing->pairs;
    static double ratios[MAX_PAIRS];
    json_t *result = json_object();
    struct statistics ratio, times[2];
    struct machine machine;
    struct cost cost = {0};

    for (size_t i = 0; i < pairs; i++)
        ratios[i] = version->seconds[i] / reference->seconds[i];
    ratio = statistics_of(ratios, pairs);
    times[0] = statistics_of(version->seconds, pairs);
    times[1] = statistics_of(reference->seconds, pairs);
    machine_read(&machine);
    timing->algorithm->cost(timing->base, NULL, timing->params, &cost);
    json_object_set_new(result, "wrong", text(timing->wrong));
    json_object_set_new(result, "pairs", json_integer(timing->pairs));
    json_object_set_new(result, "sets", json_integer(timing->sets));
    json_object_set_new(result, "frames", json_integer(timing->frames));
    json_object_set_new(result, "threads", json_integer(timing->arguments->worker.threads));
    json_object_set_new(result, "processor", text(machine.cpu));
    json_object_set_new(result, "gpu", text(machine.gpu));
    json_object_set_new(result, "bytes", json_real(cost.bytes));
    if (pairs > 0 && !timing->wrong[0]) {
        json_object_set_new(result, "ratio_median", json_real(ratio.median));
        /* statistics_of() has sorted them. */
        json_object_set_new(result, "best_seconds", json_real(version->seconds[0]));
        json_object_set_new(result, "best_reference_seconds", json_real(reference->seconds[0]));
        json_object_set_new(result, "ratio_low", json_real(ratio.q1));
        json_object_set_new(result, "ratio_high", json_real(ratio.q3));
        json_object_set_new(result, "seconds", json_real(times[0].median));
        json_object_set_new(result, "reference_seconds", json_real(times[1].median));
    }
    return result;
}

/* Of the version's best call to the reference's. */
static double best_ratio(const struct timing *timing)
{
    double best[2] = {INFINITY, INFINITY};

    for (int which = 0; which < 2; which++)
        for (int pair = 0; pair < timing->pairs; pair++)
            best[which] = fmin(best[which], timing->runners[which].seconds[pair]);
    return best[THE_VERSION] / best[THE_REFERENCE];
}

static enum status measure(const struct arguments *arguments)
{
    static struct timing timing; /* large */
    struct remote *probe = NULL;
    json_t *result = NULL;
    char name[64];
    enum status status = STATUS_OK;

    timing.arguments = arguments;
    /* Nobody shall know the inputs in advance. */
    if (getrandom(&timing.random, sizeof timing.random, 0) != sizeof timing.random)
        timing.random = (uint64_t)time(NULL);
    TRY(registry_open());
    TRY(remote_start(&arguments->reference, &probe));
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, remote_channel(probe)->algorithm);
    remote_stop(probe);
    timing.algorithm = registry_find_algorithm(name);
    if (!timing.algorithm)
        return status_set(STATUS_FAILED, "%s: for no algorithm that is known here", arguments->reference.program);
    timing.params = calloc(1, timing.algorithm->params_size + 1);
    TRY(params_parse(timing.algorithm, NULL, 0, arguments->settings, arguments->setting_count, timing.params));
    TRY(prepare_inputs(&timing));
    TRY(prepare_runner(&timing, THE_REFERENCE, &arguments->reference));
    status = prepare_runner(&timing, THE_VERSION, &arguments->worker);
    if (status != STATUS_OK) {
        snprintf(timing.wrong, sizeof timing.wrong, "%s", status_message());
        status = STATUS_OK;
    }
    TRY(verify_rung(&timing));

    const int all_sets = timing.sets, few_sets = timing.frames ? timing.frames : 2;
    const int all_pairs = timing.frames ? 1 : all_sets; /* of a round */
    const double start = clock_seconds();

    timing.sets = few_sets;
    if (!timing.wrong[0])
        TRY(play_round(&timing, false)); /* warm-up */
    while (!timing.wrong[0] && timing.pairs < MAX_PAIRS &&
           (timing.pairs < ENOUGH_PAIRS || best_ratio(&timing) > arguments->enough)) {
        /* A slow version gets small rounds, so that the time limit means something. */
        timing.sets = timing.pairs == 0 ? few_sets : all_sets;
        TRY(play_round(&timing, true));
        const double used = clock_seconds() - start,
                     ratio = timing.runners[0].seconds[timing.pairs - 1] / timing.runners[1].seconds[timing.pairs - 1];

        if (timing.pairs >= FEW_PAIRS - 1 &&
            (used > arguments->seconds || (arguments->zero > 0 && ratio > 2 * arguments->zero)))
            break;
        if (used / timing.pairs * all_pairs > arguments->seconds)
            break;
    }
    result = timing_json(&timing);
    TRY(write_json(result, arguments->json));
out:
    for (int which = 0; which < 2; which++)
        remote_stop(timing.runners[which].remote);
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        image_free(&timing.base[i]);
    for (int set = 0; set < MAX_SETS; set++) {
        image_free(&timing.kept[set]);
        image_free(&timing.scenes[set]);
    }
    free(timing.params);
    json_decref(result);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ main */

static bool number(const char *option, const char *word, double minimum, double maximum, double *value)
{
    char *end;

    *value = strtod(word, &end);
    if (end != word && !*end && *value >= minimum && *value <= maximum)
        return true;
    fail("--%s: '%s' is no number from %g to %g", option, word, minimum, maximum);
    return false;
}

static bool parse(int argc, char **argv, struct arguments *a)
{
    enum {
        WORKER = 256,
        REFERENCE,
        ID,
        JSON,
        THREADS,
        MEMORY,
        LIMIT,
        TOTAL,
        SEED,
        PICTURES,
        TUNE,
        SIZE,
        SECONDS,
        ZERO,
        ENOUGH,
        KERNEL,
        UNCONFINED,
        FRAMES
    };
    static const struct option options[] = {
        {"worker", required_argument, NULL, WORKER},
        {"reference", required_argument, NULL, REFERENCE},
        {"id", required_argument, NULL, ID},
        {"json", required_argument, NULL, JSON},
        {"threads", required_argument, NULL, THREADS},
        {"memory", required_argument, NULL, MEMORY},
        {"limit", required_argument, NULL, LIMIT},
        {"total", required_argument, NULL, TOTAL},
        {"seed", required_argument, NULL, SEED},
        {"pictures", required_argument, NULL, PICTURES},
        {"tune", required_argument, NULL, TUNE},
        {"size", required_argument, NULL, SIZE},
        {"seconds", required_argument, NULL, SECONDS},
        {"zero", required_argument, NULL, ZERO},
        {"enough", required_argument, NULL, ENOUGH},
        {"kernel", no_argument, NULL, KERNEL},
        {"unconfined", no_argument, NULL, UNCONFINED},
        {"frames", required_argument, NULL, FRAMES},
        {0},
    };
    double value = 0;
    int option;
    char rest;

    while ((option = getopt_long(argc, argv, "p:", options, NULL)) != -1) {
        switch (option) {
        case WORKER:
            a->worker.program = optarg;
            break;
        case REFERENCE:
            a->reference.program = optarg;
            break;
        case ID:
            a->id = optarg;
            break;
        case JSON:
            a->json = optarg;
            break;
        case THREADS:
            if (!number("threads", optarg, 1, 1024, &value))
                return false;
            a->worker.threads = (int)value;
            break;
        case MEMORY:
            if (!number("memory", optarg, 1, 1 << 20, &value))
                return false;
            a->worker.memory_bytes = (size_t)value << 20;
            break;
        case LIMIT:
            if (!number("limit", optarg, 0.1, 86400, &a->worker.call_seconds))
                return false;
            break;
        case TOTAL:
            if (!number("total", optarg, 0.1, 86400, &a->total_seconds))
                return false;
            break;
        case SEED:
            if (!number("seed", optarg, 0, 1e15, &value))
                return false;
            a->seed = (uint64_t)value;
            break;
        case PICTURES:
            a->pictures = optarg;
            break;
        case TUNE:
            if (a->tune_count < CHANNEL_MAX_TUNABLES)
                a->tune[a->tune_count++] = optarg;
            break;
        case 'p':
            if (a->setting_count < sizeof a->settings / sizeof *a->settings)
                a->settings[a->setting_count++] = optarg;
            break;
        case SIZE:
            if (sscanf(optarg, "%5dx%5d%c", &a->width, &a->height, &rest) != 2 || a->width < 1 || a->height < 1)
                return fail("--size: '%s' is no size such as 1920x1080", optarg) == 0;
            break;
        case SECONDS:
            if (!number("seconds", optarg, 0.01, 3600, &a->seconds))
                return false;
            break;
        case ZERO:
            if (!number("zero", optarg, 1, 1e6, &a->zero))
                return false;
            break;
        case ENOUGH:
            if (!number("enough", optarg, 0, 1e6, &a->enough))
                return false;
            break;
        case KERNEL:
            a->kernel = true;
            break;
        case FRAMES:
            if (!number("frames", optarg, 2, MAX_SETS, &value))
                return false;
            a->frames = (int)value;
            break;
        case UNCONFINED:
            a->worker.unconfined = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .worker = {.threads = machine_cores(), .memory_bytes = (size_t)1 << 30, .call_seconds = 30},
        .total_seconds = 120,
        .seconds = 2,
        .frames = 8,
        .seed = 1};
    enum status status;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return 0;
    }
    const bool checks = argc > 1 && strcmp(argv[1], "check") == 0, times = argc > 1 && strcmp(argv[1], "time") == 0;

    if (!checks && !times)
        return fail("the first word must be check or time; rungs-judge --help");
    if (!parse(argc - 1, argv + 1, &arguments))
        return 2;
    if (!arguments.worker.program || !arguments.json || (checks && !arguments.id) ||
        (times && (!arguments.reference.program || !arguments.width)))
        return fail("an option that must be there is missing; rungs-judge --help");
    /* A worker has our user id: nobody of that id may look into this process. */
    prctl(PR_SET_DUMPABLE, 0);
    arguments.reference = (struct remote_options){.program = arguments.reference.program,
                                                  .threads = arguments.worker.threads,
                                                  .memory_bytes = (size_t)4 << 30,
                                                  .call_seconds = 120,
                                                  .quiet = true,
                                                  .unconfined = arguments.worker.unconfined};
    if (times)
        arguments.worker.quiet = true;
    status = checks ? check(&arguments) : measure(&arguments);
    return status == STATUS_OK ? 0 : fail("%s", status_message());
}
