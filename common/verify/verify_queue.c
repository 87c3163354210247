#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/contract/queue.h"
#include "common/verify/compare.h"
#include "common/verify/diagnose.h"
#include "common/verify/outputs.h"
#include "common/verify/verify.h"

/* One picture and what becomes of it. */
struct picture {
    struct image in[ALGORITHM_MAX_INPUTS];
    struct image expected[ALGORITHM_MAX_OUTPUTS], result[ALGORITHM_MAX_OUTPUTS];
    struct image received[ALGORITHM_MAX_OUTPUTS]; /* the result when receive() had returned; later it may change */
    bool own, own_in;                             /* the result, the inputs lie in the queue's memory */
};

struct pictures {
    const struct version *version;
    int count;
    struct picture *items;
};

static void free_all(struct pictures *pictures)
{
    for (int i = 0; pictures->items && i < pictures->count; i++) {
        struct picture *picture = &pictures->items[i];

        for (int input = 0; picture->own_in && input < ALGORITHM_MAX_INPUTS; input++) {
            if (picture->in[input].data)
                pictures->version->queue->release(picture->in[input].data);
            picture->in[input] = (struct image){0};
        }
        inputs_free(pictures->version->algorithm, picture->in);
        outputs_free(picture->expected);
        outputs_free(picture->received);
        for (int slot = 0; picture->own && slot < ALGORITHM_MAX_OUTPUTS; slot++) {
            if (picture->result[slot].data)
                pictures->version->queue->release(picture->result[slot].data);
            picture->result[slot] = (struct image){0};
        }
        outputs_free(picture->result);
    }
    free(pictures->items);
}

/* Results of every other picture lie where the version wants them, the others' anywhere. */
static enum status make_result(const struct version_queue *queue, struct picture *picture, bool own)
{
    if (!own || !queue->allocate)
        return outputs_create_like(picture->result, picture->expected);
    picture->own = true;
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++) {
        struct image *result = &picture->result[slot];

        *result = picture->expected[slot];
        if (result->width == 0)
            continue;
        result->data = queue->allocate(result->stride * (size_t)result->height);
        if (!result->data)
            return status_set(STATUS_NO_MEMORY, "no memory for a picture's result");
    }
    return STATUS_OK;
}

/* Inputs to where the version wants them. */
static enum status own_inputs(const struct version *version, struct picture *picture)
{
    struct image own[ALGORITHM_MAX_INPUTS] = {{0}};

    if (!version->queue->allocate)
        return STATUS_OK;
    for (int i = 0; i < version->algorithm->input_count; i++) {
        own[i] = picture->in[i];
        if (own[i].width == 0)
            continue;
        own[i].data = version->queue->allocate(own[i].stride * (size_t)own[i].height);
        if (own[i].data) {
            image_copy(&own[i], &picture->in[i]);
            continue;
        }
        while (i-- > 0)
            if (own[i].data)
                version->queue->release(own[i].data);
        return status_set(STATUS_NO_MEMORY, "no memory for a picture");
    }
    inputs_free(version->algorithm, picture->in);
    memcpy(picture->in, own, sizeof own);
    picture->own_in = true;
    return STATUS_OK;
}

/* Of the first `varied` pictures sizes change from one to the next, but for the second of each four: a place that is
 * used again is prepared anew, or must not be. One in four is a single pixel. The others are of one size, and lie where
 * the version wants them: once every place has had one of them nothing waits for a stream but receive(). */
static enum status make_all(struct pictures *pictures, int varied, const struct input_request *request,
                            const void *params)
{
    const struct version *version = pictures->version;
    enum status status = STATUS_OK;

    pictures->items = calloc((size_t)pictures->count, sizeof *pictures->items);
    if (!pictures->items)
        return status_set(STATUS_NO_MEMORY, "no memory for pictures");
    for (int i = 0; i < pictures->count; i++) {
        struct picture *picture = &pictures->items[i];
        struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
        struct input_request other = *request;
        const int kind = i < varied ? i % 4 : 0;

        other.seed += (uint64_t)i;
        other.width = kind == 2 ? 1 : request->width + (kind == 3 ? i : 0);
        other.height = kind == 2 ? 1 : request->height + (kind == 3 ? i / 2 : 0);
        TRY(inputs_make(version->algorithm, &other, picture->in));
        if (version->algorithm->shape(picture->in, params, shapes) != STATUS_OK) {
            inputs_free(version->algorithm, picture->in);
            TRY(inputs_make(version->algorithm, request, picture->in));
        }
        TRY(verify_reference(version->algorithm, picture->in, params, picture->expected));
        TRY(compare_canonical_expected(version->algorithm, picture->expected));
        TRY(outputs_create_like(picture->received, picture->expected));
        TRY(make_result(version->queue, picture, i >= varied || i % 2));
        if (i >= varied)
            TRY(own_inputs(version, picture));
    }
out:
    return status;
}

/* All pictures, with so many under way. */
static enum status play(const struct pictures *pictures, void *queue, int depth)
{
    const struct version_queue *calls = pictures->version->queue;
    enum status status = STATUS_OK;

    for (int submitted = 0, received = 0; received < pictures->count;) {
        if (submitted < pictures->count && submitted - received < depth) {
            struct picture *picture = &pictures->items[submitted++];

            outputs_fill(picture->result, 0xA5);
            TRY(calls->submit(queue, picture->in, picture->result));
        } else {
            struct picture *picture = &pictures->items[received++];

            TRY(calls->receive(queue));
            outputs_copy(picture->received, picture->result);
        }
    }
out:
    return status;
}

/* The first slot that is wrong, -1 when none is. */
static int wrong_slot(const struct version *version, const struct picture *picture, const struct image expected[],
                      const struct image found[], const void *params, struct slot_difference *difference)
{
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        if (!expected[slot].data)
            continue;
        compare_slot(version, slot, picture->in, params, expected, found, NULL, difference);
        if (difference->wrong)
            return slot;
    }
    return -1;
}

/* The picture whose result stands in the place of that of number `wrong`; -1: no other's. */
static int find_owner(const struct pictures *pictures, int wrong, const struct image found[], const void *params)
{
    const struct picture *picture = &pictures->items[wrong];
    struct slot_difference difference;

    for (int i = 0; i < pictures->count; i++)
        if (i != wrong && outputs_same_shape(pictures->items[i].expected, found) &&
            !outputs_same(pictures->items[i].expected, picture->expected) &&
            wrong_slot(pictures->version, picture, pictures->items[i].expected, found, params, &difference) < 0)
            return i;
    return -1;
}

/* One picture's result, as it is after all or as it was when receive() had returned. */
static void compare_found(const struct pictures *pictures, int number, struct image found[], const void *params,
                          struct verdict *verdict)
{
    const struct picture *picture = &pictures->items[number];
    struct slot_difference difference;
    int owner;

    if (compare_canonical(pictures->version, picture->in, params, picture->expected, found) != STATUS_OK)
        return;
    verdict->slot = wrong_slot(pictures->version, picture, picture->expected, found, params, &difference);
    if (verdict->slot < 0)
        return;
    owner = find_owner(pictures, number, found, params);
    verdict->outcome = OUTCOME_FAIL;
    verdict->wrong = difference.wrong;
    verdict->worst = difference.worst;
    verdict->worst_x = difference.x;
    verdict->worst_y = difference.y;
    snprintf(verdict->what, sizeof verdict->what,
             "picture %d of %d, %dx%d: %zu samples of %s differ, the worst in row %d, column %d", number + 1,
             pictures->count, picture->in[0].width, picture->in[0].height, difference.wrong,
             pictures->version->algorithm->outputs[verdict->slot].name, difference.y, difference.x);
    if (owner >= 0)
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis,
                 "it has the result of picture %d: results must come in the order of the pictures", owner + 1);
    verdict->certainty = CERTAINTY_GOOD;
}

static void compare(const struct pictures *pictures, const void *params, struct verdict *verdict)
{
    for (int i = 0; i < pictures->count && verdict->outcome == OUTCOME_PASS; i++) {
        verdict->samples += outputs_samples(pictures->items[i].expected);
        compare_found(pictures, i, pictures->items[i].result, params, verdict);
        if (verdict->outcome == OUTCOME_PASS)
            compare_found(pictures, i, pictures->items[i].received, params, verdict);
    }
}

/* After a wrong result that is no other picture's: whether it is right with one picture at a time. */
static void tell_flying(const struct pictures *pictures, const void *params, int depth, struct verdict *verdict)
{
    const struct version_queue *calls = pictures->version->queue;
    struct verdict alone = {.outcome = OUTCOME_PASS};
    void *queue = NULL;

    if (calls->open(pictures->version, params, &queue) != STATUS_OK)
        return;
    if (play(pictures, queue, 1) == STATUS_OK) {
        compare(pictures, params, &alone);
        snprintf(verdict->diagnosis, sizeof verdict->diagnosis,
                 alone.outcome == OUTCOME_PASS
                     ? "right with one picture at a time, wrong with %d under way: two pictures share a buffer, or one "
                       "is not waited for"
                     : "wrong with one picture at a time as well as with %d under way, where run() is right: a copy is "
                       "missing or not waited for, or what was made for pictures of another size is used",
                 depth);
    }
    calls->close(queue);
}

enum status verify_queue(const struct version *version, const struct input_request *request, const void *params,
                         struct verdict *verdict)
{
    const int depth = version->queue->depth();
    const int varied = 2 * depth + 3;
    struct pictures pictures = {.version = version, .count = varied + depth + 2};
    void *queue = NULL;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    TRY(make_all(&pictures, varied, request, params));
    for (int i = 0; i < pictures.count; i++)
        if (version->declines && version->declines(pictures.items[i].in, params)) {
            verdict->outcome = OUTCOME_SKIP;
            snprintf(verdict->what, sizeof verdict->what, "%s", version->declines(pictures.items[i].in, params));
            goto out;
        }
    verdict->outcome = OUTCOME_PASS;
    /* Twice with one queue: the second time every place has been used. */
    for (int round = 0; round < 2 && verdict->outcome == OUTCOME_PASS; round++) {
        if ((!queue && version->queue->open(version, params, &queue) != STATUS_OK) ||
            play(&pictures, queue, depth) != STATUS_OK) {
            verdict->outcome = OUTCOME_FAIL;
            snprintf(verdict->what, sizeof verdict->what, "%d pictures: %s", pictures.count, status_message());
            goto out;
        }
        compare(&pictures, params, verdict);
    }
    version->queue->close(queue);
    queue = NULL;
    if (verdict->outcome == OUTCOME_FAIL && !verdict->diagnosis[0])
        tell_flying(&pictures, params, depth, verdict);
out:
    version->queue->close(queue);
    free_all(&pictures);
    return status;
}
