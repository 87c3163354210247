/*
 * judge_time.c: rungs-judge time.
 *
 * The version and a reference rung, each in a worker, take turns on the same input. All inputs are new for every
 * call and have nothing of those before. They are laid out, past the caches, and the output is poisoned just before
 * the call, while the worker is stopped, so nothing can be computed ahead. Both results of every call are compared. A
 * result counts as it is when the call returns: the worker is stopped at once, and what it wrote is copied. What counts
 * is the median of the pairs' ratios. A pipeline is timed over a whole video, start() included, and gets another one
 * each time: mobiles of scene.h, shifted by lot, with noise of its own, and in every frame a rectangle somewhere that
 * nobody can foresee. A frame comes into being when it is submitted; the clock runs during the calls.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/core/clock.h"
#include "common/lab/judge_load.h"
#include "common/lab/judge_result.h"
#include "common/lab/timing.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"

enum { ENOUGH_PAIRS = 60, FEW_PAIRS = 3 };

/* The reference rung itself against cpu/serial, on the pictures' top left, because all later
 * results are compared with this rung's. */
static enum status verify_rung(struct timing *timing)
{
    struct runner *runner = &timing->runners[TIMED_REFERENCE];
    struct channel *channel = remote_channel(runner->remote);
    const struct algorithm *algorithm = timing->algorithm;
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS];
    enum status status = STATUS_OK;
    bool agrees = true;

    if (timing->frames)
        timing_renew_video(timing, runner->in);
    else
        TRY(timing_renew(timing, runner->in[0]));
    for (int i = 0; i < algorithm->input_count; i++) {
        channel->in[i] = timing->frames ? runner->in[i][0] : runner->in[0][i];
        if (!timing->pictures)
            continue;
        channel->in[i].width = channel->in[i].width < 200 ? channel->in[i].width : 200;
        channel->in[i].height = channel->in[i].height < 100 ? channel->in[i].height : 100;
    }
    TRY(verify_reference(algorithm, channel->in, timing->params, expected));
    memcpy(out, runner->out[0], sizeof out);
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++) {
        agrees = agrees && expected[slot].width <= out[slot].width && expected[slot].height <= out[slot].height &&
                 expected[slot].channels == out[slot].channels;
        out[slot].width = expected[slot].width;
        out[slot].height = expected[slot].height;
    }
    channel->inputs = algorithm->input_count;
    memcpy(channel->out, out, sizeof out);
    channel->outputs = algorithm->output_count;
    memcpy(channel->params, runner->params, sizeof runner->params);
    if (agrees)
        TRY(remote_call(runner->remote, CHANNEL_RUN, NULL));
    if (!agrees ||
        !compare_agrees(&(struct version){.algorithm = algorithm}, channel->in, timing->params, expected, out, NULL))
        status = status_set(STATUS_FAILED, "%s: this reference is wrong", timing->arguments->reference.program);
    TRY(remote_call(runner->remote, CHANNEL_END, NULL));
out:
    outputs_free(expected);
    return status;
}

static json_t *timing_json(struct timing *timing)
{
    struct runner *version = &timing->runners[TIMED_VERSION], *reference = &timing->runners[TIMED_REFERENCE];
    const size_t pairs = (size_t)timing->pairs;
    static double ratios[TIMING_MAX_PAIRS];
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
    json_object_set_new(result, "wrong", judge_text(timing->wrong));
    json_object_set_new(result, "pairs", json_integer(timing->pairs));
    json_object_set_new(result, "sets", json_integer(timing->sets));
    json_object_set_new(result, "frames", json_integer(timing->frames));
    json_object_set_new(result, "waited", json_real(timing->waited));
    json_object_set_new(result, "others", json_real(timing->others));
    json_object_set_new(result, "threads", json_integer(timing->arguments->worker.threads));
    json_object_set_new(result, "threads_ran", json_integer(timing->threads[TIMED_VERSION]));
    json_object_set_new(result, "reference_threads_ran", json_integer(timing->threads[TIMED_REFERENCE]));
    json_object_set_new(result, "processor", judge_text(machine.cpu));
    json_object_set_new(result, "gpu", judge_text(machine.gpu));
    json_object_set_new(result, "bytes", json_real(cost.bytes));
    if (pairs > 0 && !timing->wrong[0]) {
        json_object_set_new(result, "ratio_median", json_real(ratio.median));
        json_object_set_new(result, "ratio_low", json_real(ratio.q1));
        json_object_set_new(result, "ratio_high", json_real(ratio.q3));
        json_object_set_new(result, "seconds", json_real(times[0].median));
        json_object_set_new(result, "reference_seconds", json_real(times[1].median));
    }
    return result;
}

/* The median of the pairs' ratios. */
static double median_ratio(const struct timing *timing)
{
    static double ratios[TIMING_MAX_PAIRS];

    for (int pair = 0; pair < timing->pairs; pair++)
        ratios[pair] = timing->runners[TIMED_VERSION].seconds[pair] / timing->runners[TIMED_REFERENCE].seconds[pair];
    return statistics_of(ratios, (size_t)timing->pairs).median;
}

enum status judge_time(const struct judge_arguments *arguments)
{
    static struct timing timing; /* large */
    struct remote *probe = NULL;
    json_t *result = NULL;
    char name[64];
    enum status status = STATUS_OK;

    timing.arguments = arguments;
    /* The inputs must be unpredictable: a version that knew them could bring their results along. */
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
    TRY(timing_prepare(&timing));
    TRY(timing_start(&timing, TIMED_REFERENCE, &arguments->reference));
    status = timing_start(&timing, TIMED_VERSION, &arguments->worker);
    if (status != STATUS_OK) {
        snprintf(timing.wrong, sizeof timing.wrong, "%s", status_message());
        status = STATUS_OK;
    }
    TRY(verify_rung(&timing));

    const int all_sets = timing.sets, few_sets = timing.frames ? timing.frames : 2;
    const int all_pairs = timing.frames ? 1 : all_sets; /* of a round */
    const double start = clock_seconds();
    struct load begin, end;

    timing.sets = few_sets;
    if (!timing.wrong[0])
        TRY(timing_play(&timing, false)); /* warm-up */
    load_read(&timing, &begin);
    while (!timing.wrong[0] && timing.pairs < TIMING_MAX_PAIRS &&
           (timing.pairs < ENOUGH_PAIRS || median_ratio(&timing) > arguments->enough)) {
        /* A round of a slow version must not exceed the time limit by much, so the first round has few sets. */
        timing.sets = timing.pairs == 0 ? few_sets : all_sets;
        TRY(timing_play(&timing, true));
        const double used = clock_seconds() - start,
                     ratio = timing.runners[0].seconds[timing.pairs - 1] / timing.runners[1].seconds[timing.pairs - 1];

        if (timing.pairs >= FEW_PAIRS - 1 &&
            (used > arguments->seconds || (arguments->zero > 0 && ratio > 2 * arguments->zero)))
            break;
        if (used / timing.pairs * all_pairs > arguments->seconds)
            break;
    }
    load_read(&timing, &end);
    timing.waited = load_waited(&begin, &end);
    timing.others = load_others(&begin, &end);
    for (int i = 0; i < 2; i++)
        timing.threads[i] = load_threads(timing.runners[i].remote);
    result = timing_json(&timing);
    TRY(judge_write(result, arguments->json));
out:
    if (timing.algorithm)
        timing_free(&timing);
    json_decref(result);
    return status;
}
