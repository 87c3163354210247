/*
 * judge_check.c: rungs-judge check.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/emulator/emulator.h"
#include "common/image/pattern.h"
#include "common/lab/judge.h"
#include "common/lab/judge_frames.h"
#include "common/lab/judge_images.h"
#include "common/lab/judge_result.h"
#include "common/remote/confine.h"
#include "common/remote/stand_in.h"
#include "common/verify/check.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"
#include "common/verify/scene.h"

/* Calls in which the device lacks something or, the last, nothing. */
enum lacking {
    RUN_WITHOUT_KERNELS,
    LAUNCH_WITHOUT_KERNELS,
    RUN_WITHOUT_SHARED_MEMORY,
    RUN_WITHOUT_SOME_THREADS,
    USUAL_RUN,
    LACKING_KINDS
};

/* A worker and images that calls are counted with. */
struct counted {
    const struct algorithm *algorithm;
    const void *params;
    const int *shape; /* width, height, channels */
    const struct tunable *tunables;
    struct remote_options options;
    struct remote *remote;
    struct image made[ALGORITHM_MAX_INPUTS];   /* the judge's own */
    double share_around;                       /* share_found() where shared memory loses what it holds */
    struct image first[ALGORITHM_MAX_OUTPUTS]; /* results of a call with the inputs of FIRST_SEED */
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];
};

/* What a version cannot foresee. */
static uint64_t lot(void)
{
    uint64_t random;

    return getrandom(&random, sizeof random, 0) == sizeof random ? random : (uint64_t)time(NULL);
}

static enum status new_inputs(struct counted *counted, uint64_t seed)
{
    enum status status = STATUS_OK;

    inputs_free(counted->algorithm, counted->made);
    TRY(judge_make(counted->algorithm, counted->shape, seed, counted->params, counted->made));
    /* Noise would have no moving objects, and a result without any needs no kernels. */
    if (counted->algorithm->video) {
        scene_frame(&counted->made[0], 0);
        scene_frame(&counted->made[1], 20 + (int)(seed % 40));
    }
    for (int i = 0; i < counted->algorithm->input_count && counted->in[i].data; i++)
        image_copy(&counted->in[i], &counted->made[i]);
out:
    return status;
}

/* Whether a result could not come about by filling memory with one byte. */
static bool says_something(const struct image outputs[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        for (int y = 0; y < outputs[slot].height; y++) {
            const uint8_t *row = image_row(&outputs[slot], y), *first = image_row(&outputs[slot], 0);

            for (size_t i = 0; i < image_row_bytes(&outputs[slot]); i++)
                if (row[i] != first[0])
                    return true;
        }
    return false;
}

/* A worker with the launch parameters that are asked for, and places for the images that have been made. */
static enum status start_counted(struct counted *counted)
{
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    remote_stop(counted->remote);
    counted->remote = NULL;
    TRY(remote_start(&counted->options, &counted->remote));
    struct channel *const channel = remote_channel(counted->remote);

    for (const struct tunable *t = counted->tunables; t && t->name; t++) {
        channel->tunable = (int)(t - counted->tunables);
        channel->value = *t->value;
        TRY(remote_call(counted->remote, CHANNEL_TUNE, NULL));
    }
    TRY(judge_place_params(counted->remote, counted->algorithm, counted->params));
    for (int i = 0; i < counted->algorithm->input_count; i++) {
        TRY(judge_place(counted->remote, &counted->in[i], &counted->made[i]));
        image_copy(&counted->in[i], &counted->made[i]);
        channel->in[0] = counted->in[i];
        if (channel->depth)
            TRY(remote_call(counted->remote, CHANNEL_PIN, NULL));
    }
    TRY(counted->algorithm->shape(counted->made, counted->params, shapes));
    TRY(judge_place_outputs(counted->remote, counted->out, shapes));
out:
    return status;
}

static enum status request(const struct counted *counted, enum channel_request what)
{
    struct channel *const channel = remote_channel(counted->remote);

    channel->inputs = counted->algorithm->input_count;
    memcpy(channel->in, counted->in, sizeof counted->in);
    memcpy(channel->out, counted->out, sizeof counted->out);
    channel->outputs = counted->algorithm->output_count;
    return remote_call(counted->remote, what, NULL);
}

static json_t *counts_json(const struct channel_counts *counts)
{
    json_t *result = json_object();
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"allocations", counts->allocations},
        {"launches", counts->launches},
        {"threads", counts->threads},
        {"shared_bytes", counts->shared_bytes},
        {"barriers", counts->barriers},
        {"barrier_waits", counts->barrier_waits},
        {"stream_copies", counts->stream_copies},
        {"stream_downloads", counts->stream_downloads},
        {"atomics", counts->atomics},
        {"streams", counts->streams},
        {"waited_bytes", counts->waited_bytes},
        {"busiest_bytes", counts->busiest_bytes},
        {"stream_bytes", counts->stream_bytes},
        {"to_host_bytes", counts->to_host_bytes},
        {"block_width", counts->block_width},
        {"block_height", counts->block_height},
        {"other_threads", counts->other_threads},
        {"lane_steps", counts->lane_steps},
        {"warp_steps", counts->warp_steps},
        {"global_loads", counts->global_loads},
        {"global_atomics", counts->global_atomics},
        {"busiest_steps", counts->busiest_steps},
        {"host_bytes", counts->host_bytes},
        {"shared_taken", counts->shared_taken},
        {"busiest_reads", counts->busiest_reads},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(result, all[i].name, json_integer((json_int_t)all[i].value));
    return result;
}

enum { FIRST_SEED = 7 }; /* of the inputs that calls are counted with */
static const int usual_shape[3] = {130, 70, 0};

/* What two calls with one state do on the device, as the emulator counts it. What the first call allocates and the
 * second does not is kept in the state, and in the calls after them, of which nobody knows how many there are. Each has
 * other inputs than the one before, so that no answer is kept; the last has the second one's. */
static enum status count_two(struct counted *counted, json_t *result)
{
    static const char *const names[2] = {"first_call", "second_call"};
    enum status status = STATUS_OK;
    uint64_t most = 0; /* allocations of a call after the first */

    for (int call = 0; call < 2; call++) {
        TRY(new_inputs(counted, FIRST_SEED + 1 - (uint64_t)call));
        TRY(request(counted, CHANNEL_RUN));
        json_object_set_new(result, names[call], counts_json(&remote_channel(counted->remote)->counts));
        most = remote_channel(counted->remote)->counts.allocations;
    }
    TRY(outputs_create_like(counted->first, counted->out));
    outputs_copy(counted->first, counted->out);
    for (uint64_t more = 2 + lot() % 3; more > 0; more--) {
        TRY(new_inputs(counted, more > 1 ? lot() : FIRST_SEED));
        TRY(request(counted, CHANNEL_RUN));
        if (remote_channel(counted->remote)->counts.allocations > most)
            most = remote_channel(counted->remote)->counts.allocations;
    }
    json_object_set_new(json_object_get(result, names[1]), "allocations", json_integer((json_int_t)most));
out:
    return status;
}

/* "same_bits" of the second call is 1 where the same inputs give the same results to the bit although blocks and
 * threads ran in another order: in a call of the same state, and in another process, which knows nothing of it, behind
 * a call with other inputs. */
static enum status compare_bits(struct counted *counted, json_t *result)
{
    bool same = outputs_same(counted->first, counted->out);
    enum status status = STATUS_OK;

    TRY(start_counted(counted));
    for (uint64_t seed = FIRST_SEED + 1; seed >= FIRST_SEED; seed--) {
        TRY(new_inputs(counted, seed));
        TRY(request(counted, CHANNEL_RUN));
    }
    same &= outputs_same(counted->first, counted->out);
    json_object_set_new(json_object_get(result, "second_call"), "same_bits", json_integer(same));
out:
    return status;
}

/* "same_bits" of "any_threads" is 1 where a version for the CPU gives the same bits with one thread as with more, in
 * several calls: who of them finishes first is another each time. */
static enum status compare_threads(const struct judge_arguments *arguments, const struct version *version,
                                   const void *params, json_t *result)
{
    enum { MORE_THREADS = 7, CALLS = 5 };
    struct counted counted = {.algorithm = version->algorithm,
                              .params = params,
                              .shape = arguments->shape[0] ? arguments->shape : usual_shape,
                              .tunables = version->tunables,
                              .options = arguments->worker};
    enum status status = STATUS_OK;
    bool same = true;

    counted.options.quiet = true;
    TRY(new_inputs(&counted, FIRST_SEED));
    counted.options.threads = 1;
    TRY(start_counted(&counted));
    TRY(request(&counted, CHANNEL_RUN));
    TRY(outputs_create_like(counted.first, counted.out));
    outputs_copy(counted.first, counted.out);
    counted.options.threads = MORE_THREADS;
    TRY(start_counted(&counted));
    for (int call = 0; call < CALLS; call++) {
        TRY(request(&counted, CHANNEL_RUN));
        same &= outputs_same(counted.first, counted.out);
    }
    json_object_set_new(result, "any_threads", json_pack("{s:i}", "same_bits", same));
out:
    inputs_free(version->algorithm, counted.made);
    outputs_free(counted.first);
    remote_stop(counted.remote);
    return status;
}

/* Which share of the variation of the right samples is that of the samples found, the square of their correlation: 1 if
 * all is right, near 0 for noise. Of pictures of bytes; of others 0. */
static double share_found(const struct image *right, const struct image *found)
{
    double count = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

    if (right->type != PIXEL_U8 || !image_same_shape(right, found))
        return 0;
    for (int line = 0; line < right->height; line++) {
        const uint8_t *a = image_row(right, line), *b = image_row(found, line);

        for (size_t i = 0; i < image_row_bytes(right); i++) {
            count++;
            x += a[i], y += b[i];
            xx += (double)a[i] * a[i], yy += (double)b[i] * b[i], xy += (double)a[i] * b[i];
        }
    }
    const double spread = (count * xx - x * x) * (count * yy - y * y), both = count * xy - x * y;

    return spread > 0 ? both * both / spread : 0;
}

/* Whether the call's result is right; one of a call that fails is not, and leaves a device that works no more. */
static bool is_right(struct counted *counted, enum lacking kind)
{
    static const enum emulator_lack lacks[LACKING_KINDS] = {
        [RUN_WITHOUT_KERNELS] = EMULATOR_LACKS_KERNELS,
        [LAUNCH_WITHOUT_KERNELS] = EMULATOR_LACKS_KERNELS,
        [RUN_WITHOUT_SHARED_MEMORY] = EMULATOR_LACKS_SHARED_MEMORY,
        [RUN_WITHOUT_SOME_THREADS] = EMULATOR_LACKS_THREADS,
        [USUAL_RUN] = EMULATOR_LACKS_NOTHING,
    };
    const struct version version = {.algorithm = counted->algorithm};
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;
    struct channel *channel;
    bool right = false;

    if (!counted->remote)
        return false;
    channel = remote_channel(counted->remote);
    outputs_fill(counted->out, 0xA5);
    channel->repeat = 1;
    channel->value = 0;
    if (kind == LAUNCH_WITHOUT_KERNELS)
        TRY(request(counted, CHANNEL_UPLOAD));
    channel->lack = lacks[kind];
    TRY(request(counted, kind == LAUNCH_WITHOUT_KERNELS ? CHANNEL_LAUNCH : CHANNEL_RUN));
    if (kind == LAUNCH_WITHOUT_KERNELS)
        TRY(request(counted, CHANNEL_DOWNLOAD));
    TRY(verify_reference(counted->algorithm, counted->made, counted->params, expected));
    right = (kind == USUAL_RUN || says_something(expected)) &&
            compare_agrees(&version, counted->made, counted->params, expected, counted->out, NULL);
    if (kind == RUN_WITHOUT_SHARED_MEMORY)
        counted->share_around = share_found(&expected[0], &counted->out[0]);
out:
    outputs_free(expected);
    if (status != STATUS_OK && kind != USUAL_RUN)
        start_counted(counted); /* if that fails the next call does as well */
    else
        channel->lack = EMULATOR_LACKS_NOTHING;
    return status == STATUS_OK && right;
}

/* is_right() with new inputs. A result of few samples is right by chance at times (Otsu's threshold, without kernels or
 * without some threads: four calls of 200): then it must be right three times in a row. */
static enum status see_right(struct counted *counted, enum lacking kind, uint64_t *random, bool *right)
{
    enum { FEW_SAMPLES = 64, MORE = 2 };
    enum status status = STATUS_OK;

    TRY(new_inputs(counted, pattern_random(random)));
    *right = is_right(counted, kind);
    if (kind == USUAL_RUN || outputs_samples(counted->out) >= FEW_SAMPLES)
        goto out;
    for (int more = 0; *right && more < MORE; more++) {
        TRY(new_inputs(counted, pattern_random(random)));
        *right = is_right(counted, kind);
    }
out:
    return status;
}

/* Which results are right although the device lacked something. The order is drawn by lot and usual calls are among
 * them, so a version cannot tell which are which; each has new inputs, for a version may have kept its results of
 * others. */
static enum status see_lacking(struct counted *counted, bool launches, json_t *result)
{
    enum lacking order[] = {RUN_WITHOUT_KERNELS,
                            LAUNCH_WITHOUT_KERNELS,
                            RUN_WITHOUT_SHARED_MEMORY,
                            RUN_WITHOUT_SOME_THREADS,
                            RUN_WITHOUT_SOME_THREADS,
                            USUAL_RUN,
                            USUAL_RUN,
                            USUAL_RUN};
    const size_t count = sizeof order / sizeof *order;
    bool right[LACKING_KINDS] = {[USUAL_RUN] = true};
    enum status status = STATUS_OK;
    uint64_t random = lot();

    for (size_t i = count - 1; i > 0; i--) {
        const size_t other = (size_t)(pattern_random(&random) % (i + 1));
        const enum lacking kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        if (order[i] == LAUNCH_WITHOUT_KERNELS && !launches)
            continue;
        bool now;

        TRY(see_right(counted, order[i], &random, &now));
        if (order[i] == USUAL_RUN)
            right[USUAL_RUN] &= now;
        else
            right[order[i]] |= now;
    }
    json_object_set_new(result, "needs_no_kernels",
                        json_boolean(right[RUN_WITHOUT_KERNELS] || right[LAUNCH_WITHOUT_KERNELS]));
    json_object_set_new(result, "needs_few_threads", json_boolean(right[RUN_WITHOUT_SOME_THREADS]));
    json_object_set_new(result, "needs_no_shared_memory", json_boolean(right[RUN_WITHOUT_SHARED_MEMORY]));
    json_object_set_new(result, "share_around_shared_memory", json_real(counted->share_around));
    json_object_set_new(result, "wavers", json_boolean(!right[USUAL_RUN]));
out:
    return status;
}

/* "bytes": of inputs and outputs. */
static void add_sizes(const struct counted *counted, json_t *result)
{
    size_t bytes = 0, output_bytes = 0;

    for (int i = 0; i < counted->algorithm->input_count; i++)
        bytes += image_row_bytes(&counted->made[i]) * (size_t)counted->made[i].height;
    for (int i = 0; i < counted->algorithm->output_count; i++)
        output_bytes += image_row_bytes(&counted->out[i]) * (size_t)counted->out[i].height;
    bytes += output_bytes;
    json_object_set_new(result, "output_bytes", json_integer((json_int_t)output_bytes));
    json_object_set_new(result, "bytes", json_integer((json_int_t)bytes));
    json_object_set_new(result, "samples", json_integer((json_int_t)outputs_samples(counted->out)));
}

/* Counts what calls do, and sees what they can do without. */
static enum status count_calls(const struct judge_arguments *arguments, const struct version *version,
                               const void *params, json_t *result)
{
    struct counted counted = {.algorithm = version->algorithm,
                              .params = params,
                              .shape = arguments->shape[0] ? arguments->shape : usual_shape,
                              .tunables = version->tunables,
                              .options = arguments->worker};
    enum status status = STATUS_OK;

    counted.options.quiet = true;
    TRY(new_inputs(&counted, FIRST_SEED));
    TRY(start_counted(&counted));
    TRY(count_two(&counted, result));
    add_sizes(&counted, result);
    if (arguments->watched)
        goto out;
    TRY(compare_bits(&counted, result));
    TRY(see_lacking(&counted, !version->pipeline, result));
out:
    inputs_free(version->algorithm, counted.made);
    outputs_free(counted.first);
    remote_stop(counted.remote);
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
    json_object_set_new(result, "declined", json_integer(report->declined));
    json_object_set_new(result, "failed", json_integer(report->failed));
    json_object_set_new(result, "ended_early", json_boolean(report->ended_early));
    json_object_set_new(result, "reason", judge_text(report->reason));
    json_object_set_new(result, "case", judge_text(report->failed_case));
    json_object_set_new(result, "what", judge_text(report->what));
    json_object_set_new(result, "diagnosis", judge_text(report->diagnosis));
    json_object_set_new(result, "picture", judge_text(report->picture));
    for (const char *line = report->failures; *line;) {
        const size_t length = strcspn(line, "\n");
        char one[1024];

        snprintf(one, sizeof one, "%.*s", (int)length, line);
        json_array_append_new(failures, judge_text(one));
        line += length + (line[length] == '\n');
    }
    json_object_set_new(result, "failures", failures);
    return result;
}

/* Of a version that fails before the first case; the status message says what is wrong. */
static json_t *refused_json(const char *diagnosis)
{
    json_t *result =
        json_pack("{s:s, s:i, s:i, s:i, s:b, s:s, s:s, s:[]}", "outcome", "fail", "cases", 0, "checked", 0, "failed", 1,
                  "ended_early", 1, "case", "before the first case", "diagnosis", diagnosis, "failures");

    json_object_set_new(result, "what", judge_text(status_message()));
    return result;
}

/* Where the driver itself does not start confined, no version is to blame, and none can be judged. */
static enum status require_driver(void)
{
    char why[768];

    if (confine_try(device_start) == STATUS_OK)
        return STATUS_OK;
    snprintf(why, sizeof why, "%s", status_message());
    return status_set(
        STATUS_UNSUPPORTED,
        "the GPU's driver does not start where versions are confined: %s; --unconfined grades code that you "
        "have read (assignments/INSTRUCTORS.md, \"Natively\")",
        why);
}

enum status judge_check(const struct judge_arguments *arguments)
{
    const struct check_options options = {.seed = arguments->seed,
                                          .case_seconds = arguments->worker.call_seconds,
                                          .total_seconds = arguments->total_seconds,
                                          .largest_pixels = arguments->largest,
                                          .pictures = arguments->pictures};
    static struct channel facts; /* large */
    static struct check_report report;
    struct remote_options quiet = arguments->worker;
    struct remote *remote = NULL;
    const struct algorithm *algorithm;
    const struct version *version, *trusted;
    json_t *result = NULL, *tunables = json_object();
    enum status status = STATUS_OK;
    void *params = NULL;

    TRY(remote_listen());
    /* The first worker only tells what the file registers. When it cannot start, the JSON says why. */
    quiet.quiet = true;
    status = remote_start(&quiet, &remote);
    if (status != STATUS_OK) {
        result = refused_json("the file does something as it is loaded, before it is called");
        status = STATUS_OK;
        goto write;
    }
    facts = *remote_channel(remote);
    remote_stop(remote);
    remote = NULL;
    if (facts.is_cuda && !device_is_emulated() && !arguments->worker.unconfined)
        TRY(require_driver());
    facts.algorithm[sizeof facts.algorithm - 1] = '\0';
    if (arguments->algorithm && strcmp(arguments->algorithm, facts.algorithm) != 0) {
        status_set(STATUS_FAILED, "is a version of %s; this task asks for %s", facts.algorithm, arguments->algorithm);
        result = refused_json("the file's last line registers it for another algorithm");
        goto write;
    }
    for (size_t i = 0; i < arguments->without_count; i++)
        remote_decline(arguments->without[i]);
    status = remote_register(&arguments->worker, &facts, arguments->id, arguments->id);
    if (status != STATUS_OK) {
        result = refused_json("the file asks for more than the judge can give");
        status = STATUS_OK;
        goto write;
    }
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
        /* More pixels than an array has that is large enough for all other cases. */
        if (arguments->large && !version_is_cuda(version) && !version->pipeline) {
            TRY(registry_find_version(algorithm, "cpu/serial", &trusted));
            TRY(check_version_large(version, trusted, &options, NULL, &report));
        }
    }
    result = report_json(&report);
    json_object_set_new(result, "cuda", json_boolean(version_is_cuda(version)));
    if (version->pipeline && report.outcome == OUTCOME_PASS &&
        judge_frames(arguments, version, params, result) != STATUS_OK)
        json_object_set_new(result, "not_counted", judge_text(status_message()));
    if (version_is_cuda(version) && report.outcome == OUTCOME_PASS && device_is_emulated())
        if (count_calls(arguments, version, params, result) != STATUS_OK)
            json_object_set_new(result, "not_counted", judge_text(status_message()));
    if (arguments->any_threads && !version_is_cuda(version) && report.outcome == OUTCOME_PASS)
        if (compare_threads(arguments, version, params, result) != STATUS_OK)
            json_object_set_new(result, "not_counted", judge_text(status_message()));
    for (const struct tunable *t = version->tunables; t && t->name; t++) {
        json_t *legal = json_array();

        for (int i = 0; t->legal[i]; i++)
            json_array_append_new(legal, json_integer(t->legal[i]));
        json_object_set_new(tunables, t->name, json_pack("{s:i, s:o}", "value", *t->value, "legal", legal));
    }
    json_object_set(result, "tunables", tunables);
write:
    judge_add_prints(result);
    TRY(judge_write(result, arguments->json));
out:
    remote_stop(remote);
    json_decref(tunables);
    json_decref(result);
    free(params);
    return status;
}
