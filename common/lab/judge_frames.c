/*
 * judge_frames.c: plays a few frames. On the CPU one at a time: it waits after each submit() until the worker is idle,
 * and sees when the steps ran that its result came from. On the emulated device as many as may be in flight: it sees
 * how many streams had such steps to run at the same time (common/remote/worker_steps.c).
 */
#include "common/lab/judge_frames.h"

#include <string.h>
#include <time.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/lab/judge_images.h"
#include "common/verify/scene.h"

enum { WIDTH = 640, HEIGHT = 480, FRAMES = 6, LEAST_PERCENT = 10, LEAST_STREAMS = 2 };
static const double MOST_SECONDS = 4; /* of processor time, until a thread is taken for one that never rests */

/* Twice in a row: a thread that has been woken may not have begun. */
static void wait_until_idle(const struct remote *remote)
{
    const struct timespec a_while = {.tv_nsec = 1000000};
    const double begin = remote_processor_seconds(remote);

    for (int idle = 0; idle < 2 && remote_processor_seconds(remote) - begin < MOST_SECONDS;) {
        nanosleep(&a_while, NULL);
        idle = remote_is_busy(remote) ? 0 : idle + 1;
    }
}

/* Places for a frame of each that may be in flight and for a result, and the pipeline's start on the first. */
static enum status begin(struct remote *remote, const struct algorithm *algorithm, const void *params, int depth,
                         struct image frames[])
{
    static const int shape[3] = {WIDTH, HEIGHT, 0};
    struct image made[ALGORITHM_MAX_INPUTS] = {{0}}, shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct image out[ALGORITHM_MAX_OUTPUTS];
    struct channel *const channel = remote_channel(remote);
    enum status status = STATUS_OK;

    TRY(judge_make(algorithm, shape, 1, params, made));
    TRY(algorithm->shape(made, params, shapes));
    TRY(judge_place_params(remote, algorithm, params));
    for (int i = 0; i < depth; i++) {
        TRY(judge_place(remote, &frames[i], &made[0]));
        channel->in[0] = frames[i];
        TRY(remote_call(remote, CHANNEL_PIN, NULL));
        scene_frame(&frames[i], 5 * i);
    }
    TRY(judge_place_outputs(remote, out, shapes));
    channel->inputs = algorithm->input_count;
    channel->outputs = algorithm->output_count;
    channel->in[0] = frames[0];
    memcpy(channel->out, out, sizeof out);
    TRY(remote_call(remote, CHANNEL_START, NULL));
out:
    inputs_free(algorithm, made);
    return status;
}

/* One frame at a time: of the processor time of the steps that results came from, the percentage that passed between
 * submit() and receive(), while nobody called. */
static enum status listen_between(struct remote *remote, const struct image *frame, int *percent)
{
    struct channel *const channel = remote_channel(remote);
    double all = 0, between = 0;
    enum status status = STATUS_OK;

    for (int i = 0; i < FRAMES; i++) {
        wait_until_idle(remote);
        channel->in[0] = *frame;
        channel->listens = CHANNEL_LISTEN_ANEW;
        TRY(remote_call(remote, CHANNEL_SUBMIT, NULL));
        wait_until_idle(remote);
        channel->listens = CHANNEL_LISTEN_ON;
        TRY(remote_call(remote, CHANNEL_RECEIVE, NULL));
        all += (double)channel->counts.steps_ns;
        between += (double)channel->counts.between_ns;
    }
    *percent = all > 0 ? (int)(100 * between / all) : 0;
out:
    return status;
}

/* As many frames as may be in flight, and then their results: how many streams had steps to run at the same time that
 * results came from. */
static enum status count_streams(struct remote *remote, const struct image frames[], int depth, int *streams)
{
    struct channel *const channel = remote_channel(remote);
    enum status status = STATUS_OK;

    for (int i = 0; i < depth; i++) {
        channel->in[0] = frames[i];
        channel->listens = i ? CHANNEL_LISTEN_ON : CHANNEL_LISTEN_ANEW;
        TRY(remote_call(remote, CHANNEL_SUBMIT, NULL));
    }
    for (int i = 0; i < depth; i++) {
        TRY(remote_call(remote, CHANNEL_RECEIVE, NULL));
        *streams = (int)channel->counts.step_streams;
    }
out:
    return status;
}

enum status judge_frames(const struct judge_arguments *arguments, const struct version *version, const void *params,
                         json_t *result)
{
    struct remote_options options = arguments->worker;
    const bool on_device = version->pipeline->on_device;
    const int depth = version->pipeline->depth;
    json_t *const found = json_pack("{s:i, s:i}", "depth", depth, "frames_at_work", depth);
    struct image frames[CHANNEL_MAX_DEPTH];
    struct remote *remote = NULL;
    enum status status = STATUS_OK;
    int seen = 0;

    json_object_set_new(result, "pipeline", found);
    if (depth < 2 || (on_device && !device_is_emulated()))
        return STATUS_OK;
    options.quiet = true;
    options.threads = 1; /* threads of OpenMP spin for a while after their work, which is none */
    TRY(remote_start(&options, &remote));
    TRY(begin(remote, version->algorithm, params, depth, frames));
    if (on_device)
        TRY(count_streams(remote, frames, depth, &seen));
    else
        TRY(listen_between(remote, &frames[1], &seen));
    json_object_set_new(found, on_device ? "streams" : "between", json_integer(seen));
    if (seen < (on_device ? LEAST_STREAMS : LEAST_PERCENT))
        json_object_set_new(found, "frames_at_work", json_integer(1));
out:
    remote_stop(remote);
    return status;
}
