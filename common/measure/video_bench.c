#include "common/measure/video_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/core/clock.h"
#include "common/core/process.h"
#include "common/core/progress.h"
#include "common/core/text.h"
#include "common/measure/video_task.h"

static enum status in_child(int (*body)(void *), struct video_task *task, double limit_seconds)
{
    struct process_result result;
    char text[512];
    enum status status;

    task->finished = false;
    task->computed = 0;
    status = process_run(body, task, limit_seconds, &result);
    if (status != STATUS_OK)
        return status;
    if (result.limit != LIMIT_KEPT || result.signal || (result.exit_code && task->status == STATUS_OK)) {
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
static enum status compare(const struct video_task *task, uint8_t *expected, const bool *known, int *agreeing)
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
        a = video_table_at(task, expected, i);
        b = video_table_at(task, task->results, i);
        if (!video_table_same(&a, &b))
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

static enum status reference(struct video_bench *bench, struct video_task *task, struct answers *answers, bool in_order)
{
    const struct video_bench_request *request = bench->request;
    enum status status = STATUS_OK;
    double seconds;

    /* One frame by itself says how many the budget allows. */
    task->limit = 1;
    task->wanted = NULL;
    const double start = clock_seconds();
    TRY(in_child(video_compute_in_child, task, 0));
    seconds = clock_seconds() - start;
    task->limit = (int)(VIDEO_VERIFY_SECONDS / (seconds > 1e-6 ? seconds : 1e-6));
    if (task->limit > request->frame_count)
        task->limit = request->frame_count;
    if (task->limit < 2)
        task->limit = request->frame_count < 2 ? 1 : 2;
    if (!in_order) {
        choose_wanted(answers, request->frame_count, task->limit);
        task->wanted = answers->wanted;
    }
    TRY(in_child(video_compute_in_child, task, 0));
    for (int i = 0, seen = 0; i < request->frame_count && seen < task->computed; i++) {
        struct image from = video_table_at(task, task->results, i), to = video_table_at(task, answers->expected, i);

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
static void verify_row(struct video_bench *bench, struct video_bench_row *row, struct video_task *task,
                       struct answers *answers, bool emulated)
{
    const int frames = bench->request->frame_count;

    task->wanted = NULL;
    task->limit = frames;
    if (in_child(emulated ? video_verify_emulated_in_child : video_compute_in_child, task, 0) != STATUS_OK) {
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
        struct image from = video_table_at(task, task->results, i), to = video_table_at(task, answers->expected, i);
        image_copy(&to, &from);
        answers->known[i] = true;
    }
    row->verified = frames;
}

static void time_row(struct video_bench_row *row, struct video_task *task, struct answers *answers)
{
    int agreeing = 0;

    task->wanted = NULL;
    task->limit = task->request->frame_count;
    if (in_child(video_time_in_child, task, 0) != STATUS_OK) {
        row_failed(row);
    } else if (compare(task, answers->expected, answers->known, &agreeing) != STATUS_OK) {
        char why[400];
        snprintf(why, sizeof why, "%s", status_message());
        status_set(STATUS_FAILED, "right when verified, but wrong in a result that the timed run left: %s", why);
        row_failed(row);
    }
}

static void summarise(struct video_bench_row *row, struct video_task *task)
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

static void show(struct video_bench *bench, const struct video_bench_row *row)
{
    if (!bench->request->show)
        return;
    progress_clear();
    bench->request->show(bench, row);
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

/* The request's parameters; where rungs of another side than the reference's are measured, without steps of that
 * side. */
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
    const size_t task_bytes = (request->version_count + 1) * sizeof(struct video_task);
    const size_t frames = (size_t)request->frame_count;
    const bool in_order = is_in_order(algorithm, request->params);
    const struct image both[2] = {*request->first, request->frames[0]};
    struct answers answers = {0};
    struct image shape = {0};
    struct video_task *tasks = NULL;
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
    text_make_plain(bench->settings, sizeof bench->settings);
    if (!gmtime_r(&seconds, &utc) || strftime(bench->date, sizeof bench->date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(bench->date, sizeof bench->date, "unknown");
    machine_read(&bench->machine);

    shape.stride = image_minimal_stride(&shape);
    answers.bytes = frames * video_table_bytes(&shape);
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
    for (size_t i = 0; i < bench->row_count; i++) {
        struct video_bench_row *row = &bench->rows[i];

        row->version = request->versions[i];
        row->reference = row->version == serial;
        if (bench->machine.emulated && version_is_cuda(row->version))
            row->outcome = VIDEO_EMULATED;
    }
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
            const bool is_simd = strcmp(row->version->source->id, "cpu/simd") == 0;

            if (is_simd == (pass == 1) || row->outcome == VIDEO_EMULATED)
                continue;
            progress("%s: verifying %s", algorithm->name, row->version->source->id);
            if (row->reference)
                row->verified = bench->serial_frames;
            else
                verify_row(bench, row, &tasks[i], &answers, false);
        }
    }
    for (int round = 0; round < video_bench_rounds(request) && request->seconds > 0; round++) {
        for (size_t i = 0; i < bench->row_count; i++) {
            struct video_bench_row *row = &bench->rows[i];

            if (round == 0 && row->outcome == VIDEO_FAILED)
                show(bench, row);
            /* One round is enough for a version of which a frame takes as long as all its time. */
            if (row->outcome != VIDEO_TIMED || (round > 0 && tasks[i].samples[0] > request->seconds))
                continue;
            progress("%s: round %d of %d: %s", algorithm->name, round + 1, video_bench_rounds(request),
                     row->version->source->id);
            tasks[i].round = round;
            time_row(row, &tasks[i], &answers);
            summarise(row, &tasks[i]);
            if (round == 0)
                show(bench, row);
        }
    }
    for (size_t i = 0; i < bench->row_count; i++) {
        struct video_bench_row *row = &bench->rows[i];

        if (row->outcome != VIDEO_EMULATED)
            continue;
        progress("%s: verifying %s in the emulator", algorithm->name, row->version->source->id);
        verify_row(bench, row, &tasks[i], &answers, true);
        show(bench, row);
    }
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
