#include "common/measure/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/core/process.h"
#include "common/core/progress.h"
#include "common/core/text.h"
#include "common/measure/bench_task.h"

/* Runs a child; the failure of body or child becomes this call's. */
static enum status in_child(int (*body)(void *), struct bench_task *task, double limit_seconds)
{
    struct process_result result;
    enum status status;

    task->finished = false;
    status = process_run(body, task, limit_seconds, &result);
    return status == STATUS_OK ? bench_left_by(&result, task) : status;
}

/* ----------------------------------------------------------------------------------------- ceilings and limits */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A ceiling is the best that was seen in any round. */
static void merge(struct ceilings *best, const struct ceilings *found)
{
    best->copy_bytes_per_second = larger(best->copy_bytes_per_second, found->copy_bytes_per_second);
    for (int i = 0; i < OPERATION_COUNT; i++) {
        if (found->operations_per_second[i] > best->operations_per_second[i])
            best->measured_by[i] = found->measured_by[i];
        best->operations_per_second[i] = larger(best->operations_per_second[i], found->operations_per_second[i]);
    }
}

static enum status measure_ceilings(struct bench *bench, struct bench_task *task)
{
    enum status status = STATUS_OK;

    TRY(in_child(bench_ceilings_in_child, task, 120));
    merge(&bench->ceilings, &task->ceilings);
    if (bench->machine.gpu[0]) {
        TRY(in_child(bench_device_ceilings_in_child, task, 120));
        merge(&bench->device_ceilings, &task->ceilings);
    }
out:
    return status;
}

/* Whose ceilings limit a version: the side says it, or of a library the version. */
static const struct ceilings *ceilings_of(const struct bench *bench, const struct bench_row *row)
{
    const enum side_limit limits = side_of(row->version->source->id)->limits;
    const bool device = limits == SIDE_LIMIT_NONE ? row->device : limits == SIDE_LIMIT_GPU;

    return device ? &bench->device_ceilings : &bench->ceilings;
}

static void set_limit(const struct bench *bench, struct bench_row *row)
{
    const struct ceilings *ceilings = ceilings_of(bench, row);

    row->bound = BENCH_BOUND_NONE;
    row->limit = 0;
    if (ceilings->copy_bytes_per_second > 0 && bench->cost.bytes > 0) {
        row->limit = bench->cost.bytes / ceilings->copy_bytes_per_second;
        row->bound = BENCH_BOUND_BYTES;
    }
    for (int i = 0; i < OPERATION_COUNT; i++) {
        const double rate = ceilings->operations_per_second[i];
        const double seconds = rate > 0 ? bench->cost.operations[i] / rate : 0;

        if (seconds > row->limit) {
            row->limit = seconds;
            row->bound = BENCH_BOUND_OPERATIONS;
            row->bound_operation = (enum operation)i;
        }
    }
}

static void summarise(struct bench *bench, struct bench_row *row, struct bench_task *task)
{
    /* A pipeline has no launch of its own: a frame's time is that of the host's clock. */
    row->device = (version_is_cuda(row->version) && row->version->launch) || task->kernel_count > 0;
    if (row->outcome != BENCH_TIMED || task->end_to_end_count + task->kernel_count == 0)
        return;
    row->first_call = task->first_call;
    row->start = task->start;
    row->end_to_end = statistics_of(task->end_to_end, task->end_to_end_count);
    row->graph = task->graph;
    row->batch = row->version->launch ? task->batch : 1;
    row->kernel = row->device ? statistics_of(task->kernel, task->kernel_count) : row->end_to_end;
    row->pictures = statistics_of(task->pictures, task->pictures_count);
    row->under_way = task->under_way;
    set_limit(bench, row);
}

/* --------------------------------------------------------------------------------------------------- the bench */

/* All that lives as long as bench_run(). */
struct work {
    struct bench_source source;
    struct image expected[2][ALGORITHM_MAX_OUTPUTS]; /* in memory that the children share */
    struct bench_task *tasks;                        /* one for each version; the last for reference and ceilings */
    size_t task_bytes;
    bool device_verified; /* all versions of the device */
};

static void set_date(char *date, size_t size)
{
    const time_t seconds = time(NULL);
    struct tm utc;

    if (!gmtime_r(&seconds, &utc) || strftime(date, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(date, size, "unknown");
}

static const struct version *serial_version(const struct bench_request *request)
{
    for (size_t i = 0; i < request->version_count; i++)
        if (strcmp(request->versions[i]->source->id, "cpu/serial") == 0)
            return request->versions[i];
    return NULL;
}

static size_t bytes_of(const struct image *image)
{
    return image->stride * (size_t)image->height;
}

static void work_close(struct work *work)
{
    for (int set = 0; set < 2; set++)
        for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
            if (work->expected[set][i].data)
                process_shared_free(work->expected[set][i].data, bytes_of(&work->expected[set][i]));
    if (work->tasks)
        process_shared_free(work->tasks, work->task_bytes);
    bench_source_close(&work->source);
}

static enum status work_open(struct work *work, struct bench *bench, const struct version *serial)
{
    const struct bench_request *request = bench->request;
    enum status status = STATUS_OK;

    TRY(bench_source_open(&work->source, request->algorithm, request->in, request->params, request->made));
    bench->sets = bench_source_sets(&work->source);
    work->task_bytes = (request->version_count + 1) * sizeof *work->tasks;
    work->tasks = process_shared_allocate(work->task_bytes);
    bench->rows = calloc(request->version_count, sizeof *bench->rows);
    bool memory = work->tasks && bench->rows;
    for (int i = 0; i < 2 * request->algorithm->output_count; i++) {
        struct image *expected = &work->expected[i % 2][i / 2];

        *expected = work->source.out[i / 2];
        if (expected->width > 0)
            expected->data = process_shared_allocate(bytes_of(expected));
        memory &= expected->width == 0 || expected->data;
    }
    if (!memory)
        return status_set(STATUS_NO_MEMORY, "no memory for the bench");
    bench->row_count = request->version_count;
    for (size_t i = 0; i <= request->version_count; i++) {
        struct bench_task *task = &work->tasks[i];

        task->request = request;
        task->version = i < request->version_count ? request->versions[i] : serial;
        task->point = request->points && i < request->version_count ? &request->points[i] : NULL;
        task->source = &work->source;
        task->expected = work->expected;
        task->cost = &bench->cost;
        task->sets = bench->sets;
        for (size_t k = 0; k < request->version_count && !task->queue; k++)
            task->queue = request->versions[k]->queue;
    }
out:
    return status;
}

/* Verifies the wanted tasks, or times them for one round, in one child; makes none when nothing is wanted. */
static enum status batch_rows(struct bench *bench, struct work *work, bool timing, double call_limit)
{
    bool wanted = false;

    for (size_t i = 0; i < bench->row_count; i++)
        wanted |= work->tasks[i].wanted;
    if (!wanted)
        return STATUS_OK;
    struct bench_batch *batch = process_shared_allocate(sizeof *batch);

    if (!batch)
        return status_set(STATUS_NO_MEMORY, "no memory for the bench");
    *batch = (struct bench_batch){.bench = bench,
                                  .rows = bench->rows,
                                  .tasks = work->tasks,
                                  .count = bench->row_count,
                                  .timing = timing,
                                  .limit_seconds = call_limit};
    const enum status status = bench_batch_run(batch);
    process_shared_free(batch, sizeof *batch);
    return status;
}

static void begin_rows(struct bench *bench, struct work *work, const struct version *serial)
{
    for (size_t i = 0; i < bench->row_count; i++) {
        struct bench_row *row = &bench->rows[i];
        struct bench_task *task = &work->tasks[i];

        row->version = bench->request->versions[i];
        row->reference = row->version == serial;
        task->emulated = bench->machine.emulated && version_is_cuda(row->version) && !bench->request->points;
        if (task->emulated)
            row->outcome = BENCH_EMULATED;
    }
}

/* CPU versions and peers on the CPU have a child each. What runs on the device shares one, at the first of them: to
 * start the runtime takes several times as long as verifying most of them. Emulated versions have their turn after the
 * timing. */
static enum status verify_row(struct bench *bench, struct work *work, size_t i, double call_limit)
{
    struct bench_row *row = &bench->rows[i];
    struct bench_task *task = &work->tasks[i];

    if (row->reference || task->emulated)
        return STATUS_OK;
    if (!version_is_cuda(row->version)) {
        progress("%s: verifying %s", bench->request->algorithm->name, row->version->source->id);
        bench_row_verdict(row, task, in_child(bench_verify_in_child, task, call_limit));
        return STATUS_OK;
    }
    if (work->device_verified)
        return STATUS_OK;
    work->device_verified = true;
    for (size_t k = 0; k < bench->row_count; k++)
        work->tasks[k].wanted = version_is_cuda(bench->rows[k].version);
    return batch_rows(bench, work, false, call_limit);
}

/* Where one call of cpu/serial takes longer than all of its time, the two that made the reference are as good as
 * others. */
static void take_reference_times(const struct bench *bench, struct work *work)
{
    const struct bench_request *request = bench->request;
    const struct bench_task *shared = &work->tasks[request->version_count];

    for (size_t i = 0; i < request->version_count; i++) {
        struct bench_task *task = &work->tasks[i];

        if (task->version != shared->version || request->points || request->reference_untimed ||
            request->seconds <= 0 || !(shared->reference_seconds[1] > request->seconds))
            continue;
        task->first_call = task->first_run = shared->reference_seconds[0];
        task->end_to_end_count = 2;
        memcpy(task->end_to_end, shared->reference_seconds, sizeof shared->reference_seconds);
    }
}

/* In the first round CUDA versions have a child each too, for the first call pays for the start of the runtime; unless
 * nobody wants to know of it. */
static enum status time_round(struct bench *bench, struct work *work, int round, double call_limit)
{
    const struct bench_request *request = bench->request;
    const bool together = round > 0 || request->warm;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < bench->row_count; i++) {
        struct bench_row *row = &bench->rows[i];
        struct bench_task *task = &work->tasks[i];

        if (round == 0)
            TRY(verify_row(bench, work, i, call_limit));
        const bool timed = row->outcome == BENCH_TIMED && bench_has_time_left(task) &&
                           !(row->reference && request->reference_untimed && bench->row_count > 1);

        task->wanted = timed && together && version_is_cuda(row->version);
        task->round = round + (task->wanted && request->warm);
        if (round == 0 && row->reference && task->end_to_end_count > 0 && !timed) {
            summarise(bench, row, task);
            bench_show(bench, row);
        }
        if (round == 0 && row->outcome == BENCH_FAILED)
            bench_show(bench, row);
        if (!timed || task->wanted)
            continue;
        progress("%s: round %d of %d: %s", request->algorithm->name, round + 1, bench_rounds(request),
                 row->version->source->id);
        if (in_child(bench_time_in_child, task, call_limit) != STATUS_OK)
            bench_row_failed(row, "");
        summarise(bench, row, task);
        if (round == 0)
            bench_show(bench, row);
    }
    if (together)
        TRY(batch_rows(bench, work, true, call_limit));
out:
    return status;
}

static enum status time_rows(struct bench *bench, struct work *work, double call_limit)
{
    const struct bench_request *request = bench->request;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < bench->row_count && request->seconds <= 0; i++)
        TRY(verify_row(bench, work, i, call_limit));
    for (int round = 0; round < bench_rounds(request) && request->seconds > 0; round++) {
        progress("%s: round %d of %d: ceilings", request->algorithm->name, round + 1, bench_rounds(request));
        TRY(measure_ceilings(bench, &work->tasks[request->version_count]));
        TRY(time_round(bench, work, round, call_limit));
    }
out:
    return status;
}

enum status bench_run(const struct bench_request *request, struct bench *bench)
{
    const struct algorithm *algorithm = request->algorithm;
    const struct version *serial = serial_version(request);
    struct work work = {0};
    enum status status = STATUS_OK;

    memset(bench, 0, sizeof *bench);
    bench->request = request;
    if (!serial)
        return status_set(STATUS_FAILED, "%s has no cpu/serial to compare with", algorithm->name);
    TRY(work_open(&work, bench, serial));
    params_describe(algorithm, request->params, bench->settings, sizeof bench->settings);
    text_make_plain(bench->settings, sizeof bench->settings);
    set_date(bench->date, sizeof bench->date);
    machine_read(&bench->machine);
    struct bench_task *const shared = &work.tasks[request->version_count];

    /* Without memory for them, each version's child computes the references of its further inputs anew. */
    (void)reference_store_open(VERIFY_REFERENCE_BYTES);
    progress_start();
    progress("%s: computing the reference with cpu/serial", algorithm->name);
    TRY(in_child(bench_reference_in_child, shared, 0));
    memcpy(bench->counts, shared->counts, sizeof bench->counts);
    algorithm->cost(request->in, work.expected[0], request->params, &bench->cost);

    const double call_limit =
        60 + 4 * request->seconds + 50 * larger(shared->reference_seconds[0], shared->reference_seconds[1]);
    take_reference_times(bench, &work);
    begin_rows(bench, &work, serial);
    if (request->points)
        TRY(bench_search(bench, work.tasks, call_limit));
    else
        TRY(time_rows(bench, &work, call_limit));
    for (size_t i = 0; i < bench->row_count; i++)
        work.tasks[i].wanted = work.tasks[i].emulated;
    TRY(batch_rows(bench, &work, false, 10 * call_limit));
    for (size_t i = 0; i < bench->row_count; i++)
        summarise(bench, &bench->rows[i], &work.tasks[i]);
out:
    reference_store_close();
    progress_clear();
    work_close(&work);
    return status;
}

void bench_free(struct bench *bench)
{
    free(bench->rows);
    memset(bench, 0, sizeof *bench);
}
