#include "cpu/motion/shared/lanes.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct lane {
    struct lanes *owner;
    void *memory;
    pthread_t thread;
    bool has_thread;
    int starts; /* how many of the owner's it has seen */
    enum status status;
    char message[256];
};

static enum status keep(enum status status, char message[256])
{
    if (status != STATUS_OK)
        snprintf(message, 256, "%s", status_message());
    return status;
}

static void start_lane(struct lane *lane)
{
    const struct lanes *owner = lane->owner;

    lane->status = keep(owner->work->start(lane->memory, &owner->first, owner->params), lane->message);
}

static void compute(struct lane *lane, struct lanes_slot *slot)
{
    slot->status = keep(lane->owner->work->detect(lane->memory, &slot->frame, &slot->table), slot->message);
}

static void *serve(void *argument)
{
    struct lane *lane = argument;
    struct lanes *lanes = lane->owner;

    omp_set_num_threads(1);
    pthread_mutex_lock(&lanes->lock);
    while (!lanes->closing) {
        if (lane->starts < lanes->starts) {
            lane->starts = lanes->starts;
            pthread_mutex_unlock(&lanes->lock);
            start_lane(lane);
            pthread_mutex_lock(&lanes->lock);
            lanes->started++;
            pthread_cond_signal(&lanes->finished);
        } else if (lanes->taken != lanes->put) {
            struct lanes_slot *slot = &lanes->slots[lanes->queue[lanes->taken++ % LANES_DEPTH]];

            pthread_mutex_unlock(&lanes->lock);
            compute(lane, slot);
            pthread_mutex_lock(&lanes->lock);
            slot->done = true;
            pthread_cond_signal(&lanes->finished);
        } else {
            pthread_cond_wait(&lanes->available, &lanes->lock);
        }
    }
    pthread_mutex_unlock(&lanes->lock);
    return NULL;
}

static enum status open_lanes(struct lanes *lanes, const struct image *first, const struct motion_params *params)
{
    const struct algorithm *motion = registry_find_algorithm("motion");
    const struct image both[2] = {*first, *first};
    const int threads = motion_has_running_mean(params) ? 1 : omp_get_max_threads();
    struct image shape = {0};
    enum status status = STATUS_OK;

    lanes->is_open = true;
    pthread_mutex_init(&lanes->lock, NULL);
    pthread_cond_init(&lanes->available, NULL);
    pthread_cond_init(&lanes->finished, NULL);
    TRY(motion->shape(both, params, &shape));
    for (int i = 0; i < LANES_DEPTH; i++)
        TRY(image_create_like(&lanes->slots[i].table, &shape));
    lanes->workers = threads == 1 ? 0 : threads < LANES_DEPTH ? threads : LANES_DEPTH;
    lanes->list = calloc((size_t)lanes->workers + 1, sizeof *lanes->list);
    if (!lanes->list) {
        lanes->workers = 0;
        status = status_set(STATUS_NO_MEMORY, "no memory for %d threads", threads);
        goto out;
    }
    for (int i = 0; i <= lanes->workers; i++) {
        struct lane *lane = &lanes->list[i];

        lane->owner = lanes;
        lane->memory = calloc(1, lanes->work->size);
        if (!lane->memory) {
            status = status_set(STATUS_NO_MEMORY, "no memory for thread %d", i);
            goto out;
        }
        lane->has_thread = i > 0 && pthread_create(&lane->thread, NULL, serve, lane) == 0;
        if (i > 0 && !lane->has_thread) {
            status = status_set(STATUS_FAILED, "only %d threads could be started", i - 1);
            goto out;
        }
    }
out:
    return status;
}

enum status lanes_start(struct lanes *lanes, const struct lanes_work *work, const struct image *first,
                        const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!lanes->is_open) {
        lanes->work = work;
        TRY(open_lanes(lanes, first, params));
    }
    pthread_mutex_lock(&lanes->lock);
    lanes->first = *first;
    lanes->params = params;
    lanes->starts++;
    lanes->started = 0;
    pthread_cond_broadcast(&lanes->available);
    pthread_mutex_unlock(&lanes->lock);
    start_lane(&lanes->list[0]);
    pthread_mutex_lock(&lanes->lock);
    while (lanes->started < lanes->workers)
        pthread_cond_wait(&lanes->finished, &lanes->lock);
    pthread_mutex_unlock(&lanes->lock);
    for (int i = 0; i <= lanes->workers; i++)
        if (lanes->list[i].status != STATUS_OK)
            return status_set(lanes->list[i].status, "%s", lanes->list[i].message);
out:
    return status;
}

void lanes_put(struct lanes *lanes, unsigned slot)
{
    pthread_mutex_lock(&lanes->lock);
    lanes->queue[lanes->put++ % LANES_DEPTH] = slot;
    pthread_cond_signal(&lanes->available);
    pthread_mutex_unlock(&lanes->lock);
}

enum status lanes_take(struct lanes *lanes, struct lanes_slot *slot, struct image *result)
{
    if (slot->queued) {
        pthread_mutex_lock(&lanes->lock);
        while (!slot->done)
            pthread_cond_wait(&lanes->finished, &lanes->lock);
        pthread_mutex_unlock(&lanes->lock);
    } else {
        const int threads = omp_get_max_threads();

        if (lanes->workers > 0)
            omp_set_num_threads(1);
        compute(&lanes->list[0], slot);
        omp_set_num_threads(threads);
    }
    if (slot->status != STATUS_OK)
        return status_set(slot->status, "%s", slot->message);
    image_copy(result, &slot->table);
    return STATUS_OK;
}

void lanes_close(struct lanes *lanes)
{
    if (!lanes->is_open)
        return;
    pthread_mutex_lock(&lanes->lock);
    lanes->closing = true;
    pthread_cond_broadcast(&lanes->available);
    pthread_mutex_unlock(&lanes->lock);
    for (int i = 0; lanes->list && i <= lanes->workers; i++) {
        struct lane *lane = &lanes->list[i];

        if (lane->has_thread)
            pthread_join(lane->thread, NULL);
        if (lane->memory)
            lanes->work->close(lane->memory);
        free(lane->memory);
    }
    free(lanes->list);
    for (int i = 0; i < LANES_DEPTH; i++)
        image_free(&lanes->slots[i].table);
    pthread_cond_destroy(&lanes->finished);
    pthread_cond_destroy(&lanes->available);
    pthread_mutex_destroy(&lanes->lock);
    *lanes = (struct lanes){0};
}
