#include "common/trace/trace.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/core/json_file.h"
#include "common/core/process.h"

/* 34 MB of address space; the kernel gives pages as they are written. */
enum { CAPACITY = 1 << 17 };

struct trace {
    _Atomic size_t count;
    struct trace_event events[CAPACITY];
};

struct trace *trace_create(void)
{
    return process_shared_allocate(sizeof(struct trace));
}

void trace_free(struct trace *trace)
{
    process_shared_free(trace, sizeof *trace);
}

void trace_add(struct trace *trace, const struct trace_event *event)
{
    const size_t index = atomic_fetch_add(&trace->count, 1);

    if (index < CAPACITY)
        trace->events[index] = *event;
}

size_t trace_count(const struct trace *trace)
{
    const size_t count = atomic_load(&trace->count);

    return count < CAPACITY ? count : CAPACITY;
}

size_t trace_dropped(const struct trace *trace)
{
    return atomic_load(&trace->count) - trace_count(trace);
}

struct trace_event *trace_at(const struct trace *trace, size_t index)
{
    return (struct trace_event *)&trace->events[index];
}

/* Of two that start together the longer one first: it contains the other. */
static int by_start(const void *a, const void *b)
{
    const struct trace_event *first = a, *second = b;

    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    if (first->seconds != second->seconds)
        return first->seconds > second->seconds ? -1 : 1;
    return (int)first->kind - (int)second->kind;
}

void trace_sort(struct trace *trace)
{
    qsort(trace->events, trace_count(trace), sizeof *trace->events, by_start);
}

double trace_now(void)
{
    return clock_seconds();
}

/* ------------------------------------------------------------------------------------------------------- names */

/* Where the parameter list of a demangled function begins: the last '(' at depth 0 of <>, or the end. */
static size_t name_end(const char *text)
{
    size_t end = strlen(text);
    int angle = 0;

    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '<')
            angle++;
        else if (text[i] == '>')
            angle--;
        else if (text[i] == '(' && angle == 0 && strncmp(text + i, "(anonymous namespace)", 21) != 0)
            return i;
    }
    return end;
}

void trace_kernel_name(const char *demangled, char *name, size_t size)
{
    enum { MOST_ARGUMENTS = 32 };
    const size_t end = name_end(demangled);
    size_t begin = 0, open = end;
    int angle = 0;

    /* Everything up to the last blank or "::" outside of <> is return type and namespaces. */
    for (size_t i = 0; i < end; i++) {
        if (demangled[i] == '<' && angle++ == 0)
            open = i;
        else if (demangled[i] == '>')
            angle--;
        else if (angle == 0 && (demangled[i] == ' ' || demangled[i] == ':')) {
            begin = i + 1;
            open = end;
        }
    }
    if (end - open > MOST_ARGUMENTS)
        snprintf(name, size, "%.*s<...>", (int)(open - begin), demangled + begin);
    else
        snprintf(name, size, "%.*s", (int)(end - begin), demangled + begin);
}

/* ---------------------------------------------------------------------------------------------------- timeline */

/* Rows of the timeline: a "process" for the host and one for the GPU, a "thread" for each row in it. */
enum { PROCESS_HOST = 1, PROCESS_GPU = 2 };
enum { ROW_CALLS = 1, ROW_API = 100, ROW_OPENMP = 1000 };
enum { GPU_KERNELS = 0, GPU_UPLOADS = 1, GPU_DOWNLOADS = 2, GPU_OTHERS = 3, GPU_ROWS = 4 };

static int copy_row(const struct trace_event *event)
{
    if (event->kind == TRACE_KERNEL)
        return GPU_KERNELS;
    return strstr(event->name, "HtoD") ? GPU_UPLOADS : strstr(event->name, "DtoH") ? GPU_DOWNLOADS : GPU_OTHERS;
}

/* API calls come from few threads; each gets its own row. */
struct api_threads {
    int count, ids[64];
};

static int api_row(struct api_threads *threads, int id)
{
    int i = 0;

    while (i < threads->count && threads->ids[i] != id)
        i++;
    if (i == threads->count && threads->count < (int)(sizeof threads->ids / sizeof threads->ids[0]))
        threads->ids[threads->count++] = id;
    return ROW_API + i;
}

static void place(const struct trace_event *event, struct api_threads *threads, int *process, int *row)
{
    *process = PROCESS_HOST;
    switch (event->kind) {
    case TRACE_REGION:
    case TRACE_WAIT:
        *row = ROW_OPENMP + event->row;
        break;
    case TRACE_API:
        *row = api_row(threads, event->row);
        break;
    case TRACE_KERNEL:
    case TRACE_COPY:
    case TRACE_SET:
        *process = PROCESS_GPU;
        *row = GPU_ROWS * event->row + copy_row(event);
        break;
    default:
        *row = ROW_CALLS;
    }
}

static void row_name(int process, int row, char *text, size_t size)
{
    static const char *const kinds[] = {"kernels", "copies to the device", "copies to the host",
                                        "other copies, memset"};

    if (process == PROCESS_GPU)
        snprintf(text, size, "stream %d: %s", row / GPU_ROWS, kinds[row % GPU_ROWS]);
    else if (row >= ROW_OPENMP)
        snprintf(text, size, "OpenMP thread %d", row - ROW_OPENMP);
    else if (row >= ROW_API)
        snprintf(text, size, "CUDA API%s", row == ROW_API ? "" : ", another thread");
    else
        snprintf(text, size, "calls, steps, phases");
}

static json_t *metadata(const char *what, int process, int row, json_t *arguments)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:o}", "name", what, "ph", "M", "pid", process, "tid", row, "args",
                     arguments);
}

static json_t *arguments_of(const struct trace_event *event)
{
    const struct trace_launch *launch = &event->launch;
    json_t *arguments = json_object();

    if (event->kind == TRACE_KERNEL) {
        json_object_set_new(arguments, "grid",
                            json_pack("[i, i, i]", (int)launch->grid[0], (int)launch->grid[1], (int)launch->grid[2]));
        json_object_set_new(
            arguments, "block",
            json_pack("[i, i, i]", (int)launch->block[0], (int)launch->block[1], (int)launch->block[2]));
        json_object_set_new(arguments, "registers", json_integer(launch->registers));
        json_object_set_new(arguments, "static shared bytes", json_integer(launch->static_shared));
        json_object_set_new(arguments, "dynamic shared bytes", json_integer(launch->dynamic_shared));
        json_object_set_new(arguments, "theoretical occupancy", json_real(launch->occupancy));
    }
    if (event->kind == TRACE_COPY || event->kind == TRACE_SET) {
        json_object_set_new(arguments, "bytes", json_integer((json_int_t)event->bytes));
        if (event->seconds > 0)
            json_object_set_new(arguments, "GB/s", json_real(1e-9 * (double)event->bytes / event->seconds));
    }
    if (event->kind == TRACE_REGION)
        json_object_set_new(arguments, "on a core, us", json_real(1e6 * event->cpu_seconds));
    return arguments;
}

static json_t *event_json(const struct trace_event *event, double origin, int process, int row)
{
    static const char *const categories[TRACE_KINDS] = {"call", "step",   "phase", "region", "wait",
                                                        "api",  "kernel", "copy",  "memset"};

    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i, s:o}", "name", event->name, "cat", categories[event->kind],
                     "ph", "X", "ts", 1e6 * (event->start - origin), "dur", 1e6 * event->seconds, "pid", process, "tid",
                     row, "args", arguments_of(event));
}

static void name_process(json_t *events, int process, const char *name)
{
    json_array_append_new(events, metadata("process_name", process, 0, json_pack("{s:s}", "name", name)));
    json_array_append_new(events,
                          metadata("process_sort_index", process, 0, json_pack("{s:i}", "sort_index", process)));
}

/* Names each row when its first event comes. */
static void name_row(json_t *events, json_t *named, int process, int row)
{
    char key[32], name[64];

    snprintf(key, sizeof key, "%d/%d", process, row);
    if (json_object_get(named, key))
        return;
    json_object_set_new(named, key, json_true());
    row_name(process, row, name, sizeof name);
    json_array_append_new(events, metadata("thread_name", process, row, json_pack("{s:s}", "name", name)));
    json_array_append_new(events, metadata("thread_sort_index", process, row, json_pack("{s:i}", "sort_index", row)));
}

enum status trace_write(const struct trace *trace, struct output_file *file, const char *title, const char *gpu)
{
    const size_t count = trace_count(trace);
    double origin = count ? trace_at(trace, 0)->start : 0;
    struct api_threads threads = {0};
    json_t *events = json_array(), *named = json_object();

    for (size_t i = 0; i < count; i++)
        if (trace_at(trace, i)->start < origin)
            origin = trace_at(trace, i)->start;
    name_process(events, PROCESS_HOST, title);
    if (gpu[0])
        name_process(events, PROCESS_GPU, gpu);
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = trace_at(trace, i);
        int process, row;

        place(event, &threads, &process, &row);
        name_row(events, named, process, row);
        json_array_append_new(events, event_json(event, origin, process, row));
    }
    json_decref(named);
    return json_file_write(json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ns"), 15, file);
}
