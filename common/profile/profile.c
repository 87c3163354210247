#include "common/profile/profile.h"

#include <omp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/contract/pipeline.h"
#include "common/core/process.h"
#include "common/profile/activity.h"
#include "common/trace/mark.h"
#include "common/trace/openmp.h"

extern char **environ;

/* --------------------------------------------------------------------------------------------------- recording */

/* What the child gets and gives, in memory that it shares with the parent. */
struct task {
    const struct bench_request *request;
    const struct version *version;
    int calls; /* 0 = as many as fit */
    bool finished;
    enum status status;
    char message[512];
    struct profile profile;
};

static struct trace *marks; /* where ranges go; NULL = nowhere */

/* Ranges nest, so a start per level is enough; only the thread that makes the calls marks. */
static double started[MARK_LEVELS];

static void range_begins(enum mark_level level, const char *name)
{
    (void)name;
    started[level] = trace_now();
}

static void range_ends(enum mark_level level, const char *name)
{
    static const enum trace_kind kinds[MARK_LEVELS] = {TRACE_CALL, TRACE_STEP, TRACE_PHASE};
    struct trace_event event = {.kind = kinds[level], .start = started[level]};

    if (!marks)
        return;
    event.seconds = trace_now() - event.start;
    snprintf(event.name, sizeof event.name, "%s", name);
    trace_add(marks, &event);
}

/* What both kinds of call need. */
struct calls {
    const struct bench_request *request;
    const struct version *version;
    struct image out[ALGORITHM_MAX_OUTPUTS];
    void *state;
    int in_flight;  /* frames submitted to a pipeline and not received */
    char name[128]; /* of the range */
};

static enum status calls_open(struct calls *calls, const struct bench_request *request, const struct version *version)
{
    enum status status = STATUS_OK;

    *calls = (struct calls){.request = request, .version = version};
    snprintf(calls->name, sizeof calls->name, "%s:%s", request->algorithm->name, version->source->id);
    calls->state = calloc(1, version->state_size ? version->state_size : 1);
    if (!calls->state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
    TRY(request->algorithm->shape(request->in, request->params, calls->out));
    for (int i = 0; i < request->algorithm->output_count; i++) {
        const struct image shape = calls->out[i];

        if (shape.width > 0)
            TRY(image_create_like(&calls->out[i], &shape));
    }
out:
    return status;
}

static void calls_close(struct calls *calls)
{
    if (calls->state && calls->version->teardown)
        calls->version->teardown(calls->state);
    free(calls->state);
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        image_free(&calls->out[i]);
}

/* Of a pipeline: as many frames are in flight as it takes; all are pictures of the second input. */
static enum status next_frame(struct calls *calls)
{
    const struct pipeline *pipeline = calls->version->pipeline;
    enum status status = STATUS_OK;

    for (; calls->in_flight < pipeline->depth; calls->in_flight++)
        TRY(pipeline->submit(calls->state, &calls->request->in[1]));
    calls->in_flight--;
    TRY(pipeline->receive(calls->state, calls->out));
out:
    return status;
}

static enum status call(struct calls *calls, double *seconds)
{
    const struct version *version = calls->version;
    enum status status;
    const double start = trace_now();

    mark(MARK_CALL, calls->name);
    if (version->pipeline)
        status = next_frame(calls);
    else
        status = version->run(calls->state, calls->request->in, calls->out, calls->request->params);
    mark(MARK_CALL, NULL);
    *seconds = trace_now() - start;
    return status;
}

/* The frames still in flight: each is a call too, for each was submitted in one. */
static enum status drain(struct calls *calls, struct profile *profile)
{
    enum status status = STATUS_OK;

    while (calls->in_flight > 0 && profile->calls < PROFILE_MAX_CALLS) {
        const double start = trace_now();

        calls->in_flight--;
        mark(MARK_CALL, calls->name);
        TRY(calls->version->pipeline->receive(calls->state, calls->out));
        mark(MARK_CALL, NULL);
        profile->call_seconds[profile->calls++] = trace_now() - start;
    }
out:
    return status;
}

/* What comes before the calls that are looked at: a pipeline takes in its background and its first frame, a CPU version
 * starts its threads. */
static enum status warm_up(struct calls *calls, double *seconds)
{
    const struct version *version = calls->version;
    const struct image *in = calls->request->in;
    enum status status = STATUS_OK;
    const double start = trace_now();

    *seconds = 0;
    if (version_is_cuda(version) && !version->pipeline)
        return STATUS_OK;
    if (version->pipeline) {
        TRY(version->pipeline->start(calls->state, &in[0], calls->request->params));
        TRY(version->pipeline->submit(calls->state, &in[0]));
        TRY(version->pipeline->receive(calls->state, calls->out));
    } else {
        TRY(version->run(calls->state, in, calls->out, calls->request->params));
    }
    mark(MARK_CALL, NULL);
    *seconds = trace_now() - start;
out:
    return status;
}

/* Whether one more call is due: `asked` for, or as many as fit into a second. */
static bool more_calls(int made, int asked, double elapsed)
{
    if (made == PROFILE_MAX_CALLS)
        return false;
    return asked ? made < asked : made == 0 || (made < PROFILE_CALLS && elapsed < 1);
}

static enum status record(struct task *task)
{
    static const struct mark_listener recorder = {range_begins, range_ends};
    struct profile *profile = &task->profile;
    struct calls calls;
    enum status status = STATUS_OK;
    double from = 0;

    omp_set_num_threads(task->request->threads);
    if (!profile->device)
        counters_open(&profile->counters);
    TRY(calls_open(&calls, task->request, task->version));
    mark_listen(&recorder);
    if (profile->device) {
        status = activity_start();
        if (status == STATUS_UNSUPPORTED)
            snprintf(profile->no_activity, sizeof profile->no_activity, "%s", status_message());
        else if (status != STATUS_OK)
            goto out;
    }
    TRY(warm_up(&calls, &profile->first_call));

    marks = profile->trace;
    openmp_record_start(profile->trace);
    from = trace_now();
    if (!profile->device)
        counters_start(&profile->counters);
    for (profile->calls = 0; more_calls(profile->calls, task->calls, trace_now() - from); profile->calls++)
        TRY(call(&calls, &profile->call_seconds[profile->calls]));
    TRY(drain(&calls, profile));
    if (!profile->device)
        counters_stop(&profile->counters);
    openmp_record_stop();
    marks = NULL;
    if (profile->device) {
        status = activity_stop(profile->trace, from);
        if (status == STATUS_UNSUPPORTED) {
            snprintf(profile->no_activity, sizeof profile->no_activity, "%s", status_message());
            status = STATUS_OK;
        }
    }
out:
    openmp_record_stop();
    marks = NULL;
    if (!profile->device)
        counters_close(&profile->counters);
    calls_close(&calls);
    return status;
}

static int record_in_child(void *argument)
{
    struct task *task = argument;

    task->status = record(task);
    snprintf(task->message, sizeof task->message, "%s", task->status == STATUS_OK ? "" : status_message());
    task->finished = true;
    return task->status == STATUS_OK ? 0 : 1;
}

enum status profile_record(const struct bench_request *request, const struct version *version, int calls,
                           struct profile *profile)
{
    enum status status = STATUS_OK;
    struct task *task = process_shared_allocate(sizeof *task);
    struct process_result result;
    char text[512];

    memset(profile, 0, sizeof *profile);
    profile->trace = trace_create();
    if (!task || !profile->trace) {
        status = status_set(STATUS_NO_MEMORY, "no memory to record in");
        goto out;
    }
    profile->device = version_is_cuda(version);
    task->request = request;
    task->version = version;
    task->calls = calls;
    task->profile = *profile;
    TRY(process_run(record_in_child, task, 3600, &result));
    process_describe(&result, text, sizeof text);
    if (result.signal || result.limit != LIMIT_KEPT)
        status = status_set(STATUS_FAILED, "%s: %s", version->source->id, text);
    else if (!task->finished)
        status = status_set(STATUS_FAILED, "%s ended the process before its work was done", version->source->id);
    else if (task->status != STATUS_OK)
        status = status_set(task->status, "%s: %s", version->source->id, task->message);
    *profile = task->profile;
    trace_sort(profile->trace);
out:
    process_shared_free(task, sizeof *task);
    return status;
}

void profile_free(struct profile *profile)
{
    trace_free(profile->trace);
    memset(profile, 0, sizeof *profile);
}

enum status profile_bare(const struct bench_request *request, const struct version *version, int calls, int *made)
{
    enum status status = STATUS_OK;
    struct calls bare;
    double seconds, start;

    omp_set_num_threads(request->threads);
    TRY(calls_open(&bare, request, version));
    TRY(warm_up(&bare, &seconds));
    start = trace_now();
    for (*made = 0; more_calls(*made, calls, trace_now() - start); ++*made)
        TRY(call(&bare, &seconds));
    for (; bare.in_flight > 0; bare.in_flight--)
        TRY(version->pipeline->receive(bare.state, bare.out));
out:
    calls_close(&bare);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- sums */

static bool same_launch(const struct trace_launch *a, const struct trace_launch *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->dynamic_shared == b->dynamic_shared;
}

static int by_total(const void *a, const void *b)
{
    const struct profile_sum *first = a, *second = b;

    return first->total > second->total ? -1 : first->total < second->total;
}

enum status profile_sums(const struct trace *trace, enum trace_kind first, enum trace_kind last, bool by_launch,
                         struct profile_sum **sums, size_t *count)
{
    size_t capacity = 0;

    *sums = NULL;
    *count = 0;
    for (size_t i = 0; i < trace_count(trace); i++) {
        const struct trace_event *event = trace_at(trace, i);
        size_t k = 0;

        if (event->kind < first || event->kind > last)
            continue;
        while (k < *count && ((*sums)[k].kind != event->kind || strcmp((*sums)[k].name, event->name) != 0 ||
                              (by_launch && !same_launch(&(*sums)[k].launch, &event->launch))))
            k++;
        if (k == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            struct profile_sum *more = realloc(*sums, capacity * sizeof *more);

            if (!more) {
                free(*sums);
                *sums = NULL;
                *count = 0;
                return status_set(STATUS_NO_MEMORY, "no memory to sum up a recording");
            }
            *sums = more;
        }
        struct profile_sum *sum = &(*sums)[k];

        if (k == *count) {
            *sum = (struct profile_sum){
                .kind = event->kind, .least = event->seconds, .most = event->seconds, .launch = event->launch};
            memcpy(sum->name, event->name, sizeof sum->name);
            ++*count;
        }
        sum->count++;
        sum->total += event->seconds;
        sum->least = event->seconds < sum->least ? event->seconds : sum->least;
        sum->most = event->seconds > sum->most ? event->seconds : sum->most;
        sum->bytes += event->bytes;
    }
    /* qsort() may move equals; without times the order of appearance stays. */
    if (*count > 1 && ((*sums)[0].total > 0 || (*sums)[1].total > 0))
        qsort(*sums, *count, sizeof **sums, by_total);
    return STATUS_OK;
}

double profile_gpu_busy(const struct trace *trace)
{
    double busy = 0, until = 0;

    for (size_t i = 0; i < trace_count(trace); i++) {
        const struct trace_event *event = trace_at(trace, i);
        const double end = event->start + event->seconds;

        if (event->kind < TRACE_KERNEL || event->kind > TRACE_SET || end <= until)
            continue;
        busy += end - (event->start > until ? event->start : until);
        until = end;
    }
    return busy;
}

/* ------------------------------------------------------------------------------------------------------- teams */

double profile_imbalance(const struct profile_region *region)
{
    return region->mean > 0 ? region->most / region->mean : 1;
}

static int by_region(const void *a, const void *b)
{
    const struct trace_event *first = *(const struct trace_event *const *)a,
                             *second = *(const struct trace_event *const *)b;

    return first->id < second->id ? -1 : first->id > second->id;
}

/* One run of a region: the events of its threads. */
static void add_run(struct profile_team *team, const struct trace_event *const *events, size_t count)
{
    struct profile_region *region = team->regions;
    double begin = events[0]->start, end = begin, sum = 0, most = 0;

    while (region < team->regions + team->region_count && region->code != events[0]->code)
        region++;
    if (region == team->regions + team->region_count) {
        team->region_count++;
        region->code = events[0]->code;
    }
    for (size_t i = 0; i < count; i++) {
        const double busy = events[i]->seconds - events[i]->wait_seconds;

        begin = events[i]->start < begin ? events[i]->start : begin;
        end = events[i]->start + events[i]->seconds > end ? events[i]->start + events[i]->seconds : end;
        sum += busy;
        most = busy > most ? busy : most;
    }
    for (size_t i = 0; i < count; i++) {
        struct profile_thread *thread = &team->threads[events[i]->row];
        const double busy = events[i]->seconds - events[i]->wait_seconds;

        thread->regions++;
        thread->busy += busy;
        thread->on_core += events[i]->cpu_seconds;
        thread->waiting += end - begin - busy;
    }
    region->count++;
    region->threads = (int)count > region->threads ? (int)count : region->threads;
    region->seconds += end - begin;
    region->mean += sum / (double)count;
    region->most += most;
    team->seconds += end - begin;
}

/* "cpu/blur/1_omp.c:24" of addr2line's "/home/me/rungs/cpu/blur/1_omp.c:24 (discriminator 2)". */
static void keep_place(struct profile_region *region, const char *line)
{
    static const char *const folders[] = {"cpu/", "cuda/", "common/", "peers/", "tests/", "assignments/"};

    if (line[0] == '?')
        return;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *here = strstr(line, folders[i]);

        if (here && (here == line || here[-1] == '/')) {
            line = here;
            break;
        }
    }
    snprintf(region->place, sizeof region->place, "%.*s", (int)strcspn(line, " \n"), line);
}

/* Asks addr2line (of binutils, which comes with every gcc) for all regions at once. */
static void find_places(struct profile_team *team)
{
    enum { MOST = 64 };
    char self[4096], addresses[MOST][24], *line = NULL;
    const char *arguments[MOST + 4] = {"addr2line", "-e", self};
    const size_t count = team->region_count < MOST ? team->region_count : MOST;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    posix_spawn_file_actions_t actions;
    int ends[2];
    size_t size = 0;
    pid_t child;

    for (size_t i = 0; i < team->region_count; i++)
        snprintf(team->regions[i].place, sizeof team->regions[i].place, "region %zu", i + 1);
    if (count == 0 || length < 0 || pipe(ends) != 0)
        return;
    self[length] = '\0';
    for (size_t i = 0; i < count; i++) {
        snprintf(addresses[i], sizeof addresses[i], "%#lx", (unsigned long)team->regions[i].code);
        arguments[3 + i] = addresses[i];
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const int failed = posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    for (size_t i = 0; !failed && lines && i < count && getline(&line, &size, lines) > 0; i++)
        keep_place(&team->regions[i], line);
    if (!failed)
        waitpid(child, NULL, 0);
    if (lines)
        fclose(lines);
    else
        close(ends[0]);
    free(line);
}

enum status profile_team(const struct trace *trace, struct profile_team *team)
{
    const size_t total = trace_count(trace);
    const struct trace_event **events = malloc((total + 1) * sizeof *events);
    size_t count = 0, runs = 0;

    memset(team, 0, sizeof *team);
    for (size_t i = 0; events && i < total; i++) {
        const struct trace_event *event = trace_at(trace, i);

        if (event->kind != TRACE_REGION)
            continue;
        events[count++] = event;
        team->thread_count = event->row >= team->thread_count ? event->row + 1 : team->thread_count;
    }
    if (events)
        qsort(events, count, sizeof *events, by_region);
    for (size_t i = 0; i < count; i++)
        runs += i == 0 || events[i]->id != events[i - 1]->id;
    team->threads = calloc((size_t)team->thread_count + 1, sizeof *team->threads);
    team->regions = calloc(runs + 1, sizeof *team->regions);
    if (!events || !team->threads || !team->regions) {
        free(events);
        profile_team_free(team);
        return status_set(STATUS_NO_MEMORY, "no memory to sum up a recording");
    }
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && events[next]->id == events[i]->id;)
            next++;
        add_run(team, events + i, next - i);
    }
    free(events);
    find_places(team);
    return STATUS_OK;
}

void profile_team_free(struct profile_team *team)
{
    free(team->threads);
    free(team->regions);
    memset(team, 0, sizeof *team);
}
