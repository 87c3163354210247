/*
 * judge_count.c: rungs-judge count: one call of a version on a picture, and what the emulator counted meanwhile. With
 * --moved another one follows, of the picture moved round by lot: the lab's own everybody knows, and with it what is to
 * come out.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/image/image_io.h"
#include "common/lab/judge.h"
#include "common/lab/judge_images.h"
#include "common/lab/judge_result.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"

/* Columns to the left and rows upwards, from 1 on where there are several; what leaves comes in again. */
static enum status move_round(struct image *picture)
{
    unsigned lots[2] = {0};
    struct image moved = {0};
    enum status status = STATUS_OK;

    if (getrandom(lots, sizeof lots, 0) != sizeof lots)
        return status_set(STATUS_FAILED, "the system has no random numbers");
    TRY(image_create_like(&moved, picture));
    const unsigned width = (unsigned)picture->width, height = (unsigned)picture->height;
    const size_t row = image_row_bytes(picture), cut = row / width * (width > 1 ? 1 + lots[0] % (width - 1) : 0);
    const unsigned down = height > 1 ? 1 + lots[1] % (height - 1) : 0;

    for (unsigned y = 0; y < height; y++) {
        const char *from = image_row(picture, (int)((y + down) % height));
        char *to = image_row(&moved, (int)y);

        memcpy(to, from + cut, row - cut);
        memcpy(to + row - cut, from, cut);
    }
    image_copy(picture, &moved);
out:
    image_free(&moved);
    return status;
}

/* Calls the version on the picture; *result: whether it is right, and the counts. */
static enum status count(struct remote *remote, const struct algorithm *algorithm, const void *params,
                         const struct image *picture, struct image in[], struct image out[], json_t **result)
{
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct channel *const channel = remote_channel(remote);
    enum status status = STATUS_OK;

    TRY(verify_reference(algorithm, picture, params, expected));
    if (!in[0].data) {
        TRY(judge_place(remote, &in[0], picture));
        TRY(judge_place_outputs(remote, out, expected));
    }
    image_copy(&in[0], picture);
    outputs_fill(out, 0xA5);
    memcpy(channel->in, in, ALGORITHM_MAX_INPUTS * sizeof *in);
    memcpy(channel->out, out, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    channel->inputs = algorithm->input_count;
    channel->outputs = algorithm->output_count;
    TRY(remote_call(remote, CHANNEL_RUN, NULL));
    const bool right = compare_agrees(&(struct version){.algorithm = algorithm}, picture, params, expected, out, NULL);

    *result = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "right", right, "launches",
        (json_int_t)channel->counts.launches, "threads", (json_int_t)channel->counts.threads, "barriers",
        (json_int_t)channel->counts.barriers, "lane_steps", (json_int_t)channel->counts.lane_steps, "warp_steps",
        (json_int_t)channel->counts.warp_steps, "atomics", (json_int_t)channel->counts.atomics, "global_loads",
        (json_int_t)channel->counts.global_loads, "global_atomics", (json_int_t)channel->counts.global_atomics,
        "shared_taken", (json_int_t)channel->counts.shared_taken, "busiest_reads",
        (json_int_t)channel->counts.busiest_reads, "global_sectors", (json_int_t)channel->counts.global_sectors,
        "bank_conflicts", (json_int_t)channel->counts.bank_conflicts);
out:
    outputs_free(expected);
    return status;
}

enum status judge_count(const struct judge_arguments *arguments)
{
    struct image picture = {0}, in[ALGORITHM_MAX_INPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct algorithm *algorithm;
    struct remote *remote = NULL;
    struct channel *channel;
    enum status status = STATUS_OK;
    json_t *result = NULL, *moved = NULL;
    void *params = NULL;
    char name[64];

    TRY(registry_open());
    TRY(remote_start(&arguments->worker, &remote));
    channel = remote_channel(remote);
    channel->counts_requests = true;
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, channel->algorithm);
    algorithm = registry_find_algorithm(name);
    if (!algorithm || algorithm->input_count != 1) {
        status = status_set(STATUS_FAILED, "%s: for no algorithm of one picture", arguments->worker.program);
        goto out;
    }
    params = calloc(1, algorithm->params_size + 1);
    TRY(params_parse(algorithm, NULL, 0, arguments->settings, arguments->setting_count, params));
    TRY(image_load(&picture, arguments->picture, algorithm->bench_channels));
    TRY(judge_place_params(remote, algorithm, params));
    TRY(count(remote, algorithm, params, &picture, in, out, &result));
    if (arguments->moved) {
        TRY(move_round(&picture));
        TRY(count(remote, algorithm, params, &picture, in, out, &moved));
        json_object_set_new(result, "moved", moved);
    }
    TRY(judge_write(result, arguments->json));
out:
    remote_stop(remote);
    image_free(&picture);
    json_decref(result);
    free(params);
    return status;
}
