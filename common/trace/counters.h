/*
 * counters.h: what the processor and the operating system counted while some code ran: hardware counters through
 * perf_event_open(2), where the machine has them and the kernel permits it, and getrusage(2).
 */
#ifndef RUNGS_COUNTERS_H
#define RUNGS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum counter {
    COUNTER_CYCLES,
    COUNTER_INSTRUCTIONS,
    COUNTER_CACHE_REFERENCES, /* of the last-level cache, as the processor defines it */
    COUNTER_CACHE_MISSES,
    COUNTER_BRANCHES,
    COUNTER_BRANCH_MISSES,
    COUNTER_KINDS
};

struct counters {
    int handles[COUNTER_KINDS]; /* -1 = not counted */
    double
        values[COUNTER_KINDS]; /* in user mode, all threads; scaled up where the processor took turns; -1 = unknown */
    double turns;              /* the least part of the time that a counter was on, 1 = all */
    char missing[200];         /* why some are not counted, in one line; "" = all are */
    /* getrusage() */
    double user_seconds, system_seconds;
    long page_faults, voluntary_switches, involuntary_switches;
};

/* "cycles", "cache misses" */
const char *counter_name(enum counter counter);

/* Opens the counters for the calling thread and all that it starts from now on (so: before the first parallel region),
 * stopped at 0. What cannot be counted is left out and said in ->missing. */
void counters_open(struct counters *counters);
/* Between these two the counters run. */
void counters_start(struct counters *counters);
void counters_stop(struct counters *counters);
void counters_close(struct counters *counters);

#ifdef __cplusplus
}
#endif
#endif
