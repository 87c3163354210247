/*
 * trace.h: what happened when, as a list of events: calls, steps and phases on the host, parallel regions of OpenMP
 * threads, calls of the CUDA API, and what the GPU did. `rungs profile` records one in a child process and reads it in
 * the parent; trace_write() makes a timeline of it that Perfetto (ui.perfetto.dev) and chrome://tracing open.
 */
#ifndef RUNGS_TRACE_H
#define RUNGS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/core/file.h"
#include "common/core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trace_kind {
    TRACE_CALL,   /* of the version */
    TRACE_STEP,   /* of a pipeline */
    TRACE_PHASE,  /* phase.h */
    TRACE_REGION, /* one thread's part of a parallel region; row = thread number */
    TRACE_WAIT,   /* that thread, waiting for others; row = thread number */
    TRACE_API,    /* a call of the CUDA runtime or driver API; row = operating system's thread */
    TRACE_KERNEL, /* on the GPU; row = stream */
    TRACE_COPY,   /* a transfer; row = stream */
    TRACE_SET,    /* a memset; row = stream */
    TRACE_KINDS
};

/* How a kernel was launched; all 0 for other events. */
struct trace_launch {
    unsigned grid[3], block[3];
    int registers;                     /* per thread; 0 = not known */
    int static_shared, dynamic_shared; /* bytes per block */
    int local;                         /* bytes per thread: spills and arrays that did not fit into registers */
    double occupancy;                  /* theoretical: resident warps / the most that fit; 0 = not known */
    char limit[16];                    /* what bounds it: "registers", "shared", "warps", "blocks" */
};

enum { TRACE_NAME = 120 };

struct trace_event {
    enum trace_kind kind;
    char name[TRACE_NAME];
    double start;        /* seconds, CLOCK_MONOTONIC */
    double seconds;      /* duration; 0 where times mean nothing (emulated) */
    double cpu_seconds;  /* TRACE_REGION: of these, on a core */
    double wait_seconds; /* TRACE_REGION: of these, waiting inside the region */
    int row;
    uint64_t id;    /* TRACE_REGION: which region of the run, the same for all its threads */
    uintptr_t code; /* TRACE_REGION: address of the region's function in the program's file */
    size_t bytes;   /* TRACE_COPY, TRACE_SET */
    struct trace_launch launch;
};

struct trace; /* in memory that parent and child share */

struct trace *trace_create(void); /* NULL when there is no memory */
void trace_free(struct trace *trace);

/* Adds one event; any thread may. Events beyond the trace's capacity are counted, not kept. */
void trace_add(struct trace *trace, const struct trace_event *event);

size_t trace_count(const struct trace *trace);
size_t trace_dropped(const struct trace *trace);
struct trace_event *trace_at(const struct trace *trace, size_t index);
/* By start; to be called when nobody adds events. */
void trace_sort(struct trace *trace);

/* CLOCK_MONOTONIC in seconds. */
double trace_now(void);

/* "blur_kernel<15>" for "void (anonymous namespace)::blur_kernel<15>(image, image, weights, int)": the name without
 * return type, namespaces and parameters; template arguments of more than 32 characters become "...". */
void trace_kernel_name(const char *demangled, char *name, size_t size);

/* "host", "OpenMP", "CUDA API", "GPU ..." rows with their events in Chrome's trace-event format, times from the first
 * event on. `title` is shown as the host process's name, `gpu` as the device's ("" = none). */
enum status trace_write(const struct trace *trace, struct output_file *file, const char *title, const char *gpu);

#ifdef __cplusplus
}
#endif
#endif
