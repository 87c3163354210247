#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/pipeline.h"
#include "common/verify/compare.h"
#include "common/verify/diagnose.h"
#include "common/verify/outputs.h"
#include "common/verify/verify.h"

/* A video and what becomes of it. */
struct video {
    int count;
    struct image *frames;
    struct image (*expected)[ALGORITHM_MAX_OUTPUTS], (*results)[ALGORITHM_MAX_OUTPUTS];
};

static void video_free(struct video *video)
{
    for (int i = 0; i < video->count; i++) {
        if (video->frames)
            image_free(&video->frames[i]);
        if (video->expected)
            outputs_free(video->expected[i]);
        if (video->results)
            outputs_free(video->results[i]);
    }
    free(video->frames);
    free(video->expected);
    free(video->results);
    memset(video, 0, sizeof *video);
}

/* Frame 0 is `base`; in frame i a patch of half the width and height is its negative, one place further each time: from
 * the last row up, to the last column. */
static enum status video_make(struct video *video, const struct image *base, const struct image shapes[], int count)
{
    enum status status = STATUS_OK;

    video->count = count;
    video->frames = calloc((size_t)count, sizeof *video->frames);
    video->expected = calloc((size_t)count, sizeof *video->expected);
    video->results = calloc((size_t)count, sizeof *video->results);
    if (!video->frames || !video->expected || !video->results)
        return status_set(STATUS_NO_MEMORY, "no memory for a video");
    for (int i = 0; i < count; i++) {
        const int width = (base->width + 1) / 2, height = (base->height + 1) / 2;
        const int left = i * (base->width - width) / (count - 1),
                  top = (count - i) * (base->height - height) / (count - 1);

        TRY(image_create_like(&video->frames[i], base));
        TRY(outputs_create_like(video->expected[i], shapes));
        TRY(outputs_create_like(video->results[i], shapes));
        image_copy(&video->frames[i], base);
        for (int y = top; i > 0 && y < top + height; y++) {
            uint8_t *row = image_row(&video->frames[i], y);
            for (int x = left * base->channels; x < (left + width) * base->channels; x++)
                row[x] = (uint8_t)(255 - row[x]);
        }
    }
out:
    return status;
}

/* Plays the video with `depth` frames in flight. */
static enum status play(const struct pipeline *pipeline, void *state, const struct video *video,
                        struct image (*results)[ALGORITHM_MAX_OUTPUTS], int depth, const void *params)
{
    enum status status = STATUS_OK;

    TRY(pipeline->start(state, &video->frames[0], params));
    for (int submitted = 0, received = 0; received < video->count;) {
        if (submitted < video->count && submitted - received < depth) {
            TRY(pipeline->submit(state, &video->frames[submitted++]));
        } else {
            outputs_fill(results[received], 0xA5);
            TRY(pipeline->receive(state, results[received]));
            received++;
        }
    }
out:
    return status;
}

/* The first slot of a frame that differs, -1 when none does. */
static int differing_slot(const struct version *version, const struct image in[], const void *params,
                          struct image expected[], struct image actual[], struct slot_difference *difference)
{
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        compare_slot(version, slot, in, params, expected, actual, NULL, difference);
        if (difference->wrong)
            return slot;
    }
    return -1;
}

/* The frame before `i` whose result stands in the place of frame i's; 0: none does. Frame 0, in which nothing moves, is
 * like many. */
static int earlier_frame(const struct version *version, const struct video *video, const void *params, int i)
{
    const struct image in[2] = {video->frames[0], video->frames[i]};
    struct slot_difference difference;

    for (int k = i - 1; k > 0; k--)
        if (differing_slot(version, in, params, video->expected[k], video->results[i], &difference) < 0 &&
            differing_slot(version, in, params, video->expected[0], video->results[i], &difference) >= 0)
            return k;
    return 0;
}

static void compare(const struct version *version, const struct video *video, const void *params, int number,
                    struct verdict *verdict)
{
    for (int i = 0; i < video->count && verdict->outcome == OUTCOME_PASS; i++) {
        const struct image in[2] = {video->frames[0], video->frames[i]};
        struct slot_difference difference;

        verdict->samples += outputs_samples(video->expected[i]);
        if (compare_canonical_expected(version->algorithm, video->expected[i]) != STATUS_OK ||
            compare_canonical(version, in, params, video->expected[i], video->results[i]) != STATUS_OK)
            return;
        verdict->slot = differing_slot(version, in, params, video->expected[i], video->results[i], &difference);
        if (verdict->slot < 0)
            continue;

        const struct named_slot *slot = &version->algorithm->outputs[verdict->slot];
        const char *values = slot->kind == SLOT_TABLE ? "the table's values" : "samples";

        verdict->wrong = difference.wrong;
        verdict->worst = difference.worst;
        verdict->worst_x = difference.x;
        verdict->worst_y = difference.y;
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->what, sizeof verdict->what,
                 "video %d, frame %d of %d: %zu of %s differ, the worst in row %d, column %d", number, i, video->count,
                 difference.wrong, values, difference.y, difference.x);
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis, "%s",
                 number == 2 ? "something of the first video is left over: start() must begin anew"
                 : i == 0    ? "the first frame is already wrong"
                          : "frames before it were right: a frame's result must depend on its own input only, and on "
                            "the background");
        verdict->certainty = CERTAINTY_GOOD;
        const int earlier = earlier_frame(version, video, params, i);
        if (earlier)
            snprintf(
                verdict->diagnosis, sizeof verdict->diagnosis,
                "it is the result of frame %d: read before the wait for frame %d, or taken from another one's place",
                earlier, i);
    }
}

/* After a wrong video: whether it is right with one frame at a time. `state` is torn down and begun anew. */
static void tell_flying(const struct version *version, void *state, const struct video *video, const void *params,
                        struct verdict *verdict)
{
    struct verdict alone = {.outcome = OUTCOME_PASS};

    if (version->pipeline->depth == 1)
        return;
    if (version->teardown)
        version->teardown(state);
    memset(state, 0, version->state_size);
    if (play(version->pipeline, state, video, video->results, 1, params) != STATUS_OK)
        return;
    compare(version, video, params, 1, &alone);
    if (alone.outcome == OUTCOME_PASS)
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis,
                 "right with one frame at a time, wrong with %d in flight: two frames share a buffer, or one is not "
                 "waited for",
                 version->pipeline->depth);
}

/* What cpu/serial says, with steps of its own side, and a state for each video. */
static enum status play_reference(const struct version *serial, const struct video *video, const void *given)
{
    const size_t params_size = serial->algorithm->params_size;
    enum status status = STATUS_OK;
    void *state = calloc(1, serial->state_size ? serial->state_size : 1), *params = malloc(params_size);

    if (!state || !params) {
        free(state);
        free(params);
        return status_set(STATUS_NO_MEMORY, "no memory for the state of the reference");
    }
    memcpy(params, given, params_size);
    params_keep_own_steps(serial->algorithm, serial->source->id, params);
    TRY(play(serial->pipeline, state, video, video->expected, 1, params));
out:
    serial->teardown(state);
    free(state);
    free(params);
    return status;
}

enum status verify_stream(const struct version *version, const struct image in[], const void *params, int frames,
                          struct verdict *verdict)
{
    const struct version *serial = NULL;
    struct video videos[2] = {{0}};
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    void *state = NULL;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    verdict->outcome = OUTCOME_PASS;
    TRY(version->algorithm->shape(in, params, shapes));
    TRY(registry_find_version(version->algorithm, "cpu/serial", &serial));
    state = calloc(1, version->state_size ? version->state_size : 1);
    if (!state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        TRY(video_make(&videos[i], &in[1 - i], shapes, frames));
        TRY(play_reference(serial, &videos[i], params));
    }
    for (int i = 0; i < 2; i++) {
        if (play(version->pipeline, state, &videos[i], videos[i].results, version->pipeline->depth, params) !=
            STATUS_OK) {
            verdict->outcome = OUTCOME_FAIL;
            snprintf(verdict->what, sizeof verdict->what, "video %d: %s", i + 1, status_message());
            break;
        }
        compare(version, &videos[i], params, i + 1, verdict);
        if (verdict->outcome == OUTCOME_FAIL) {
            tell_flying(version, state, &videos[i], params, verdict);
            break;
        }
    }
out:
    if (state && version->teardown)
        version->teardown(state);
    free(state);
    for (int i = 0; i < 2; i++)
        video_free(&videos[i]);
    return status;
}
