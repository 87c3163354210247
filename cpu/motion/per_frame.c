/*
 * Idea:     a thread takes a whole frame, and no thread ever waits for another.
 * Changed:  nothing in a frame: it is computed as cpu/packed's, by one thread, in buffers that each thread has of its own.
 *           New is what is around it: submit() puts the frame into a queue, receive() waits for the oldest, and up to 32
 *           are in flight. A running mean needs each frame before the next: it stays as it was, all threads in a frame.
 * Expect:   with 16 threads at 596x336 three times the frames: packed's threads meet four times in 0.1 ms, and one of them
 *           lists the boxes while 15 wait. With 2 threads little, until the machine is busy with something else: then packed
 *           waits for whichever thread the system has taken off its core, and a queue of frames does not.
 *           Each frame takes as long as one core needs for it: throughput is bought with delay.
 * Result:   4.3 times with 16 threads (results/h200/motion/motion_596x336.json; 2.4 at 1920x1080); 2.0 with two
 *           (results/cpu2/motion/motion_596x336.json; 1.2 at 1920x1080), and 7.7 when another program keeps one of them
 *           busy (results/cpu2/motion/motion_busy.txt).
 * From:     cpu/packed
 */
/* Try: make bench-motion VERSIONS=cpu/packed,cpu/per_frame; then with OMP_NUM_THREADS=1 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/algo/motion.h"

static const char frame_rung[] = "cpu/packed";

enum { DEPTH = 32 };

/* A frame in flight. */
struct slot {
    struct image frame; /* the pixels are the caller's */
    struct image table;
    bool queued; /* for a worker; else receive() computes it */
    bool done;
    enum status status;
    char message[256];
};

/* What computes frames: a thread of its own, but for the first, which is the caller's. */
struct lane {
    struct state *owner;
    void *state; /* of the version of frame_rung */
    pthread_t thread;
    bool has_thread;
    int starts; /* how many of the owner's it has seen */
    enum status status;
    char message[256];
};

struct state {
    const struct version *version;      /* of frame_rung */
    const struct motion_params *params; /* this and the next: of start(), while it lasts */
    struct image first;
    struct lane *lanes;
    int workers; /* lanes[1] to lanes[workers] */
    struct slot slots[DEPTH];
    unsigned submitted, received;

    /* Shared, behind the lock. */
    pthread_mutex_t lock;
    pthread_cond_t work, finished;
    unsigned queue[DEPTH], put, taken; /* slots */
    int starts, started;
    bool closing;
};

static enum status keep(enum status status, char message[256])
{
    if (status != STATUS_OK)
        snprintf(message, 256, "%s", status_message());
    return status;
}

static void start_lane(struct lane *lane)
{
    const struct state *owner = lane->owner;

    lane->status = keep(owner->version->pipeline->start(lane->state, &owner->first, owner->params), lane->message);
}

static void compute(struct lane *lane, struct slot *slot)
{
    const struct pipeline *pipeline = lane->owner->version->pipeline;
    enum status status = STATUS_OK;

    TRY(pipeline->submit(lane->state, &slot->frame));
    TRY(pipeline->receive(lane->state, &slot->table));
out:
    slot->status = keep(status, slot->message);
}

static void *work(void *argument)
{
    struct lane *lane = argument;
    struct state *state = lane->owner;

    omp_set_num_threads(1);
    pthread_mutex_lock(&state->lock);
    while (!state->closing) {
        if (lane->starts < state->starts) {
            lane->starts = state->starts;
            pthread_mutex_unlock(&state->lock);
            start_lane(lane);
            pthread_mutex_lock(&state->lock);
            state->started++;
            pthread_cond_signal(&state->finished);
        } else if (state->taken != state->put) {
            struct slot *slot = &state->slots[state->queue[state->taken++ % DEPTH]];

            pthread_mutex_unlock(&state->lock);
            compute(lane, slot);
            pthread_mutex_lock(&state->lock);
            slot->done = true;
            pthread_cond_signal(&state->finished);
        } else {
            pthread_cond_wait(&state->work, &state->lock);
        }
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static enum status allocate(struct state *state, const struct image *first, const struct motion_params *params)
{
    const struct algorithm *motion = registry_find_algorithm("motion");
    const struct image both[2] = {*first, *first};
    const int threads = motion_has_running_mean(params) ? 1 : omp_get_max_threads();
    struct image shape = {0};
    enum status status = STATUS_OK;

    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->work, NULL);
    pthread_cond_init(&state->finished, NULL);
    TRY(registry_find_version(motion, frame_rung, &state->version));
    TRY(motion->shape(both, params, &shape));
    for (int i = 0; i < DEPTH; i++)
        TRY(image_create_like(&state->slots[i].table, &shape));
    state->workers = threads == 1 ? 0 : threads < DEPTH ? threads : DEPTH;
    state->lanes = calloc((size_t)state->workers + 1, sizeof *state->lanes);
    if (!state->lanes) {
        state->workers = 0;
        status = status_set(STATUS_NO_MEMORY, "no memory for %d threads", threads);
        goto out;
    }
    for (int i = 0; i <= state->workers; i++) {
        struct lane *lane = &state->lanes[i];

        lane->owner = state;
        lane->state = calloc(1, state->version->state_size);
        if (!lane->state) {
            status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", frame_rung);
            goto out;
        }
        lane->has_thread = i > 0 && pthread_create(&lane->thread, NULL, work, lane) == 0;
        if (i > 0 && !lane->has_thread) {
            status = status_set(STATUS_FAILED, "only %d threads could be started", i - 1);
            goto out;
        }
    }
out:
    return status;
}

/* Every lane makes its own background, all at the same time. */
static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->version)
        TRY(allocate(state, first, params));
    pthread_mutex_lock(&state->lock);
    state->first = *first;
    state->params = params;
    state->starts++;
    state->started = 0;
    pthread_cond_broadcast(&state->work);
    pthread_mutex_unlock(&state->lock);
    start_lane(&state->lanes[0]);
    pthread_mutex_lock(&state->lock);
    while (state->started < state->workers)
        pthread_cond_wait(&state->finished, &state->lock);
    pthread_mutex_unlock(&state->lock);
    for (int i = 0; i <= state->workers; i++)
        if (state->lanes[i].status != STATUS_OK)
            return status_set(state->lanes[i].status, "%s", state->lanes[i].message);
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    const unsigned number = state->submitted++ % DEPTH;
    struct slot *slot = &state->slots[number];

    slot->frame = *frame;
    slot->done = false;
    /* Steps are timed in the thread that asked for it. */
    slot->queued = state->workers > 0 && !step_is_recording();
    if (slot->queued) {
        pthread_mutex_lock(&state->lock);
        state->queue[state->put++ % DEPTH] = number;
        pthread_cond_signal(&state->work);
        pthread_mutex_unlock(&state->lock);
    }
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received++ % DEPTH];

    if (slot->queued) {
        pthread_mutex_lock(&state->lock);
        while (!slot->done)
            pthread_cond_wait(&state->finished, &state->lock);
        pthread_mutex_unlock(&state->lock);
    } else {
        const int threads = omp_get_max_threads();

        if (state->workers > 0)
            omp_set_num_threads(1);
        compute(&state->lanes[0], slot);
        omp_set_num_threads(threads);
    }
    if (slot->status != STATUS_OK)
        return status_set(slot->status, "%s", slot->message);
    image_copy(result, &slot->table);
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    if (!state->version)
        return;
    pthread_mutex_lock(&state->lock);
    state->closing = true;
    pthread_cond_broadcast(&state->work);
    pthread_mutex_unlock(&state->lock);
    for (int i = 0; state->lanes && i <= state->workers; i++) {
        struct lane *lane = &state->lanes[i];

        if (lane->has_thread)
            pthread_join(lane->thread, NULL);
        if (lane->state)
            state->version->teardown(lane->state);
        free(lane->state);
    }
    free(state->lanes);
    for (int i = 0; i < DEPTH; i++)
        image_free(&state->slots[i].table);
    pthread_cond_destroy(&state->finished);
    pthread_cond_destroy(&state->work);
    pthread_mutex_destroy(&state->lock);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = DEPTH)
