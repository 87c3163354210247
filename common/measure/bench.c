#include "common/measure/bench.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/core/process.h"
#include "common/core/progress.h"
#include "common/verify/verify.h"

enum {
    MAX_SAMPLES = 1000, /* per version, round and kind of time */
    MAX_SETS = 256,
    MAX_SET_BYTES = 256 << 20,
    POISON = 0xA5 /* what outputs hold before a call */
};

/* What a child gets and gives; lives in memory that it shares with the parent. */
struct task {
    const struct bench_request *request;
    const struct version *version;
    const struct bench_point *point; /* of a search, else NULL */
    const struct image *expected;    /* reference results for sets 0 and 1 */
    bool emulated;
    int sets, round;
    size_t copy_from, copy_to; /* bytes of one call's input and output */
    bool timed;                /* in this round of a search */

    bool finished; /* the child came to its own end; a version can call exit(0) too */
    enum status status;
    char message[512];
    struct verdict verdict;
    double reference_seconds;
    double first_call;
    bool graph;
    int batch;
    size_t end_to_end_count, kernel_count;
    double end_to_end[BENCH_ROUNDS * MAX_SAMPLES], kernel[BENCH_ROUNDS * MAX_SAMPLES];
    struct ceilings ceilings;
    struct device_ceilings device_ceilings;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------ input sets */

/* The content of one set: the image shifted cyclically, by another amount for each set. Inside a parallel region the
 * rows are shared out, so that each part of an image is first touched near the core that will read it. */
static void derive(struct image *to, const struct image *from, int set, int sets)
{
    const int down = (int)((long)set * (from->height / sets + 1) % from->height);
    const int right = (int)((long)set * (from->width / sets + 1) % from->width);
    const size_t pixel = (size_t)from->channels * pixel_size(from->type), cut = (size_t)right * pixel;

#pragma omp for schedule(static) nowait
    for (int y = 0; y < from->height; y++) {
        const char *source = image_row(from, (y + down) % from->height);
        char *target = image_row(to, y);

        memcpy(target, source + cut, image_row_bytes(from) - cut);
        memcpy(target + image_row_bytes(from) - cut, source, cut);
    }
}

struct image_sets {
    int count;
    struct image (*in)[ALGORITHM_MAX_INPUTS];
    struct image *out;
};

static void sets_free(struct image_sets *sets)
{
    for (int set = 0; set < sets->count; set++) {
        for (int i = 0; i < ALGORITHM_MAX_INPUTS && sets->in; i++)
            image_free(&sets->in[set][i]);
        if (sets->out)
            image_free(&sets->out[set]);
    }
    free(sets->in);
    free(sets->out);
    memset(sets, 0, sizeof *sets);
}

static enum status sets_create(struct image_sets *sets, const struct bench_request *request, int count)
{
    enum status status = STATUS_OK;
    struct image shape = {0};

    sets->count = count;
    sets->in = calloc((size_t)count, sizeof *sets->in);
    sets->out = calloc((size_t)count, sizeof *sets->out);
    if (!sets->in || !sets->out)
        return status_set(STATUS_NO_MEMORY, "no memory for %d sets of images", count);
    TRY(request->algorithm->shape(request->in, request->params, &shape));
    for (int set = 0; set < count; set++) {
        for (int i = 0; i < request->algorithm->input_count; i++)
            TRY(image_create_like(&sets->in[set][i], &request->in[i]));
        TRY(image_create_like(&sets->out[set], &shape));
    }
#pragma omp parallel
    for (int set = 0; set < count; set++) {
        for (int i = 0; i < request->algorithm->input_count; i++)
            derive(&sets->in[set][i], &request->in[i], set, count);
#pragma omp for schedule(static) nowait
        for (int y = 0; y < shape.height; y++)
            memset(image_row(&sets->out[set], y), POISON, image_row_bytes(&shape));
    }
out:
    return status;
}

/* Enough sets to exceed the last-level cache, as far as MAX_SET_BYTES go; two at least. */
static int choose_sets(size_t bytes_per_set)
{
    const size_t cache = machine_last_level_cache();
    size_t wanted = cache ? cache + cache / 2 : MAX_SET_BYTES;

    if (wanted > MAX_SET_BYTES)
        wanted = MAX_SET_BYTES;
    wanted = (wanted + bytes_per_set - 1) / bytes_per_set;
    return wanted < 2 ? 2 : wanted > MAX_SETS ? MAX_SETS : (int)wanted;
}

/* ------------------------------------------------------------------------------------------------- comparing */

/* Whether two results agree as far as this version must; NaN never agrees. *found may be put into other words. */
static bool agrees(const struct version *version, const void *params, const struct image in[], struct image *found,
                   const struct image *expected)
{
    const double tolerance = fmax(version->tolerance, version->algorithm->outputs[0].comparison.tolerance);
    const int margin = version->compare_interior ? version->algorithm->radius(params) : 0;

    if (version->normalise)
        version->normalise(in, found, params);
    for (int y = margin; y < expected->height - margin; y++)
        for (int x = margin * expected->channels; x < (expected->width - margin) * expected->channels; x++)
            if (!(fabs(image_sample(found, x / expected->channels, y, x % expected->channels) -
                       image_sample(expected, x / expected->channels, y, x % expected->channels)) <= tolerance))
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

/* Threads and tunables of this task, in the child that does it. */
static void take_settings(const struct task *task)
{
    const struct tunable *tunable = task->version->tunables;

    omp_set_num_threads(task->point ? task->point->threads : task->request->threads);
    for (int i = 0; task->point && tunable && tunable[i].name; i++)
        *tunable[i].value = task->point->values[i];
}

static enum status new_state(const struct version *version, void **state)
{
    *state = calloc(1, version->state_size ? version->state_size : 1);
    return *state ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
}

static void end_state(const struct version *version, void *state)
{
    if (state && version->teardown)
        version->teardown(state);
    free(state);
}

/* The reference results for sets 0 and 1, into the parent's shared memory. */
static int reference_in_child(void *argument)
{
    struct task *task = argument;
    const struct bench_request *request = task->request;
    struct image_sets sets = {0};
    void *state = NULL;
    enum status status = STATUS_OK;

    omp_set_num_threads(request->threads);
    TRY(sets_create(&sets, request, 2));
    TRY(new_state(task->version, &state));
    for (int set = 0; set < 2; set++) {
        /* The two sets of a timing run are numbers 0 and 1 of task->sets, shifted accordingly. */
        struct image expected = task->expected[set];
        const double start = now();

        for (int i = 0; i < request->algorithm->input_count; i++)
            derive(&sets.in[set][i], &request->in[i], set, task->sets);
        TRY(task->version->run(state, sets.in[set], &sets.out[set], request->params));
        image_copy(&expected, &sets.out[set]);
        task->reference_seconds = fmax(task->reference_seconds, now() - start);
    }
out:
    end_state(task->version, state);
    sets_free(&sets);
    return keep(task, status);
}

/* The emulator switches between fibers at every barrier, so it gets a piece of the input: its middle, from a column on
 * that keeps rows aligned as image.h promises. */
static void cut_middle(const struct bench_request *request, struct image in[])
{
    for (int i = 0; i < request->algorithm->input_count; i++) {
        const struct image *whole = &request->in[i];
        struct image *piece = &in[i];

        *piece = *whole;
        if (whole->width > BENCH_EMULATED_WIDTH)
            piece->width = BENCH_EMULATED_WIDTH;
        if (whole->height > BENCH_EMULATED_HEIGHT)
            piece->height = BENCH_EMULATED_HEIGHT;
        const int left = (whole->width - piece->width) / 2 / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
        const int top = (whole->height - piece->height) / 2;
        piece->data = (char *)image_row(whole, top) + (size_t)(left * whole->channels) * pixel_size(whole->type);
    }
}

static enum status verify_piece(struct task *task)
{
    const struct bench_request *request = task->request;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    cut_middle(request, in);
    TRY(verify_reference(request->algorithm, in, request->params, expected));
    TRY(verify_version(task->version, in, request->params, expected, NULL, NULL, &task->verdict));
out:
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        image_free(&expected[i]);
    return status;
}

static enum status verify(struct task *task)
{
    const struct version *version = task->version;
    const struct bench_request *request = task->request;
    const char *why;

    take_settings(task);
    why = version_unavailable(version);
    if (!why && version->declines)
        why = version->declines(request->in, request->params);
    if (why) {
        task->verdict.outcome = OUTCOME_SKIP;
        snprintf(task->verdict.what, sizeof task->verdict.what, "%s", why);
        return STATUS_OK;
    }
    if (task->emulated)
        return verify_piece(task);
    return verify_version(version, request->in, request->params, &task->expected[0], NULL, NULL, &task->verdict);
}

static int verify_in_child(void *argument)
{
    struct task *task = argument;

    return keep(task, verify(task));
}

/* The rotation stops when the median is stable after a quarter of the time, or when the time is over. */
static bool enough(const double *samples, size_t count, double elapsed, double seconds, size_t *next_look)
{
    double sorted[MAX_SAMPLES];
    struct statistics statistics;

    if (count == MAX_SAMPLES || elapsed >= seconds)
        return true;
    if (count < *next_look || elapsed < seconds / 4)
        return false;
    *next_look = count + count / 4 + 1;
    memcpy(sorted, samples, count * sizeof *samples);
    statistics = statistics_of(sorted, count);
    return statistics_stable(&statistics);
}

static enum status wrong_after_timing(const char *what)
{
    return status_set(STATUS_FAILED, "right when verified, but wrong %s", what);
}

/* A slow version has had its budget after a round or two; the others go on. */
static bool has_time_left(const struct task *task)
{
    double used = 0;

    for (size_t i = 0; i < task->end_to_end_count; i++)
        used += task->end_to_end[i];
    return task->end_to_end_count < 3 || used < task->request->seconds;
}

/* Host clock around run(): the samples of one round. */
static enum status time_end_to_end(struct task *task, struct image_sets *sets, double seconds)
{
    const struct bench_request *request = task->request;
    const struct version *version = task->version;
    double *samples = task->end_to_end + task->end_to_end_count;
    enum status status = STATUS_OK;
    size_t count = 0, next_look = STATISTICS_STABLE_SAMPLES;
    void *state = NULL;
    double start = now();
    int set = sets->count - 1;

    TRY(new_state(version, &state));
    if (task->round == 0) {
        TRY(version->run(state, sets->in[set], &sets->out[set], request->params));
        task->first_call = now() - start;
    }
    /* Page faults and the start of threads do not matter to calls that take longer than a round. */
    if (task->round > 0 && task->first_call < seconds)
        TRY(version->run(state, sets->in[set], &sets->out[set], request->params));
    while (now() - start < seconds / 10) {
        set = (set + 1) % sets->count;
        TRY(version->run(state, sets->in[set], &sets->out[set], request->params));
    }
    for (set = 0; set < 2; set++)
        image_fill(&sets->out[set], POISON);

    start = now();
    for (set = 0; !enough(samples, count, now() - start, seconds, &next_look) || count == 0;
         set = (set + 1) % sets->count) {
        const double begin = now();

        TRY(version->run(state, sets->in[set], &sets->out[set], request->params));
        samples[count++] = now() - begin;
    }
    task->end_to_end_count += count;

    for (set = 0; set < 2 && (size_t)set < count; set++)
        if (!agrees(version, request->params, sets->in[set], &sets->out[set], &task->expected[set])) {
            status = wrong_after_timing("in a result that a timed call left");
            goto out;
        }
    if (task->round == BENCH_ROUNDS - 1 || !has_time_left(task)) {
        for (int i = 0; i < request->algorithm->input_count; i++)
            image_copy(&sets->in[0][i], &sets->in[1][i]);
        TRY(version->run(state, sets->in[0], &sets->out[0], request->params));
        if (!agrees(version, request->params, sets->in[1], &sets->out[0], &task->expected[1]))
            status = wrong_after_timing("once the input at the same address had changed: a cached result");
        for (int i = 0; i < request->algorithm->input_count; i++) /* the device timing that follows uploads it */
            derive(&sets->in[0][i], &request->in[i], 0, sets->count);
    }
out:
    end_state(version, state);
    return status;
}

/* Device events around launches: the samples of one round. */
static enum status time_kernel(struct task *task, struct image_sets *sets, double seconds)
{
    const struct bench_request *request = task->request;
    struct device_timing timing = {.version = task->version,
                                   .in = (const struct image(*)[ALGORITHM_MAX_INPUTS])sets->in,
                                   .sets = sets->count,
                                   .out_shape = &sets->out[0],
                                   .params = request->params,
                                   .seconds = seconds,
                                   .samples = task->kernel + task->kernel_count,
                                   .capacity = MAX_SAMPLES};
    enum status status = STATUS_OK;
    void *state = NULL;

    TRY(new_state(task->version, &state));
    for (int i = 0; i < 3; i++)
        TRY(image_create_like(&timing.results[i], &sets->out[0]));
    TRY(bench_device_time(&timing, state));
    task->kernel_count += timing.count;
    task->graph = timing.graph;
    task->batch = timing.batch;
    if (!agrees(task->version, request->params, sets->in[0], &timing.results[0], &task->expected[0]) ||
        !agrees(task->version, request->params, sets->in[1], &timing.results[1], &task->expected[1]))
        status = wrong_after_timing("in a result that a timed launch left");
    else if (!agrees(task->version, request->params, sets->in[1], &timing.results[2], &task->expected[1]))
        status = wrong_after_timing("once the input at the same device address had changed: a cached result");
out:
    end_state(task->version, state);
    for (int i = 0; i < 3; i++)
        image_free(&timing.results[i]);
    return status;
}

static enum status time_task(struct task *task, struct image_sets *sets)
{
    const double seconds = task->request->seconds / BENCH_ROUNDS;
    enum status status = STATUS_OK;

    take_settings(task);
    if (!task->point || !task->version->launch)
        TRY(time_end_to_end(task, sets, seconds));
    if (task->version->launch)
        TRY(time_kernel(task, sets, seconds));
out:
    return status;
}

static int time_in_child(void *argument)
{
    struct task *task = argument;
    struct image_sets sets = {0};
    enum status status = STATUS_OK;

    omp_set_num_threads(task->request->threads);
    TRY(sets_create(&sets, task->request, task->sets));
    TRY(time_task(task, &sets));
out:
    sets_free(&sets);
    return keep(task, status);
}

/* The tasks of a search, for one child after the other; in memory that they share with the parent. */
struct batch {
    struct task *tasks;
    size_t count;
    bool timing;          /* else verifying */
    double limit_seconds; /* of one task */
    size_t next;          /* the one that the child is at */
};

/* Does all tasks from batch->next on; the first that fails ends it, for it may have spoilt the process for others. */
static int batch_in_child(void *argument)
{
    struct batch *batch = argument;
    struct image_sets sets = {0};
    enum status status = STATUS_OK;

    omp_set_num_threads(batch->tasks->request->threads);
    for (; batch->next < batch->count; batch->next++) {
        struct task *task = &batch->tasks[batch->next];

        if (batch->timing && !task->timed)
            continue;
        task->finished = false;
        alarm((unsigned)ceil(batch->limit_seconds));
        if (batch->timing && !sets.in)
            status = sets_create(&sets, task->request, task->sets);
        if (status == STATUS_OK)
            status = batch->timing ? time_task(task, &sets) : verify(task);
        alarm(0);
        if (keep(task, status) != 0)
            break;
    }
    sets_free(&sets);
    return batch->next < batch->count ? 1 : 0;
}

static int ceilings_in_child(void *argument)
{
    struct task *task = argument;
    const struct bench_request *request = task->request;

    omp_set_num_threads(request->threads);
    return keep(task, ceilings_measure(task->copy_from, task->copy_to, task->sets, request->threads,
                                       fmin(request->seconds, 0.6), &task->ceilings));
}

static int device_ceilings_in_child(void *argument)
{
    struct task *task = argument;

    return keep(task, bench_device_ceilings(&task->device_ceilings));
}

/* ------------------------------------------------------------------------------------------------ in the parent */

/* How a child left its task: the failure of either becomes this call's. */
static enum status left_by(const struct process_result *result, const struct task *task)
{
    char text[512];

    if (result->signal == SIGALRM) /* batch_in_child() set its clock */
        return status_set(STATUS_FAILED, "ran past its limit");
    if (result->timed_out || result->signal || (result->exit_code && task->status == STATUS_OK)) {
        process_describe(result, text, sizeof text);
        return status_set(STATUS_FAILED, "%s", text);
    }
    if (!task->finished)
        return status_set(STATUS_FAILED, "ended the process with exit code 0 before its work was done");
    return task->status == STATUS_OK ? STATUS_OK : status_set(task->status, "%s", task->message);
}

/* Runs a child; the failure of body or child becomes this call's. */
static enum status in_child(int (*body)(void *), struct task *task, double limit_seconds)
{
    struct process_result result;
    enum status status;

    task->finished = false;
    status = process_run(body, task, limit_seconds, &result);
    return status == STATUS_OK ? left_by(&result, task) : status;
}

static void row_failed(struct bench_row *row, const char *diagnosis)
{
    row->outcome = BENCH_FAILED;
    snprintf(row->why, sizeof row->why, "%s", status_message());
    snprintf(row->diagnosis, sizeof row->diagnosis, "%s", diagnosis);
    row->kernel = row->end_to_end = (struct statistics){0};
    row->first_call = 0;
}

/* `status`: how the child left the verification. */
static void verdict_row(struct bench_row *row, const struct task *task, enum status status)
{
    const struct verdict *verdict = &task->verdict;

    if (status == STATUS_UNSUPPORTED) {
        row->outcome = BENCH_SKIPPED;
        snprintf(row->why, sizeof row->why, "%s", status_message());
        return;
    }
    if (status != STATUS_OK) {
        row_failed(row, "");
        return;
    }
    row->worst = verdict->worst;
    row->interior = row->version->compare_interior;
    if (verdict->outcome == OUTCOME_SKIP) {
        row->outcome = BENCH_SKIPPED;
        snprintf(row->why, sizeof row->why, "%s", verdict->what);
    } else if (verdict->outcome == OUTCOME_FAIL) {
        status_set(STATUS_FAILED, "%s", verdict->what);
        row_failed(row, verdict->diagnosis);
    } else {
        row->outcome = task->emulated ? BENCH_EMULATED : BENCH_TIMED;
    }
}

static void show_batch(void *argument)
{
    static size_t shown_next, shown_round;
    const struct batch *batch = argument;
    const struct task *task = &batch->tasks[batch->next < batch->count ? batch->next : batch->count - 1];
    const size_t round = batch->timing ? (size_t)task->round + 1 : 0;

    if (shown_next == batch->next + 1 && shown_round == round)
        return;
    shown_next = batch->next + 1;
    shown_round = round;
    if (batch->timing)
        progress("%s: round %zu of %d: point %zu of %zu of %s", task->request->algorithm->name, round, BENCH_ROUNDS,
                 batch->next + 1, batch->count, task->version->source->id);
    else
        progress("%s: verifying point %zu of %zu of %s", task->request->algorithm->name, batch->next + 1, batch->count,
                 task->version->source->id);
}

/* Verifies all tasks, or times once those that are still to be timed. rows[i] is of tasks[i]. */
static enum status run_batch(struct batch *batch, struct bench_row *rows)
{
    enum status status = STATUS_OK;

    for (batch->next = 0; batch->next < batch->count; batch->next++) {
        struct process_result result;
        size_t at = batch->next;

        TRY(process_run_watched(batch_in_child, show_batch, batch, 0, &result));
        for (; at < batch->next && !batch->timing; at++)
            verdict_row(&rows[at], &batch->tasks[at], STATUS_OK);
        if (at == batch->count || batch->next == batch->count)
            break;
        const enum status left = left_by(&result, &batch->tasks[batch->next]);
        if (batch->timing)
            row_failed(&rows[batch->next], "");
        else
            verdict_row(&rows[batch->next], &batch->tasks[batch->next], left);
    }
out:
    return status;
}

/* The searched points: rows and tasks from 1 on. */
static enum status bench_points(struct bench *bench, struct task *tasks, double limit_seconds)
{
    enum status status = STATUS_OK;
    struct batch *batch = process_shared_allocate(sizeof *batch);

    if (!batch)
        return status_set(STATUS_NO_MEMORY, "no memory for the search");
    batch->tasks = tasks + 1;
    batch->count = bench->row_count - 1;
    batch->limit_seconds = limit_seconds;
    TRY(run_batch(batch, bench->rows + 1));
    batch->timing = true;
    for (int round = 0; round < BENCH_ROUNDS && bench->request->seconds > 0; round++) {
        for (size_t i = 1; i < bench->row_count; i++) {
            tasks[i].timed = bench->rows[i].outcome == BENCH_TIMED && has_time_left(&tasks[i]);
            tasks[i].round = round;
        }
        TRY(run_batch(batch, bench->rows + 1));
    }
out:
    process_shared_free(batch, sizeof *batch);
    return status;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A ceiling is the best that was seen in any round. */
static enum status measure_ceilings(struct bench *bench, struct task *task)
{
    enum status status = STATUS_OK;

    TRY(in_child(ceilings_in_child, task, 120));
    bench->ceilings.copy_bytes_per_second =
        larger(bench->ceilings.copy_bytes_per_second, task->ceilings.copy_bytes_per_second);
    bench->ceilings.multiply_accumulates_per_second =
        larger(bench->ceilings.multiply_accumulates_per_second, task->ceilings.multiply_accumulates_per_second);
    bench->ceilings.multiply_accumulate_by = task->ceilings.multiply_accumulate_by;
    if (bench->machine.gpu[0]) {
        TRY(in_child(device_ceilings_in_child, task, 120));
        bench->device_ceilings.copy_bytes_per_second =
            larger(bench->device_ceilings.copy_bytes_per_second, task->device_ceilings.copy_bytes_per_second);
        bench->device_ceilings.multiply_accumulates_per_second =
            larger(bench->device_ceilings.multiply_accumulates_per_second,
                   task->device_ceilings.multiply_accumulates_per_second);
    }
out:
    return status;
}

static void set_limit(const struct bench *bench, struct bench_row *row)
{
    const bool device = version_is_cuda(row->version);
    const double copy = device ? bench->device_ceilings.copy_bytes_per_second : bench->ceilings.copy_bytes_per_second;
    const double rate = device ? bench->device_ceilings.multiply_accumulates_per_second
                               : bench->ceilings.multiply_accumulates_per_second;
    const double for_bytes = copy > 0 ? bench->cost.bytes / copy : 0;
    const double for_operations = rate > 0 ? bench->cost.operations[OPERATION_MULTIPLY_ADD_8] / rate : 0;

    row->limit = larger(for_bytes, for_operations);
    row->bound = row->limit <= 0              ? BENCH_BOUND_NONE
                 : for_operations > for_bytes ? BENCH_BOUND_OPERATIONS
                                              : BENCH_BOUND_BYTES;
}

static void summarise(struct bench *bench, struct bench_row *row, struct task *task)
{
    if (row->outcome != BENCH_TIMED || task->end_to_end_count + task->kernel_count == 0)
        return;
    row->first_call = task->first_call;
    row->end_to_end = statistics_of(task->end_to_end, task->end_to_end_count);
    row->graph = task->graph;
    row->batch = row->version->launch ? task->batch : 1;
    row->kernel = row->version->launch ? statistics_of(task->kernel, task->kernel_count) : row->end_to_end;
    set_limit(bench, row);
}

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

enum status bench_run(const struct bench_request *request, struct bench *bench)
{
    const struct algorithm *algorithm = request->algorithm;
    const struct version *serial = serial_version(request);
    struct image shape = {0}, expected[2] = {{0}};
    enum status status = STATUS_OK;
    struct task *tasks = NULL;
    size_t expected_bytes = 0, input_bytes = 0;
    const size_t task_bytes = (request->version_count + 1) * sizeof *tasks;

    memset(bench, 0, sizeof *bench);
    bench->request = request;
    if (!serial)
        return status_set(STATUS_FAILED, "%s has no cpu/serial to compare with", algorithm->name);
    TRY(algorithm->shape(request->in, request->params, &shape));
    algorithm->cost(request->in, NULL, request->params, &bench->cost);
    params_describe(algorithm, request->params, bench->settings, sizeof bench->settings);
    set_date(bench->date, sizeof bench->date);
    machine_read(&bench->machine);

    shape.stride = image_minimal_stride(&shape);
    expected_bytes = shape.stride * (size_t)shape.height;
    for (int i = 0; i < algorithm->input_count; i++)
        input_bytes += request->in[i].stride * (size_t)request->in[i].height;
    bench->sets = choose_sets(input_bytes + expected_bytes);

    bench->rows = calloc(request->version_count, sizeof *bench->rows);
    tasks = process_shared_allocate(task_bytes);
    for (int set = 0; set < 2; set++) {
        expected[set] = shape;
        expected[set].data = process_shared_allocate(expected_bytes);
    }
    if (!bench->rows || !tasks || !expected[0].data || !expected[1].data) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the bench");
        goto out;
    }
    bench->row_count = request->version_count;
    for (size_t i = 0; i <= request->version_count; i++) {
        tasks[i].request = request;
        tasks[i].version = i < request->version_count ? request->versions[i] : serial;
        tasks[i].point = request->points && i < request->version_count ? &request->points[i] : NULL;
        tasks[i].expected = expected;
        tasks[i].sets = bench->sets;
        tasks[i].copy_from = input_bytes;
        tasks[i].copy_to = expected_bytes;
    }
    struct task *const shared = &tasks[request->version_count]; /* of no version: reference and ceilings */

    progress_start();
    progress("%s: computing the reference with cpu/serial", algorithm->name);
    TRY(in_child(reference_in_child, shared, 0));

    const double call_limit = 60 + 4 * request->seconds + 50 * shared->reference_seconds;
    for (size_t i = 0; i < bench->row_count; i++) {
        struct bench_row *row = &bench->rows[i];

        row->version = request->versions[i];
        row->reference = row->version == serial;
        if (row->reference || request->points)
            continue;
        tasks[i].emulated = bench->machine.emulated && version_is_cuda(row->version);
        progress("%s: verifying %s%s", algorithm->name, row->version->source->id,
                 tasks[i].emulated ? " in the emulator" : "");
        const double limit = tasks[i].emulated ? 10 * call_limit : call_limit;
        verdict_row(row, &tasks[i], in_child(verify_in_child, &tasks[i], limit));
    }
    if (request->points)
        TRY(bench_points(bench, tasks, call_limit));
    for (int round = 0; round < BENCH_ROUNDS && request->seconds > 0 && !request->points; round++) {
        progress("%s: round %d of %d: ceilings", algorithm->name, round + 1, BENCH_ROUNDS);
        TRY(measure_ceilings(bench, shared));
        for (size_t i = 0; i < bench->row_count; i++) {
            struct bench_row *row = &bench->rows[i];

            if (row->outcome != BENCH_TIMED || !has_time_left(&tasks[i]) ||
                (row->reference && request->reference_untimed && bench->row_count > 1))
                continue;
            progress("%s: round %d of %d: %s", algorithm->name, round + 1, BENCH_ROUNDS, row->version->source->id);
            tasks[i].round = round;
            if (in_child(time_in_child, &tasks[i], call_limit) != STATUS_OK)
                row_failed(row, "");
        }
    }
    for (size_t i = 0; i < bench->row_count; i++)
        summarise(bench, &bench->rows[i], &tasks[i]);
out:
    progress_clear();
    for (int set = 0; set < 2; set++)
        if (expected[set].data)
            process_shared_free(expected[set].data, expected_bytes);
    if (tasks)
        process_shared_free(tasks, task_bytes);
    return status;
}

void bench_free(struct bench *bench)
{
    free(bench->rows);
    memset(bench, 0, sizeof *bench);
}

/* ------------------------------------------------------------------------------------------------ reading rows */

const struct bench_row *bench_find(const struct bench *bench, const struct version *version)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].version == version)
            return &bench->rows[i];
    return NULL;
}

const struct bench_row *bench_reference(const struct bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].reference)
            return &bench->rows[i];
    return NULL;
}

const struct bench_row *bench_below(const struct bench *bench, const struct bench_row *row)
{
    const struct version *below = version_below(row->version);
    const struct bench_row *found = below ? bench_find(bench, below) : NULL;

    return found && found->outcome == BENCH_TIMED ? found : NULL;
}

bool bench_any_failed(const struct bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].outcome == BENCH_FAILED)
            return true;
    return false;
}

struct bench_ratio bench_ratio(const struct statistics *a, const struct statistics *b)
{
    struct bench_ratio ratio = {0, false};

    if (a->count > 0 && b->count > 0 && b->median > 0) {
        ratio.times = a->median / b->median;
        ratio.differs = statistics_differ(a, b);
    }
    return ratio;
}

double bench_limit_fraction(const struct bench_row *row)
{
    return row->limit > 0 && row->kernel.count > 0 ? row->limit / row->kernel.median : 0;
}
