#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/core/clock.h"
#include "common/image/pattern.h"
#include "common/lab/timing.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"

/* Past the caches, so that the version reads its inputs from memory, as it would where they came from elsewhere. */
static void stream(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    for (; bytes >= sizeof(__m128i) && (uintptr_t)to % sizeof(__m128i) == 0; bytes -= sizeof(__m128i)) {
        _mm_stream_si128(to, _mm_loadu_si128(from));
        to = (char *)to + sizeof(__m128i);
        from = (const char *)from + sizeof(__m128i);
    }
    _mm_sfence();
#endif
    memcpy(to, from, bytes);
}

static void lay_input(struct image *to, const struct image *from)
{
    for (int y = 0; y < from->height; y++)
        stream(image_row(to, y), image_row(from, y), image_row_bytes(from));
}

/* The inputs come into being when the version can neither see them nor run: it is paused since its last call ended. */
static void lay_out(struct timing *timing, int which, int set)
{
    struct runner *runner = &timing->runners[which];

    outputs_fill(runner->out[set], which == TIMED_VERSION ? 0xA5 : 0x5A);
    for (int i = 0; i < timing->inputs; i++)
        lay_input(&runner->in[set][i], &timing->fresh[timing->frames ? set : 0][i]);
}

static int below(struct timing *timing, int limit)
{
    return (int)(pattern_random(&timing->random) % (uint64_t)limit);
}

static enum status call_once(struct timing *timing, int which, int set, double *seconds)
{
    struct runner *runner = &timing->runners[which];
    struct channel *channel = remote_channel(runner->remote);
    enum status status = STATUS_OK;

    lay_out(timing, which, set);
    channel->inputs = timing->algorithm->input_count;
    memcpy(channel->in, runner->in[set], sizeof channel->in);
    memcpy(channel->out, runner->out[set], sizeof channel->out);
    channel->outputs = timing->algorithm->output_count;
    channel->heap_byte = 0;
    memcpy(channel->params, runner->params, sizeof runner->params);
    if (timing->arguments->kernel) {
        TRY(remote_call(runner->remote, CHANNEL_UPLOAD, NULL));
        /* A request to the worker takes about as long as one launch, so a request makes twenty or more of them. The
         * inputs change before one of them, and the last launch writes into a poisoned output; both are drawn by lot,
         * so the version cannot compute in one launch for the others. */
        const int repeat = 20 + below(timing, 5);

        channel->repeat = repeat;
        channel->value = 1 + below(timing, repeat - 1);
        TRY(remote_call(runner->remote, CHANNEL_LAUNCH, seconds));
        *seconds /= repeat;
        TRY(remote_call(runner->remote, CHANNEL_DOWNLOAD, NULL));
    } else {
        TRY(remote_call(runner->remote, CHANNEL_RUN, seconds));
    }
    remote_pause(runner->remote);
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

/* Between calls a version has nothing to do. Threads of OpenMP spin before they sleep, up to 0.5 ms each (82 us on 16
 * cores, results/h200/labs/lab02_native.txt); on a busy machine that takes a while. Listens until all of them sleep. */
static void listen(struct timing *timing)
{
    const struct timespec a_while = {.tv_nsec = 500000};
    const double spins = 0.001 + 0.0005 * timing->arguments->worker.threads, most_seconds = 1;
    struct remote *remote = timing->runners[TIMED_VERSION].remote;
    const double before = remote_processor_seconds(remote), start = clock_seconds();
    double heard;

    remote_resume(remote);
    do {
        nanosleep(&a_while, NULL);
        heard = remote_processor_seconds(remote) - before;
    } while (heard <= spins && remote_is_busy(remote) && clock_seconds() - start < most_seconds);
    remote_pause(remote);
    if (heard > spins && !timing->wrong[0])
        snprintf(timing->wrong, sizeof timing->wrong,
                 "works on between its calls: %.1f ms of processor time that nobody was waiting for", 1e3 * heard);
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
    listen(timing);
}

/* One call of a pipeline on `frame`, or for the result of that one. */
static enum status call_pipeline(const struct timing *timing, struct runner *runner, enum channel_request request,
                                 int frame, double *seconds)
{
    struct channel *channel = remote_channel(runner->remote);

    channel->in[0] = runner->in[frame][0];
    channel->inputs = timing->algorithm->input_count;
    memcpy(channel->out, runner->out[frame], sizeof channel->out);
    channel->outputs = timing->algorithm->output_count;
    return remote_call(runner->remote, request, seconds);
}

/* The whole video through one pipeline, as many frames in flight as it takes. A frame is laid out when it is submitted,
 * which is not on the clock. */
static enum status play_video(struct timing *timing, int which, double *seconds)
{
    struct runner *runner = &timing->runners[which];
    struct channel *channel = remote_channel(runner->remote);
    double used = 0, one;
    enum status status = STATUS_OK;

    channel->heap_byte = 0;
    memcpy(channel->params, runner->params, sizeof runner->params);
    lay_out(timing, which, 0);
    TRY(call_pipeline(timing, runner, CHANNEL_START, 0, &used));
    for (int submitted = 0, received = 0; received < timing->frames;) {
        if (submitted < timing->frames && submitted - received < runner->depth) {
            if (submitted > 0)
                lay_out(timing, which, submitted);
            TRY(call_pipeline(timing, runner, CHANNEL_SUBMIT, submitted++, &one));
        } else {
            TRY(call_pipeline(timing, runner, CHANNEL_RECEIVE, received, &one));
            if (which == TIMED_VERSION)
                outputs_copy(timing->kept[received], runner->out[received]);
            received++;
        }
        used += one;
    }
    *seconds = used / timing->frames;
    remote_pause(runner->remote);
out:
    return status;
}

/* The version and the reference on the same inputs, first the one, then the other. */
static enum status play_pair(struct timing *timing, int set, double seconds[2])
{
    const int begins = timing->pairs & 1;
    enum status status = STATUS_OK;

    if (timing->frames)
        timing_renew_video(timing, timing->fresh);
    else
        TRY(timing_renew(timing, timing->fresh[0]));
    for (int turn = 0; turn < 2; turn++) {
        const int which = turn ^ begins;

        status = timing->frames ? play_video(timing, which, &seconds[which])
                                : call_once(timing, which, set, &seconds[which]);
        if (status != STATUS_OK && which == TIMED_VERSION) {
            snprintf(timing->wrong, sizeof timing->wrong, "in a timed call: %s", status_message());
            return STATUS_OK;
        }
        TRY(status);
    }
out:
    return status;
}

enum status timing_play(struct timing *timing, bool counts)
{
    enum status status = STATUS_OK;
    const int first = timing->pairs;
    int played = 0;

    while (played < timing->sets && timing->pairs < TIMING_MAX_PAIRS) {
        double seconds[2] = {0, 0};

        TRY(play_pair(timing, played, seconds));
        if (timing->wrong[0])
            return STATUS_OK;
        for (int which = 0; which < 2; which++)
            timing->runners[which].seconds[timing->pairs] = seconds[which];
        timing->pairs++;
        played += timing->frames ? timing->frames : 1;
    }
    look_at_results(timing, played);
    if (!counts)
        timing->pairs = first;
out:
    return status;
}
