#include "common/measure/video_bench.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/contract/pipeline.h"
#include "common/core/clock.h"
#include "common/core/process.h"
#include "common/core/progress.h"

enum {
    MAX_SAMPLES = 400, /* per version and round */
    WARM_FRAMES = 4,
    STEP_FRAMES = 32,    /* at most, for the table of steps */
    EMULATED_FRAMES = 2, /* that emulated versions are verified on, and how much of them: the middle */
    EMULATED_WIDTH = 512,
    EMULATED_HEIGHT = 288,
    POISON = 0xA5
};
static const double sample_seconds = 0.02, verify_budget = 12, step_budget = 2;

/* What a child gets and gives; lives in memory that it shares with the parent. */
struct task {
    const struct video_bench_request *request;
    const struct version *version;
    const struct version *serial;
    const void *params, *reference_params; /* of the version; of cpu/serial */
    bool in_order;                         /* a frame's result depends on all frames before it */
    struct image shape;                    /* of a result */
    uint8_t *results;                      /* frame_count tables, shared */
    bool *wanted;                          /* which frames to compute, shared; NULL: all */
    int limit;                             /* frames at most */
    int round;

    bool finished; /* the child came to its own end; a version can call exit(0) too */
    enum status status;
    char message[512];
    int computed;
    size_t sample_count;
    double samples[VIDEO_BENCH_ROUNDS * MAX_SAMPLES];
    long timed_frames;
    struct step_times steps;
    int step_frames;
    bool has_traffic;
    struct video_traffic launch, frame;
};

static size_t table_bytes_of(const struct image *shape)
{
    return shape->stride * (size_t)shape->height;
}

static struct image table_at(const struct task *task, uint8_t *tables, int frame)
{
    struct image table = task->shape;

    table.data = tables + (size_t)frame * table_bytes_of(&task->shape);
    return table;
}

static bool same_table(const struct image *a, const struct image *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(image_row(a, y), image_row(b, y), image_row_bytes(a)) != 0)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------- in a child */

static int keep(struct task *task, enum status status)
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

static enum status player_open(struct player *player, const struct task *task)
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

/* Results of wanted frames, one after the other, until the budget is used up, but of two at least. */
static int compute_in_child(void *argument)
{
    struct task *task = argument;
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
        struct image table = table_at(task, task->results, i);

        if (task->wanted && !task->wanted[i])
            continue;
        if (task->computed > 1 && (clock_seconds() - start) * (task->computed + 1) / task->computed > verify_budget)
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

static int verify_emulated_in_child(void *argument)
{
    struct task *task = argument;
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
        struct image tables[2] = {table_at(task, task->results, 0),
                                  table_at(task, task->results, request->frame_count > 1)};

        for (int which = 0; which < 2; which++) {
            image_fill(&tables[which], POISON);
            TRY(versions[which]->pipeline->submit(states[which], &frame));
            TRY(versions[which]->pipeline->receive(states[which], &tables[which]));
        }
        if (request->frame_count > 1 && !same_table(&tables[0], &tables[1])) {
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

/* Plays the video over and over for so many seconds, the pipeline always filled. Samples of the first frames are dropped,
 * unless the version is so slow that those frames take half of the seconds. That is no reason on a device: the first
 * call of a process creates the context there, 0.3 s and more, and a version that allocates in each frame does not call
 * before. */
static enum status time_frames(struct task *task, struct player *player, double seconds)
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
        struct image table = table_at(task, task->results, (int)(received % player->count));

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
        if (count > 0 && (time - begin >= seconds || count == MAX_SAMPLES))
            break;
    }
    while (received < submitted) {
        struct image table = table_at(task, task->results, (int)(received++ % player->count));
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

static enum status time_steps(struct task *task, struct player *player)
{
    const int frames = player->count < STEP_FRAMES ? player->count : STEP_FRAMES;
    const double begin = clock_seconds();
    enum status status = STATUS_OK;

    TRY(player->pipeline->start(player->state, &player->frames[0], task->params));
    if (frames > 1 && task->samples[0] < step_budget / 8) {
        struct image table = table_at(task, task->results, 0);
        TRY(one_frame(player, 0, &table));
    }
    for (int i = 0; i < frames && (i == 0 || clock_seconds() - begin < step_budget); i++) {
        const int frame = (int)((long)i * player->count / frames);
        struct image table = table_at(task, task->results, frame);

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
 * start; it is played twice to find out, since a frame's own traffic may depend on what is in it (the boxes of v2.0). */
static enum status count_traffic(struct task *task)
{
    struct player player = {0};
    struct phase_record record, first_frame, again;
    enum status status = STATUS_OK;

    TRY(player_open(&player, task));
    const int second = player.count > 1;
    struct image tables[2] = {table_at(task, task->results, 0), table_at(task, task->results, second)};
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

static int time_in_child(void *argument)
{
    struct task *task = argument;
    struct player player = {0};
    enum status status = STATUS_OK;

    omp_set_num_threads(task->request->threads);
    TRY(player_open(&player, task));
    TRY(time_frames(task, &player, task->request->seconds / VIDEO_BENCH_ROUNDS));
    if (task->round == 0) {
        TRY(time_steps(task, &player));
        if (player.pipeline->on_device)
            TRY(count_traffic(task));
    }
out:
    player_close(&player, task->version);
    return keep(task, status);
}

/* ------------------------------------------------------------------------------------------------ in the parent */

static enum status in_child(int (*body)(void *), struct task *task, double limit_seconds)
{
    struct process_result result;
    char text[512];
    enum status status;

    task->finished = false;
    task->computed = 0;
    status = process_run(body, task, limit_seconds, &result);
    if (status != STATUS_OK)
        return status;
    if (result.timed_out || result.signal || (result.exit_code && task->status == STATUS_OK)) {
        process_describe(&result, text, sizeof text);
        return status_set(STATUS_FAILED, "%s", text);
    }
    if (!task->finished)
        return status_set(STATUS_FAILED, "ended the process with exit code 0 before its work was done");
    return task->status == STATUS_OK ? STATUS_OK : status_set(task->status, "%s", task->message);
}

static void row_failed(struct video_bench_row *row)
{
    row->outcome = VIDEO_FAILED;
    snprintf(row->why, sizeof row->why, "%s", status_message());
    row->time = (struct statistics){0};
    row->steps.count = 0;
    row->has_traffic = false;
}

/* Compares what the task left of the frames that it computed (the first task->computed of the wanted ones) with what is
 * known; *agreeing is how many were equal. */
static enum status compare(const struct task *task, uint8_t *expected, const bool *known, int *agreeing)
{
    int seen = 0;

    *agreeing = 0;
    for (int i = 0; i < task->request->frame_count && seen < task->computed; i++) {
        struct image a, b;

        if (task->wanted && !task->wanted[i])
            continue;
        seen++;
        if (!known[i])
            continue;
        a = table_at(task, expected, i);
        b = table_at(task, task->results, i);
        if (!same_table(&a, &b))
            return status_set(STATUS_FAILED, "frame %d has other boxes than expected (%d instead of %d components)", i,
                              *(int32_t *)image_row(&b, 0), *(int32_t *)image_row(&a, 0));
        (*agreeing)++;
    }
    return STATUS_OK;
}

struct answers {
    uint8_t *expected, *results; /* shared */
    bool *wanted, *known;        /* wanted is shared */
    size_t bytes;                /* of each of the first two */
};

/* So many frames, spread evenly. */
static void choose_wanted(struct answers *answers, int frames, int count)
{
    for (int i = 0; i < count; i++)
        answers->wanted[(long)i * frames / count] = true;
}

static enum status reference(struct video_bench *bench, struct task *task, struct answers *answers, bool in_order)
{
    const struct video_bench_request *request = bench->request;
    enum status status = STATUS_OK;
    double seconds;

    /* One frame by itself says how many the budget allows. */
    task->limit = 1;
    task->wanted = NULL;
    const double start = clock_seconds();
    TRY(in_child(compute_in_child, task, 0));
    seconds = clock_seconds() - start;
    task->limit = (int)(verify_budget / (seconds > 1e-6 ? seconds : 1e-6));
    if (task->limit > request->frame_count)
        task->limit = request->frame_count;
    if (task->limit < 2)
        task->limit = request->frame_count < 2 ? 1 : 2;
    if (!in_order) {
        choose_wanted(answers, request->frame_count, task->limit);
        task->wanted = answers->wanted;
    }
    TRY(in_child(compute_in_child, task, 0));
    for (int i = 0, seen = 0; i < request->frame_count && seen < task->computed; i++) {
        struct image from = table_at(task, task->results, i), to = table_at(task, answers->expected, i);

        if (!in_order && !answers->wanted[i])
            continue;
        image_copy(&to, &from);
        answers->known[i] = true;
        seen++;
        bench->serial_frames++;
    }
out:
    return status;
}

/* All frames of a version, or as many as its budget allows, against what is known. The first version that computes all
 * of them and agrees fills in the rest: it has been compared with cpu/serial already. */
static void verify_row(struct video_bench *bench, struct video_bench_row *row, struct task *task,
                       struct answers *answers, bool emulated)
{
    const int frames = bench->request->frame_count;

    task->wanted = NULL;
    task->limit = frames;
    if (in_child(emulated ? verify_emulated_in_child : compute_in_child, task, 0) != STATUS_OK) {
        row_failed(row);
        if (task->status == STATUS_UNSUPPORTED)
            row->outcome = VIDEO_SKIPPED;
        return;
    }
    if (emulated) {
        row->outcome = VIDEO_EMULATED;
        row->verified = task->computed;
        return;
    }
    if (compare(task, answers->expected, answers->known, &row->verified) != STATUS_OK) {
        row_failed(row);
        return;
    }
    row->outcome = VIDEO_TIMED;
    if (task->computed < frames || bench->expected_by || bench->serial_frames == frames)
        return;
    bench->expected_by = row->version;
    for (int i = 0; i < frames; i++) {
        struct image from = table_at(task, task->results, i), to = table_at(task, answers->expected, i);
        image_copy(&to, &from);
        answers->known[i] = true;
    }
    row->verified = frames;
}

static void time_row(struct video_bench_row *row, struct task *task, struct answers *answers)
{
    int agreeing = 0;

    task->wanted = NULL;
    task->limit = task->request->frame_count;
    if (in_child(time_in_child, task, 0) != STATUS_OK) {
        row_failed(row);
    } else if (compare(task, answers->expected, answers->known, &agreeing) != STATUS_OK) {
        char why[400];
        snprintf(why, sizeof why, "%s", status_message());
        status_set(STATUS_FAILED, "right when verified, but wrong in a result that the timed run left: %s", why);
        row_failed(row);
    }
}

static void summarise(struct video_bench_row *row, struct task *task)
{
    if (row->outcome != VIDEO_TIMED || task->sample_count == 0)
        return;
    row->time = statistics_of(task->samples, task->sample_count);
    row->timed_frames = task->timed_frames;
    row->steps = task->steps; /* names are literals, which parent and child have at the same place */
    row->step_frames = task->step_frames;
    row->has_traffic = task->has_traffic;
    row->launch = task->launch;
    row->frame = task->frame;
}

static const struct version *serial_version(const struct video_bench_request *request)
{
    for (size_t i = 0; i < request->version_count; i++)
        if (strcmp(request->versions[i]->source->id, "cpu/serial") == 0)
            return request->versions[i];
    return NULL;
}

/* Whether a frame's result depends on the frames before it: asked of the algorithm's own parameter. */
static bool is_in_order(const struct algorithm *algorithm, const void *params)
{
    for (const struct parameter *p = algorithm->parameters; p->name; p++)
        if (strcmp(p->name, "background") == 0 && p->kind == PARAMETER_TEXT)
            return strcmp((const char *)params + p->offset, "mean") == 0;
    return false;
}

/* The request's parameters; where rungs of another side than the reference's are measured, without steps of that side. */
static enum status make_reference_params(const struct video_bench_request *request, const struct version *serial,
                                         void **params)
{
    const char *id = serial->source->id;

    *params = malloc(request->algorithm->params_size);
    if (!*params)
        return status_set(STATUS_NO_MEMORY, "no memory for the bench");
    memcpy(*params, request->params, request->algorithm->params_size);
    for (size_t i = 0; i < request->version_count; i++) {
        const struct side *side = side_of(request->versions[i]->source->id);

        if (side->ladder && side != side_of(id))
            params_keep_own_steps(request->algorithm, id, *params);
    }
    return STATUS_OK;
}

enum status video_bench_run(const struct video_bench_request *request, struct video_bench *bench)
{
    const struct algorithm *algorithm = request->algorithm;
    const struct version *serial = serial_version(request);
    const size_t task_bytes = (request->version_count + 1) * sizeof(struct task);
    const size_t frames = (size_t)request->frame_count;
    const bool in_order = is_in_order(algorithm, request->params);
    const struct image both[2] = {*request->first, request->frames[0]};
    struct answers answers = {0};
    struct image shape = {0};
    struct task *tasks = NULL;
    void *reference_params = NULL;
    enum status status = STATUS_OK;
    time_t seconds = time(NULL);
    struct tm utc;

    memset(bench, 0, sizeof *bench);
    bench->request = request;
    if (!serial)
        return status_set(STATUS_FAILED, "%s has no cpu/serial to compare with", algorithm->name);
    TRY(algorithm->shape(both, request->params, &shape));
    TRY(make_reference_params(request, serial, &reference_params));
    algorithm->describe(request->params, bench->settings, sizeof bench->settings);
    if (!gmtime_r(&seconds, &utc) || strftime(bench->date, sizeof bench->date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(bench->date, sizeof bench->date, "unknown");
    machine_read(&bench->machine);

    shape.stride = image_minimal_stride(&shape);
    answers.bytes = frames * table_bytes_of(&shape);
    answers.expected = process_shared_allocate(answers.bytes);
    answers.results = process_shared_allocate(answers.bytes);
    answers.wanted = process_shared_allocate(frames);
    answers.known = calloc(frames, 1);
    tasks = process_shared_allocate(task_bytes);
    bench->rows = calloc(request->version_count, sizeof *bench->rows);
    if (!answers.expected || !answers.results || !answers.wanted || !answers.known || !tasks || !bench->rows) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the bench");
        goto out;
    }
    bench->row_count = request->version_count;
    for (size_t i = 0; i <= request->version_count; i++) {
        tasks[i].request = request;
        tasks[i].version = i < request->version_count ? request->versions[i] : serial;
        tasks[i].serial = serial;
        tasks[i].reference_params = reference_params;
        tasks[i].params = tasks[i].version == serial ? reference_params : request->params;
        tasks[i].in_order = in_order;
        tasks[i].shape = shape;
        tasks[i].results = answers.results;
    }
    progress_start();
    progress("%s: computing the reference with cpu/serial", algorithm->name);
    TRY(reference(bench, &tasks[request->version_count], &answers, in_order));
    /* Fast versions first, so that one of them completes the expected results for all others. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < bench->row_count; i++) {
            struct video_bench_row *row = &bench->rows[i];
            const bool emulated = bench->machine.emulated && version_is_cuda(request->versions[i]);
            const bool is_simd = strcmp(request->versions[i]->source->id, "cpu/simd") == 0;

            if (is_simd == (pass == 1))
                continue;
            row->version = request->versions[i];
            row->reference = row->version == serial;
            progress("%s: verifying %s%s", algorithm->name, row->version->source->id,
                     emulated ? " in the emulator" : "");
            if (row->reference) {
                row->outcome = VIDEO_TIMED;
                row->verified = bench->serial_frames;
            } else {
                verify_row(bench, row, &tasks[i], &answers, emulated);
            }
        }
    }
    for (int round = 0; round < VIDEO_BENCH_ROUNDS && request->seconds > 0; round++) {
        for (size_t i = 0; i < bench->row_count; i++) {
            struct video_bench_row *row = &bench->rows[i];

            /* One round is enough for a version of which a frame takes as long as all its time. */
            if (row->outcome != VIDEO_TIMED || (round > 0 && tasks[i].samples[0] > request->seconds))
                continue;
            progress("%s: round %d of %d: %s", algorithm->name, round + 1, VIDEO_BENCH_ROUNDS,
                     row->version->source->id);
            tasks[i].round = round;
            time_row(row, &tasks[i], &answers);
        }
    }
    for (size_t i = 0; i < bench->row_count; i++)
        summarise(&bench->rows[i], &tasks[i]);
out:
    progress_clear();
    if (answers.expected)
        process_shared_free(answers.expected, answers.bytes);
    if (answers.results)
        process_shared_free(answers.results, answers.bytes);
    if (answers.wanted)
        process_shared_free(answers.wanted, frames);
    free(answers.known);
    free(reference_params);
    if (tasks)
        process_shared_free(tasks, task_bytes);
    return status;
}

void video_bench_free(struct video_bench *bench)
{
    free(bench->rows);
    memset(bench, 0, sizeof *bench);
}

/* ------------------------------------------------------------------------------------------------ reading rows */

const struct video_bench_row *video_bench_find(const struct video_bench *bench, const char *id)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (strcmp(bench->rows[i].version->source->id, id) == 0 && bench->rows[i].time.count > 0)
            return &bench->rows[i];
    return NULL;
}

const struct video_bench_row *video_bench_below(const struct video_bench *bench, const struct video_bench_row *row)
{
    const struct version *below = version_below(row->version);

    return below ? video_bench_find(bench, below->source->id) : NULL;
}

bool video_bench_any_failed(const struct video_bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].outcome == VIDEO_FAILED)
            return true;
    return false;
}
