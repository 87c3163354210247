#include "common/trace/openmp.h"

#include <stdio.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)

#include <elf.h>
#include <link.h>
#include <omp.h>
#include <stdatomic.h>

enum { MOST_THREADS = 1024 };

static struct trace *recording; /* NULL = off; changes only outside of parallel regions */
static _Atomic uint64_t regions;
static _Thread_local double waited; /* by this thread, in the region that it is in */

/* A region at work: what its threads need to know, and where each leaves its end. */
struct region {
    void (*function)(void *);
    void *data;
    uint64_t id;
    double ends[MOST_THREADS]; /* 0 = a thread that did not take part */
};

static double core_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

extern const ElfW(Ehdr) __executable_start; /* the linker's: the program's first byte in memory */

/* A function's address as the program's file has it: a position-independent program is loaded anywhere. */
static uintptr_t address_in_file(void (*function)(void *))
{
    return (uintptr_t)function - (__executable_start.e_type == ET_DYN ? (uintptr_t)&__executable_start : 0);
}

bool openmp_can_record(void)
{
    return true;
}

void openmp_record_start(struct trace *trace)
{
    recording = trace;
}

void openmp_record_stop(void)
{
    recording = NULL;
}

/* What a thread of a recorded region runs in the function's place. */
static void in_region(void *argument)
{
    struct region *region = argument;
    struct trace_event event = {.kind = TRACE_REGION, .row = omp_get_thread_num(), .id = region->id};

    waited = 0;
    event.start = trace_now();
    event.cpu_seconds = -core_time();
    region->function(region->data);
    event.cpu_seconds += core_time();
    const double end = trace_now();
    event.seconds = end - event.start;
    event.wait_seconds = waited;
    event.code = address_in_file(region->function);
    trace_add(recording, &event);
    if (event.row < MOST_THREADS)
        region->ends[event.row] = end;
}

static void add_wait(const char *name, int thread, double start, double end)
{
    struct trace_event event = {.kind = TRACE_WAIT, .row = thread, .start = start, .seconds = end - start};

    snprintf(event.name, sizeof event.name, "%s", name);
    trace_add(recording, &event);
}

static bool outermost(void)
{
    return recording && omp_get_level() == 0;
}

/* ------------------------------------------------------------------------------------------- a thread that is late */

enum { MOST_HOLDS = 8 }; /* of all that a lot holds up: a call may have thousands of regions */
static const struct timespec hold = {.tv_nsec = 300 * 1000}; /* longer than a small picture takes */

static uint64_t held_lot; /* 0 = nobody; changes only outside of parallel regions */
static _Atomic int holds;
static _Thread_local uint64_t places; /* of the region, at which this thread could have been held up */

struct held_region {
    void (*function)(void *);
    void *data;
};

void openmp_hold_up(uint64_t lot)
{
    held_lot = lot;
    holds = MOST_HOLDS;
}

/* All threads of a team come to the same places: at each of them one, by lot, waits. */
static void come_late(void)
{
    const int threads = omp_get_num_threads();
    const uint64_t late = (held_lot + places++ * 0x9e3779b97f4a7c15) >> 11;

    if (threads > 1 && (int)(late % (uint64_t)threads) == omp_get_thread_num() && atomic_fetch_sub(&holds, 1) > 0)
        nanosleep(&hold, NULL);
}

static void in_held_region(void *argument)
{
    const struct held_region *region = argument;

    places = 0;
    come_late();
    region->function(region->data);
}

/* ----------------------------------------------------------------------------------------------------- the wraps */

static void begin(struct region *region, void (*function)(void *), void *data)
{
    region->function = function;
    region->data = data;
    region->id = atomic_fetch_add(&regions, 1) + 1;
}

/* The threads that were done before the last one waited for it. */
static void end(const struct region *region)
{
    double last = 0;

    for (int i = 0; i < MOST_THREADS; i++)
        if (region->ends[i] > last)
            last = region->ends[i];
    for (int i = 0; i < MOST_THREADS; i++)
        if (region->ends[i] > 0 && region->ends[i] < last)
            add_wait("wait: end of region", i, region->ends[i], last);
}

/* libgomp's entry points, as gcc calls them (libgomp/libgomp_g.h of the compiler). __real_X is libgomp's X, and
 * __wrap_X what a call of X in this program reaches. */
#define WRAP_REGION(name, parameters, ...)                                                                             \
    void __real_##name parameters;                                                                                     \
    void __wrap_##name parameters;                                                                                     \
    void __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        void (*const called)(void *) = function;                                                                       \
        struct held_region held = {function, data};                                                                    \
                                                                                                                       \
        if (held_lot && holds > 0) {                                                                                   \
            function = in_held_region;                                                                                 \
            data = &held;                                                                                              \
        }                                                                                                              \
        if (!outermost()) {                                                                                            \
            __real_##name(__VA_ARGS__);                                                                                \
            return;                                                                                                    \
        }                                                                                                              \
        struct region region = {0};                                                                                    \
        begin(&region, called, data);                                                                                  \
        function = in_region;                                                                                          \
        data = &region;                                                                                                \
        __real_##name(__VA_ARGS__);                                                                                    \
        end(&region);                                                                                                  \
    }

#define WRAP_LOOP(name)                                                                                                \
    WRAP_REGION(name,                                                                                                  \
                (void (*function)(void *), void *data, unsigned threads, long first, long last, long step, long chunk, \
                 unsigned flags),                                                                                      \
                function, data, threads, first, last, step, chunk, flags)
#define WRAP_RUNTIME_LOOP(name)                                                                                        \
    WRAP_REGION(                                                                                                       \
        name,                                                                                                          \
        (void (*function)(void *), void *data, unsigned threads, long first, long last, long step, unsigned flags),    \
        function, data, threads, first, last, step, flags)

WRAP_REGION(GOMP_parallel, (void (*function)(void *), void *data, unsigned threads, unsigned flags), function, data,
            threads, flags)
WRAP_REGION(GOMP_parallel_sections,
            (void (*function)(void *), void *data, unsigned threads, unsigned count, unsigned flags), function, data,
            threads, count, flags)
WRAP_LOOP(GOMP_parallel_loop_static)
WRAP_LOOP(GOMP_parallel_loop_dynamic)
WRAP_LOOP(GOMP_parallel_loop_guided)
WRAP_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
WRAP_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define WRAP_WAIT(name, what)                                                                                          \
    void __real_##name(void);                                                                                          \
    void __wrap_##name(void);                                                                                          \
    void __wrap_##name(void)                                                                                           \
    {                                                                                                                  \
        const bool noted = recording && omp_get_level() == 1;                                                          \
        const double start = noted ? trace_now() : 0;                                                                  \
                                                                                                                       \
        __real_##name();                                                                                               \
        if (noted) {                                                                                                   \
            const double end = trace_now();                                                                            \
                                                                                                                       \
            waited += end - start;                                                                                     \
            add_wait(what, omp_get_thread_num(), start, end);                                                          \
        }                                                                                                              \
        if (held_lot)                                                                                                  \
            come_late();                                                                                               \
    }

WRAP_WAIT(GOMP_barrier, "wait: barrier")
WRAP_WAIT(GOMP_loop_end, "wait: end of loop")
WRAP_WAIT(GOMP_sections_end, "wait: end of sections")
WRAP_WAIT(GOMP_critical_start, "wait: critical section")

#else

bool openmp_can_record(void)
{
    return false;
}

void openmp_record_start(struct trace *trace)
{
    (void)trace;
}

void openmp_record_stop(void)
{
}

void openmp_hold_up(uint64_t lot)
{
    (void)lot;
}

#endif
