/*
 * judge_count.c: rungs-judge count: one call of a version on a picture, and what the emulator counted meanwhile.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/image_io.h"
#include "common/lab/judge.h"
#include "common/lab/judge_images.h"
#include "common/lab/judge_result.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"

enum status judge_count(const struct judge_arguments *arguments)
{
    struct image picture = {0}, in[ALGORITHM_MAX_INPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct algorithm *algorithm;
    struct remote *remote = NULL;
    struct channel *channel;
    enum status status = STATUS_OK;
    json_t *result = NULL;
    void *params = NULL;
    char name[64];
    bool right;

    TRY(registry_open());
    TRY(remote_start(&arguments->worker, &remote));
    channel = remote_channel(remote);
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, channel->algorithm);
    algorithm = registry_find_algorithm(name);
    if (!algorithm || algorithm->input_count != 1) {
        status = status_set(STATUS_FAILED, "%s: for no algorithm of one picture", arguments->worker.program);
        goto out;
    }
    params = calloc(1, algorithm->params_size + 1);
    TRY(params_parse(algorithm, NULL, 0, arguments->settings, arguments->setting_count, params));
    TRY(image_load(&picture, arguments->picture, algorithm->bench_channels));
    TRY(verify_reference(algorithm, &picture, params, expected));
    TRY(judge_place(remote, &in[0], &picture));
    image_copy(&in[0], &picture);
    TRY(judge_place_outputs(remote, out, expected));
    outputs_fill(out, 0xA5);
    TRY(judge_place_params(remote, algorithm, params));
    memcpy(channel->in, in, sizeof in);
    memcpy(channel->out, out, sizeof out);
    channel->inputs = algorithm->input_count;
    channel->outputs = algorithm->output_count;
    TRY(remote_call(remote, CHANNEL_RUN, NULL));
    right = compare_agrees(&(struct version){.algorithm = algorithm}, &picture, params, expected, out, NULL);
    result = json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "right", right, "launches",
                       (json_int_t)channel->counts.launches, "threads", (json_int_t)channel->counts.threads, "barriers",
                       (json_int_t)channel->counts.barriers, "lane_steps", (json_int_t)channel->counts.lane_steps,
                       "warp_steps", (json_int_t)channel->counts.warp_steps, "atomics",
                       (json_int_t)channel->counts.atomics, "global_loads", (json_int_t)channel->counts.global_loads,
                       "global_atomics", (json_int_t)channel->counts.global_atomics);
    TRY(judge_write(result, arguments->json));
out:
    remote_stop(remote);
    outputs_free(expected);
    image_free(&picture);
    json_decref(result);
    free(params);
    return status;
}
