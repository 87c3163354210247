/* Many pictures, one after the other or as many under way as a version's queue allows, from and to page-locked
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/measure/bench_task.h"
#include "common/verify/compare.h"

enum { MOST_SETS = 16, WARM_ROUNDS = 2 };
static const double sample_seconds = 0.02;

/* Copies of the bench's sets in page-locked memory. More places for outputs than pictures under way, so that no two
 * share one. */
struct locked {
    const struct version_queue *queue;
    int ins, outs;
    struct image in[MOST_SETS][ALGORITHM_MAX_INPUTS];
    struct image (*out)[ALGORITHM_MAX_OUTPUTS];
};

static enum status lock(const struct version_queue *queue, struct image *image)
{
    const struct image whole = *image;

    if (whole.width == 0)
        return STATUS_OK;
    image->data = queue->allocate(whole.stride * (size_t)whole.height);
    if (!image->data)
        return status_set(STATUS_NO_MEMORY, "no page-locked memory for a picture");
    if (whole.data)
        image_copy(image, &whole);
    return STATUS_OK;
}

static enum status locked_open(struct locked *locked, const struct bench_task *task, const struct bench_sets *sets,
                               int depth)
{
    const struct algorithm *algorithm = task->request->algorithm;
    enum status status = STATUS_OK;

    locked->queue = task->queue;
    locked->out = calloc((size_t)depth + 1, sizeof *locked->out);
    if (!locked->out)
        return status_set(STATUS_NO_MEMORY, "no memory for the bench");
    for (; locked->ins < sets->count && locked->ins < MOST_SETS; locked->ins++)
        for (int i = 0; i < algorithm->input_count; i++) {
            struct image copy = sets->in[locked->ins][i];

            TRY(lock(locked->queue, &copy));
            locked->in[locked->ins][i] = copy;
        }
    for (; locked->outs < depth + 1; locked->outs++)
        for (int i = 0; i < algorithm->output_count; i++) {
            struct image copy = task->source->out[i];

            copy.data = NULL;
            TRY(lock(locked->queue, &copy));
            locked->out[locked->outs][i] = copy;
        }
out:
    return status;
}

static void locked_close(struct locked *locked)
{
    for (int set = 0; set < MOST_SETS; set++)
        for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
            if (locked->in[set][i].data)
                locked->queue->release(locked->in[set][i].data);
    for (int k = 0; locked->out && k <= locked->outs; k++)
        for (int i = 0; k < locked->outs && i < ALGORITHM_MAX_OUTPUTS; i++)
            if (locked->out[k][i].data)
                locked->queue->release(locked->out[k][i].data);
    free(locked->out);
}

/* A version with or without a queue, one picture in and one out. */
struct player {
    const struct bench_task *task;
    struct locked locked;
    void *queue, *state;
    int depth;
    long submitted, received;
};

static enum status submit(struct player *player)
{
    const struct version *version = player->task->version;
    struct image *in = player->locked.in[player->submitted % player->locked.ins];
    struct image *out = player->locked.out[player->submitted % player->locked.outs];

    player->submitted++;
    return player->queue ? version->queue->submit(player->queue, in, out)
                         : version->run(player->state, in, out, player->task->request->params);
}

static enum status receive(struct player *player)
{
    player->received++;
    return player->queue ? player->task->version->queue->receive(player->queue) : STATUS_OK;
}

/* The next result, with as many pictures under way as there may be. */
static enum status next(struct player *player)
{
    enum status status = STATUS_OK;

    while (player->submitted - player->received < player->depth)
        TRY(submit(player));
    TRY(receive(player));
out:
    return status;
}

/* What the pictures on their way leave is right. Inputs beyond the second have no reference. */
static enum status drain(struct player *player)
{
    const struct bench_task *task = player->task;
    enum status status = STATUS_OK;

    while (player->received < player->submitted)
        TRY(receive(player));
    for (long n = player->submitted - player->locked.outs; n < player->submitted; n++) {
        const long set = n % player->locked.ins;

        if (n >= 0 && set < 2 &&
            !compare_agrees(task->version, player->locked.in[set], task->request->params, task->expected[set],
                            player->locked.out[n % player->locked.outs], NULL))
            return status_set(STATUS_FAILED, "right when verified, but wrong in one of many pictures");
    }
out:
    return status;
}

static enum status time_pictures(struct bench_task *task, struct player *player, double seconds)
{
    const double begin = clock_seconds();
    double *samples = task->pictures + task->pictures_count, from;
    enum status status = STATUS_OK;
    long first;
    size_t count = 0;

    for (int i = 0; i < WARM_ROUNDS * player->depth; i++)
        TRY(next(player));
    first = player->received;
    from = clock_seconds();
    while (count == 0 || (count < BENCH_MAX_SAMPLES && clock_seconds() - begin < seconds)) {
        TRY(next(player));
        const double time = clock_seconds();

        if (time - from < sample_seconds)
            continue;
        samples[count++] = (time - from) / (double)(player->received - first);
        first = player->received;
        from = time;
    }
    task->pictures_count += count;
    task->under_way = player->depth;
    /* The first two inputs are in the last places. */
    while (player->submitted % player->locked.ins != 2 % player->locked.ins)
        TRY(next(player));
    TRY(drain(player));
out:
    return status;
}

enum status bench_time_pictures(struct bench_task *task, const struct bench_sets *sets, double seconds)
{
    const struct version *version = task->version;
    struct player player = {.task = task, .depth = version->queue ? version->queue->depth() : 1};
    enum status status = STATUS_OK;

    TRY(locked_open(&player.locked, task, sets, player.depth));
    if (version->queue) {
        TRY(version->queue->open(version, task->request->params, &player.queue));
    } else {
        player.state = calloc(1, version->state_size ? version->state_size : 1);
        if (!player.state) {
            status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
            goto out;
        }
    }
    TRY(time_pictures(task, &player, seconds));
out:
    if (player.queue)
        version->queue->close(player.queue);
    if (player.state && version->teardown)
        version->teardown(player.state);
    free(player.state);
    locked_close(&player.locked);
    return status;
}
