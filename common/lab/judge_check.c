/*
 * judge_check.c: rungs-judge check.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/lab/judge.h"
#include "common/lab/judge_images.h"
#include "common/lab/judge_result.h"
#include "common/remote/stand_in.h"
#include "common/verify/check.h"

/* What two calls with one state do on the device, as the emulator counts it. What the first call allocates and the second does
 * not is kept in the state. */
static enum status count_calls(const struct judge_arguments *arguments, const struct algorithm *algorithm,
                               json_t *result)
{
    static const char *const names[2] = {"first_call", "second_call"};
    struct remote_options options = arguments->worker;
    struct remote *remote = NULL;
    struct image made[ALGORITHM_MAX_INPUTS] = {{0}}, in[ALGORITHM_MAX_INPUTS] = {{0}};
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    options.quiet = true;
    TRY(remote_start(&options, &remote));
    struct channel *const channel = remote_channel(remote);

    TRY(params_parse_text(algorithm, "", channel->params));
    TRY(judge_make(algorithm, 130, 70, 7, channel->params, made));
    for (int i = 0; i < algorithm->input_count; i++) {
        TRY(judge_place(remote, &in[i], &made[i]));
        image_copy(&in[i], &made[i]);
        channel->in[0] = in[i];
        if (channel->depth)
            TRY(remote_call(remote, CHANNEL_PIN, NULL));
    }
    TRY(algorithm->shape(made, channel->params, shapes));
    TRY(judge_place_outputs(remote, out, shapes));
    for (int call = 0; call < 2; call++) {
        struct channel_counts counts;

        channel->inputs = algorithm->input_count;
        memcpy(channel->in, in, sizeof in);
        memcpy(channel->out, out, sizeof out);
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
    inputs_free(algorithm, made);
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

/* What the version printed: on stdout, and, where the C library and sanitizers complain, on stderr. */
static void add_prints(json_t *result)
{
    static char text[1 << 14];

    remote_heard(false, text, sizeof text);
    json_object_set_new(result, "printed", judge_text(text));
    remote_heard(true, text, sizeof text);
    json_object_set_new(result, "complained", judge_text(text));
}

enum status judge_check(const struct judge_arguments *arguments)
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
    facts.algorithm[sizeof facts.algorithm - 1] = '\0';
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
    }
    result = report_json(&report);
    json_object_set_new(result, "cuda", json_boolean(version_is_cuda(version)));
    if (version->pipeline)
        json_object_set_new(result, "pipeline", json_pack("{s:i}", "depth", version->pipeline->depth));
    if (version_is_cuda(version) && report.outcome == OUTCOME_PASS && device_is_emulated())
        count_calls(arguments, algorithm, result); /* the check has passed: without counts the JSON is still complete */
    for (const struct tunable *t = version->tunables; t && t->name; t++) {
        json_t *legal = json_array();

        for (int i = 0; t->legal[i]; i++)
            json_array_append_new(legal, json_integer(t->legal[i]));
        json_object_set_new(tunables, t->name, json_pack("{s:i, s:o}", "value", *t->value, "legal", legal));
    }
    json_object_set(result, "tunables", tunables);
write:
    add_prints(result);
    TRY(judge_write(result, arguments->json));
out:
    remote_stop(remote);
    json_decref(tunables);
    json_decref(result);
    free(params);
    return status;
}
