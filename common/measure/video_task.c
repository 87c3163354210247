#include "common/measure/video_task.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/pipeline.h"
#include "common/core/clock.h"

enum {
    WARM_FRAMES = 4,
    STEP_FRAMES = 32,    /* at most, for the table of steps */
    EMULATED_FRAMES = 2, /* that emulated versions are verified on, and how much of them: the middle */
    EMULATED_WIDTH = 512,
    EMULATED_HEIGHT = 288,
    POISON = 0xA5
};
static const double sample_seconds = 0.02, step_budget = 2;

size_t video_table_bytes(const struct image *shape)
{
    return shape->stride * (size_t)shape->height;
}

struct image video_table_at(const struct video_task *task, uint8_t *tables, int frame)
{
    struct image table = task->shape;

    table.data = tables + (size_t)frame * video_table_bytes(&task->shape);
    return table;
}

bool video_table_same(const struct image *a, const struct image *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(image_row(a, y), image_row(b, y), image_row_bytes(a)) != 0)
            return false;
    return true;
}

static int keep(struct video_task *task, enum status status)
{
    task->finished = true;
    task->status = status;
    if (status != STATUS_OK)
        snprintf(task->message, sizeof task->message, "%s", status_message());
    return status == STATUS_OK ? 0 : 1;
}

/* The frames where a version wants them. */
struct player {
    const struct pipeline *pipeline;
    void *state;
    int count;
    struct image *frames; /* own copies if the pipeline has memory of its own, else the request's */
    bool own;
};

static void player_close(struct player *player, const struct version *version)
{
    if (player->state && version->teardown)
        version->teardown(player->state);
    for (int i = 0; player->own && player->frames && i < player->count; i++)
        if (player->frames[i].data)
            player->pipeline->release(player->frames[i].data);
    free(player->frames);
    free(player->state);
    memset(player, 0, sizeof *player);
}

static enum status player_open(struct player *player, const struct video_task *task)
{
    const struct video_bench_request *request = task->request;
    const struct version *version = task->version;

    player->pipeline = version->pipeline;
    player->count = request->frame_count;
    player->own = player->pipeline->allocate != NULL;
    player->state = calloc(1, version->state_size ? version->state_size : 1);
    player->frames = calloc((size_t)player->count, sizeof *player->frames);
    if (!player->state || !player->frames)
        return status_set(STATUS_NO_MEMORY, "no memory for %d frames", player->count);
    for (int i = 0; i < player->count; i++) {
        player->frames[i] = request->frames[i];
        if (!player->own)
            continue;
        player->frames[i].data =
            player->pipeline->allocate(request->frames[i].stride * (size_t)request->frames[i].height);
        if (!player->frames[i].data)
            return status_set(STATUS_NO_MEMORY, "no memory for %d frames", player->count);
        image_copy(&player->frames[i], &request->frames[i]);
    }
    return STATUS_OK;
}

int video_compute_in_child(void *argument)
{
    struct video_task *task = argument;
    struct player player = {0};
    enum status status = STATUS_OK;
    const char *why;
    const double start = clock_seconds();

    omp_set_num_threads(task->request->threads);
    why = version_unavailable(task->version);
    if (why) {
        status = status_set(STATUS_UNSUPPORTED, "%s", why);
        goto out;
    }
    TRY(player_open(&player, task));
    TRY(player.pipeline->start(player.state, task->request->first, task->params));
    for (int i = 0; i < player.count && task->computed < task->limit; i++) {
        struct image table = video_table_at(task, task->results, i);

        if (task->wanted && !task->wanted[i])
            continue;
        if (task->computed > 1 &&
            (clock_seconds() - start) * (task->computed + 1) / task->computed > VIDEO_VERIFY_SECONDS)
            break;
        image_fill(&table, POISON);
        TRY(player.pipeline->submit(player.state, &player.frames[i]));
        TRY(player.pipeline->receive(player.state, &table));
        task->computed++;
    }
out:
    player_close(&player, task->version);
    return keep(task, status);
}

/* The emulator switches between fibers at every barrier, so it gets the middle of a few frames, from a column on that
 * keeps rows aligned as image.h promises; cpu/serial computes the same. */
static struct image middle_of(const struct image *whole)
{
    struct image piece = *whole;

    piece.width = whole->width < EMULATED_WIDTH ? whole->width : EMULATED_WIDTH;
    piece.height = whole->height < EMULATED_HEIGHT ? whole->height : EMULATED_HEIGHT;
    const int left = (whole->width - piece.width) / 2 / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
    piece.data = (char *)image_row(whole, (whole->height - piece.height) / 2) + (size_t)(left * whole->channels);
    return piece;
}

int video_verify_emulated_in_child(void *argument)
{
    struct video_task *task = argument;
    const struct video_bench_request *request = task->request;
    const struct version *const versions[2] = {task->serial, task->version};
    void *states[2] = {NULL, NULL};
    const struct image first = middle_of(request->first);
    const char *why;
    enum status status = STATUS_OK;

    omp_set_num_threads(request->threads);
    why = version_unavailable(task->version);
    if (why) {
        status = status_set(STATUS_UNSUPPORTED, "%s", why);
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        states[i] = calloc(1, versions[i]->state_size ? versions[i]->state_size : 1);
        if (!states[i]) {
            status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", versions[i]->source->id);
            goto out;
        }
        TRY(versions[i]->pipeline->start(states[i], &first, i == 0 ? task->reference_params : task->params));
    }
    for (int i = 0; i < EMULATED_FRAMES && i < request->frame_count; i++) {
        const struct image frame = middle_of(&request->frames[(i + 1) * request->frame_count / (EMULATED_FRAMES + 1)]);
        struct image tables[2] = {video_table_at(task, task->results, 0),
                                  video_table_at(task, task->results, request->frame_count > 1)};

        for (int which = 0; which < 2; which++) {
            image_fill(&tables[which], POISON);
            TRY(versions[which]->pipeline->submit(states[which], &frame));
            TRY(versions[which]->pipeline->receive(states[which], &tables[which]));
        }
        if (request->frame_count > 1 && !video_table_same(&tables[0], &tables[1])) {
            status = status_set(STATUS_FAILED, "other boxes than cpu/serial in the middle of a frame");
            goto out;
        }
        task->computed++;
    }
out:
    for (int i = 0; i < 2; i++) {
        if (states[i] && versions[i]->teardown)
            versions[i]->teardown(states[i]);
        free(states[i]);
    }
    return keep(task, status);
}

/* Plays the video over and over for so many seconds, the pipeline always filled. Samples of the first frames are
 * dropped, unless the version is so slow that those frames take half of the seconds. That is no reason on a device: the
 * first call of a process creates the context there, 0.3 s and more, and a version that allocates in each frame does
 * not call before. */
static enum status time_frames(struct video_task *task, struct player *player, double seconds)
{
    const struct pipeline *pipeline = player->pipeline;
    enum status status = STATUS_OK;
    long submitted = 0, received = 0, sample_from = 0, timed = 0;
    size_t count = 0;
    double begin, sample_begin;
    bool restarted = true; /* the video begins anew: as it must after its end when a frame depends on those before it */
    const bool slow = task->sample_count > 0 && task->samples[0] > seconds;

    TRY(pipeline->start(player->state, &player->frames[0], task->params));
    /* The table of frame i of each rotation is overwritten by the next one: the last stands at the end. */
    begin = sample_begin = clock_seconds();
    for (;;) {
        const int in_flight = (int)(submitted - received);
        struct image table = video_table_at(task, task->results, (int)(received % player->count));

        if (in_flight == 0 && task->in_order && submitted > 0 && submitted % player->count == 0 && !restarted) {
            TRY(pipeline->start(player->state, &player->frames[0], task->params));
            restarted = true;
            continue;
        }
        if (in_flight < pipeline->depth && (restarted || !task->in_order || submitted % player->count != 0)) {
            restarted = false;
            TRY(pipeline->submit(player->state, &player->frames[submitted++ % player->count]));
            continue;
        }
        TRY(pipeline->receive(player->state, &table));
        received++;
        const double time = clock_seconds();
        if (received == WARM_FRAMES && (pipeline->on_device || (!slow && time - begin < seconds / 2))) {
            begin = sample_begin = time;
            sample_from = received;
            count = 0;
            timed = 0;
        } else if (time - sample_begin >= sample_seconds) {
            task->samples[task->sample_count + count++] = (time - sample_begin) / (double)(received - sample_from);
            timed += received - sample_from;
            sample_begin = time;
            sample_from = received;
        }
        if (pipeline->on_device && received < WARM_FRAMES)
            continue;
        if (count > 0 && (time - begin >= seconds || count == VIDEO_MAX_SAMPLES))
            break;
    }
    while (received < submitted) {
        struct image table = video_table_at(task, task->results, (int)(received++ % player->count));
        TRY(pipeline->receive(player->state, &table));
    }
    task->computed = received < player->count ? (int)received : player->count;
    task->sample_count += count;
    task->timed_frames += timed;
out:
    return status;
}

static enum status one_frame(struct player *player, int frame, struct image *table)
{
    enum status status = STATUS_OK;

    TRY(player->pipeline->submit(player->state, &player->frames[frame]));
    TRY(player->pipeline->receive(player->state, table));
out:
    return status;
}

static enum status time_steps(struct video_task *task, struct player *player)
{
    const int frames = player->count < STEP_FRAMES ? player->count : STEP_FRAMES;
    const double begin = clock_seconds();
    enum status status = STATUS_OK;

    TRY(player->pipeline->start(player->state, &player->frames[0], task->params));
    if (frames > 1 && task->samples[0] < step_budget / 8) {
        struct image table = video_table_at(task, task->results, 0);
        TRY(one_frame(player, 0, &table));
    }
    for (int i = 0; i < frames && (i == 0 || clock_seconds() - begin < step_budget); i++) {
        const int frame = (int)((long)i * player->count / frames);
        struct image table = video_table_at(task, task->results, frame);

        TRY(step_record_start(&task->steps, player->pipeline->on_device));
        status = one_frame(player, frame, &table);
        if (status != STATUS_OK)
            goto out;
        TRY(step_record_stop());
        task->step_frames++;
    }
out:
    return status;
}

static void take_traffic(struct video_traffic *traffic, const struct phase_record *record)
{
    memcpy(traffic->bytes, record->bytes, sizeof traffic->bytes);
    memcpy(traffic->calls, record->calls, sizeof traffic->calls);
}

/* What the first of two calls with the same frame moved that the second did not: allocations that the first frame
 * completes, and constants that it uploads. */
static void add_once_only(struct video_traffic *start, const struct phase_record *first,
                          const struct phase_record *again)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (first->bytes[phase] > again->bytes[phase])
            start->bytes[phase] += first->bytes[phase] - again->bytes[phase];
        if (first->calls[phase] > again->calls[phase])
            start->calls[phase] += first->calls[phase] - again->calls[phase];
    }
}

static enum status record_frame(struct player *player, int frame, struct image *table, struct phase_record *record)
{
    enum status status;

    phase_record_start(record);
    status = one_frame(player, frame, table);
    phase_record_stop();
    return status;
}

/* Allocations and copies of a fresh state's start() and of a later frame. What the first frame does once belongs to the
 * start; it is played twice to find out, since a frame's own traffic may depend on what is in it (the boxes of
 * v2.0). */
static enum status count_traffic(struct video_task *task)
{
    struct player player = {0};
    struct phase_record record, first_frame, again;
    enum status status = STATUS_OK;

    TRY(player_open(&player, task));
    const int second = player.count > 1;
    struct image tables[2] = {video_table_at(task, task->results, 0), video_table_at(task, task->results, second)};
    phase_record_start(&record);
    status = player.pipeline->start(player.state, &player.frames[0], task->params);
    phase_record_stop();
    TRY(status);
    take_traffic(&task->launch, &record);
    TRY(record_frame(&player, 0, &tables[0], &first_frame));
    TRY(record_frame(&player, 0, &tables[0], &again));
    add_once_only(&task->launch, &first_frame, &again);
    TRY(record_frame(&player, second, &tables[1], &record));
    take_traffic(&task->frame, &record);
    task->has_traffic = true;
out:
    player_close(&player, task->version);
    return status;
}

int video_time_in_child(void *argument)
{
    struct video_task *task = argument;
    struct player player = {0};
    enum status status = STATUS_OK;

    omp_set_num_threads(task->request->threads);
    TRY(player_open(&player, task));
    TRY(time_frames(task, &player, task->request->seconds / video_bench_rounds(task->request)));
    if (task->round == 0) {
        TRY(time_steps(task, &player));
        if (player.pipeline->on_device)
            TRY(count_traffic(task));
    }
out:
    player_close(&player, task->version);
    return keep(task, status);
}
