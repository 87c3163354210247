#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/pipeline.h"
#include "common/verify/diagnose.h"
#include "common/verify/verify.h"

/* A video and what becomes of it. */
struct video {
    int count;
    struct image *frames, *expected, *results;
};

static void video_free(struct video *video)
{
    struct image *const lists[] = {video->frames, video->expected, video->results};

    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (int i = 0; lists[list] && i < video->count; i++)
            image_free(&lists[list][i]);
        free(lists[list]);
    }
    memset(video, 0, sizeof *video);
}

/* Frame 0 is `base`; in frame i a patch of half the width and height is its negative, one place further each time. */
static enum status video_make(struct video *video, const struct image *base, const struct image *result, int count)
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
        const int left = i * (base->width - width) / count, top = (count - i) * (base->height - height) / count;

        TRY(image_create_like(&video->frames[i], base));
        TRY(image_create_like(&video->expected[i], result));
        TRY(image_create_like(&video->results[i], result));
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
static enum status play(const struct pipeline *pipeline, void *state, const struct video *video, struct image *results,
                        int depth, const void *params)
{
    enum status status = STATUS_OK;

    TRY(pipeline->start(state, &video->frames[0], params));
    for (int submitted = 0, received = 0; received < video->count;) {
        if (submitted < video->count && submitted - received < depth) {
            TRY(pipeline->submit(state, &video->frames[submitted++]));
        } else {
            image_fill(&results[received], 0xA5);
            TRY(pipeline->receive(state, &results[received]));
            received++;
        }
    }
out:
    return status;
}

/* Samples that differ. */
static size_t differing(const struct image *a, const struct image *b, struct verdict *verdict)
{
    size_t count = 0;

    for (int y = 0; y < a->height; y++) {
        const int32_t *left = image_row(a, y), *right = image_row(b, y);
        for (int x = 0; x < a->width * a->channels; x++) {
            if (left[x] == right[x])
                continue;
            if (count++ == 0) {
                verdict->worst_x = x;
                verdict->worst_y = y;
                verdict->worst = left[x] > right[x] ? (double)left[x] - right[x] : (double)right[x] - left[x];
            }
        }
    }
    return count;
}

static void compare(const struct video *video, int number, struct verdict *verdict)
{
    for (int i = 0; i < video->count && verdict->outcome == OUTCOME_PASS; i++) {
        const struct image *expected = &video->expected[i];

        verdict->samples += (size_t)expected->width * (size_t)expected->height;
        verdict->wrong = differing(expected, &video->results[i], verdict);
        if (verdict->wrong == 0)
            continue;
        verdict->outcome = OUTCOME_FAIL;
        snprintf(verdict->what, sizeof verdict->what,
                 "video %d, frame %d of %d: %zu of the table's values differ, the first in row %d, column %d", number,
                 i, video->count, verdict->wrong, verdict->worst_y, verdict->worst_x);
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis, "%s",
                 number == 2 ? "something of the first video is left over: start() must begin anew"
                 : i == 0    ? "the first frame is already wrong"
                          : "frames before it were right: a frame's result must depend on its own input only, and on "
                            "the background");
        verdict->certainty = CERTAINTY_GOOD;
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
    compare(video, 1, &alone);
    if (alone.outcome == OUTCOME_PASS)
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis,
                 "right with one frame at a time, wrong with %d in flight: two frames share a buffer, or one is not "
                 "waited for",
                 version->pipeline->depth);
}

/* What cpu/serial says, with a state of its own for each video. */
static enum status play_reference(const struct version *serial, const struct video *video, const void *params)
{
    enum status status = STATUS_OK;
    void *state = calloc(1, serial->state_size ? serial->state_size : 1);

    if (!state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of the reference");
    TRY(play(serial->pipeline, state, video, video->expected, 1, params));
out:
    serial->teardown(state);
    free(state);
    return status;
}

enum status verify_stream(const struct version *version, const struct image in[], const void *params, int frames,
                          struct verdict *verdict)
{
    const struct version *serial = NULL;
    struct video videos[2] = {{0}};
    struct image shape = {0};
    void *state = NULL;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    verdict->outcome = OUTCOME_PASS;
    TRY(version->algorithm->shape(in, params, &shape));
    TRY(registry_find_version(version->algorithm, "cpu/serial", &serial));
    state = calloc(1, version->state_size ? version->state_size : 1);
    if (!state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        TRY(video_make(&videos[i], &in[1 - i], &shape, frames));
        TRY(play_reference(serial, &videos[i], params));
    }
    for (int i = 0; i < 2; i++) {
        if (play(version->pipeline, state, &videos[i], videos[i].results, version->pipeline->depth, params) !=
            STATUS_OK) {
            verdict->outcome = OUTCOME_FAIL;
            snprintf(verdict->what, sizeof verdict->what, "video %d: %s", i + 1, status_message());
            break;
        }
        compare(&videos[i], i + 1, verdict);
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
