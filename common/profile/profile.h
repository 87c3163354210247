/*
 * profile.h: where the time of one version's calls goes: recording them in a child process, and summing up what was
 * recorded. What `rungs profile` prints.
 */
#ifndef RUNGS_PROFILE_H
#define RUNGS_PROFILE_H

#include "common/measure/bench.h"
#include "common/trace/counters.h"
#include "common/trace/trace.h"

enum { PROFILE_MAX_CALLS = 1000, PROFILE_CALLS = 10 };

/* What a recording left, beside its trace. */
struct profile {
    struct trace *trace; /* sorted by start */
    int calls;
    double first_call;                      /* seconds; of what came before the recording, 0 = nothing did */
    double call_seconds[PROFILE_MAX_CALLS]; /* of run(), host clock */
    bool device;                            /* the version works on the GPU or in the emulator */
    struct counters counters;               /* CPU versions */
    char no_activity[256];                  /* why there are no records of the GPU; "" = there are */
};

/* Calls run() `calls` times (0: up to PROFILE_CALLS times in a second, at least once) on the request's input, in a
 * child process, and records. A CPU version is called once before, which starts its threads; a CUDA version is recorded
 * from its first call on (allocations show), with the CUDA runtime started before. A pipeline (pipeline.h) takes in its
 * background and first frame before, and its calls are frames. STATUS_FAILED when a call failed;
 * *profile must be freed in either case. */
enum status profile_record(const struct bench_request *request, const struct version *version, int calls,
                           struct profile *profile);
void profile_free(struct profile *profile);

/* The same calls without any recording, in this process: for nsys, ncu, perf and other tools to watch. */
enum status profile_bare(const struct bench_request *request, const struct version *version, int calls, int *made);

/* Events of the same name taken together; in a list by launch, also of the same launch shape. */
struct profile_sum {
    enum trace_kind kind;
    char name[TRACE_NAME];
    size_t count;
    double total, least, most;  /* seconds */
    size_t bytes;               /* of all */
    struct trace_launch launch; /* of the first */
};

/* Sums the events whose kind is first..last, largest total first (order of appearance where there are no times).
 * *sums is to be freed with free(). */
enum status profile_sums(const struct trace *trace, enum trace_kind first, enum trace_kind last, bool by_launch,
                         struct profile_sum **sums, size_t *count);

/* Seconds in which the GPU had at least one kernel, copy or memset at work; the trace must be sorted. */
double profile_gpu_busy(const struct trace *trace);

/* What one OpenMP thread did in all parallel regions. */
struct profile_thread {
    size_t regions;
    double busy;    /* seconds in the regions' code */
    double on_core; /* of the time inside the regions, waits included: on a core (a thread that spins is on one) */
    double waiting; /* for other threads: at barriers, for a region's start and its end */
};

/* One parallel region of the source, over all calls. */
struct profile_region {
    uintptr_t code;
    char place[256];   /* "cpu/blur/1_omp.c:24"; "region 1" when that cannot be found */
    size_t count;      /* times it ran */
    int threads;       /* the most it ran with */
    double seconds;    /* from its first thread's start to its last thread's end, summed */
    double mean, most; /* busy time of its threads: mean, and of the slowest, summed over its runs */
};

struct profile_team {
    struct profile_thread *threads;
    int thread_count;
    struct profile_region *regions;
    size_t region_count;
    double seconds; /* in parallel regions */
};

/* Sums up TRACE_REGION events and looks up where the regions are in the source (through addr2line, where that is
 * installed). *team is to be freed with profile_team_free(). */
enum status profile_team(const struct trace *trace, struct profile_team *team);
void profile_team_free(struct profile_team *team);

/* most / mean: how many times as long the slowest thread works as a thread does on average; 1 = perfectly balanced. */
double profile_imbalance(const struct profile_region *region);

#endif
