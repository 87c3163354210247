/*
 * judge_share.c: rungs-judge share: calls of a version in C that is watched for data races (common/remote/races.h), of
 * the size that it is timed at: how many of the bytes that its accesses touch come one after the other. Of its memory
 * one page in four is watched, by lot, other ones in the next call: a race that only large pictures have is found most
 * times, in a third of the time that all pages take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/contract/inputs.h"
#include "common/lab/judge.h"
#include "common/lab/judge_images.h"
#include "common/lab/judge_result.h"

enum { MOST_CALLS = 3, ONE_PAGE_IN = 4 };
static const double ENOUGH_SECONDS = 3; /* of processor time */

/* One call with other inputs than the one before. */
static enum status call_once(struct remote *remote, const struct algorithm *algorithm, const int shape[3],
                             const void *params, struct image in[], struct image out[])
{
    struct image made[ALGORITHM_MAX_INPUTS] = {{0}}, shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct channel *const channel = remote_channel(remote);
    enum status status = STATUS_OK;
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return status_set(STATUS_FAILED, "the system has no random numbers");
    TRY(judge_make(algorithm, shape, seed, params, made));
    if (!in[0].data) {
        TRY(algorithm->shape(made, params, shapes));
        for (int i = 0; i < algorithm->input_count; i++)
            TRY(judge_place(remote, &in[i], &made[i]));
        TRY(judge_place_outputs(remote, out, shapes));
    }
    for (int i = 0; i < algorithm->input_count; i++)
        image_copy(&in[i], &made[i]);
    memcpy(channel->in, in, ALGORITHM_MAX_INPUTS * sizeof *in);
    memcpy(channel->out, out, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    channel->inputs = algorithm->input_count;
    channel->outputs = algorithm->output_count;
    channel->one_page_in = ONE_PAGE_IN;
    TRY(remote_call(remote, CHANNEL_RUN, NULL));
out:
    inputs_free(algorithm, made);
    return status;
}

enum status judge_share(const struct judge_arguments *arguments)
{
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct algorithm *algorithm;
    uint64_t work = 0, longest = 0;
    struct remote *remote = NULL;
    enum status status = STATUS_OK;
    json_t *result = NULL;
    void *params = NULL;
    char name[64];

    TRY(remote_listen());
    TRY(registry_open());
    TRY(remote_start(&arguments->worker, &remote));
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, remote_channel(remote)->algorithm);
    algorithm = registry_find_algorithm(name);
    if (!algorithm) {
        status = status_set(STATUS_FAILED, "%s: for no algorithm that is known here", arguments->worker.program);
        goto out;
    }
    params = calloc(1, algorithm->params_size + 1);
    TRY(params_parse(algorithm, NULL, 0, arguments->settings, arguments->setting_count, params));
    TRY(judge_place_params(remote, algorithm, params));
    for (int i = 0; i < MOST_CALLS && status == STATUS_OK && remote_processor_seconds(remote) < ENOUGH_SECONDS; i++) {
        status = call_once(remote, algorithm, arguments->shape, params, in, out);
        work += remote_channel(remote)->counts.work_bytes;
        longest += remote_channel(remote)->counts.longest_bytes;
    }
    result = json_pack("{s:I, s:I, s:s}", "work", (json_int_t)work, "longest", (json_int_t)longest, "outcome",
                       status == STATUS_OK ? "pass" : "fail");
    json_object_set_new(result, "what", judge_text(status == STATUS_OK ? "" : status_message()));
    judge_add_prints(result);
    TRY(judge_write(result, arguments->json));
out:
    remote_stop(remote);
    json_decref(result);
    free(params);
    return status;
}
