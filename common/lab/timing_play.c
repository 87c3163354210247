#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/image/pattern.h"
#include "common/lab/timing.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"

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
    memcpy(channel->out, runner->out[set], sizeof channel->out);
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
    if (which == TIMED_VERSION)
        outputs_copy(timing->kept[set], runner->out[set]);
out:
    return status;
}

bool timing_agrees(const struct timing *timing, int set, struct image expected[], struct image actual[])
{
    const struct runner *reference = &timing->runners[TIMED_REFERENCE];
    const struct version version = {.algorithm = timing->algorithm};
    struct image in[ALGORITHM_MAX_INPUTS];

    memcpy(in, reference->in[set], sizeof in);
    if (timing->frames) {
        in[0] = reference->in[0][0];
        in[1] = reference->in[set][0];
    }
    return outputs_same(expected, actual) || compare_agrees(&version, in, timing->params, expected, actual, NULL);
}

/* Finds the version's fault, if it has one: in the results of the first `played` sets, or in what it did besides. */
static void look_at_results(struct timing *timing, int played)
{
    struct runner *version = &timing->runners[TIMED_VERSION], *reference = &timing->runners[TIMED_REFERENCE];

    for (int set = 0; set < played; set++) {
        outputs_copy(timing->late, version->out[set]);
        const bool changed = !outputs_same(timing->kept[set], timing->late);

        if (!timing_agrees(timing, set, reference->out[set], timing->kept[set]))
            snprintf(timing->wrong, sizeof timing->wrong, "%s",
                     timing_agrees(timing, set, reference->out[set], timing->late)
                         ? "a timed call returned before its result was there"
                         : "right when checked, but wrong in a timed call, whose inputs are new each time: a cached "
                           "result, or right for some sizes only");
        else if (changed)
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
static enum status call_pipeline(const struct timing *timing, struct runner *runner, enum channel_request request,
                                 int frame)
{
    struct channel *channel = remote_channel(runner->remote);

    channel->in[0] = runner->in[frame][0];
    channel->inputs = timing->algorithm->input_count;
    memcpy(channel->out, runner->out[frame], sizeof channel->out);
    channel->outputs = timing->algorithm->output_count;
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
    TRY(call_pipeline(timing, runner, CHANNEL_START, 0));
    for (int submitted = 0, received = 0; received < timing->frames;) {
        if (submitted < timing->frames && submitted - received < runner->depth) {
            TRY(call_pipeline(timing, runner, CHANNEL_SUBMIT, submitted++));
        } else {
            TRY(call_pipeline(timing, runner, CHANNEL_RECEIVE, received));
            if (which == TIMED_VERSION)
                outputs_copy(timing->kept[received], runner->out[received]);
            received++;
        }
    }
    *seconds = (clock_seconds() - start) / timing->frames;
    end_work(runner, before);
out:
    return status;
}

enum status timing_play(struct timing *timing, bool counts)
{
    struct runner *version = &timing->runners[TIMED_VERSION], *reference = &timing->runners[TIMED_REFERENCE];
    enum status status = STATUS_OK;
    const int first = timing->pairs;
    int played = 0;

    if (timing->frames)
        timing_renew_video(timing, version->in);
    for (int set = 0; set < timing->sets; set++) {
        if (!timing->frames)
            TRY(timing_renew(timing, version->in[set]));
        for (int i = 0; i < timing->inputs; i++)
            image_copy(&reference->in[set][i], &version->in[set][i]);
        outputs_fill(version->out[set], 0xA5);
        outputs_fill(reference->out[set], 0x5A);
    }
    while (played < timing->sets && timing->pairs < TIMING_MAX_PAIRS) {
        double seconds[2] = {0, 0};
        const int begins = timing->pairs & 1;

        for (int turn = 0; turn < 2; turn++) {
            const int which = turn ^ begins;

            status = timing->frames ? play_video(timing, which, &seconds[which])
                                    : call_once(timing, which, played, &seconds[which]);
            if (status != STATUS_OK && which == TIMED_VERSION) {
                snprintf(timing->wrong, sizeof timing->wrong, "in a timed call: %s", status_message());
                return STATUS_OK;
            }
            TRY(status);
        }
        version->seconds[timing->pairs] = seconds[TIMED_VERSION];
        reference->seconds[timing->pairs] = seconds[TIMED_REFERENCE];
        timing->pairs++;
        played += timing->frames ? timing->frames : 1;
    }
    look_at_results(timing, played);
    if (!counts)
        timing->pairs = first;
out:
    return status;
}
