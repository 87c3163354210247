/*
 * judge_load.h: who had the cores while versions were timed.
 */
#ifndef RUNGS_JUDGE_LOAD_H
#define RUNGS_JUDGE_LOAD_H

#include "common/lab/timing.h"

/* Seconds since some moment, the same for all of them. */
struct load {
    double ran, waited; /* of the reference's threads: on a core, and ready to run without one */
    double busy; /* of the cores that this process may use, together: all but idle; negative: the kernel does not say */
    double own;  /* of them: this process and its workers */
    double capacity; /* cores times the time by the clock */
};

void load_read(const struct timing *timing, struct load *load);
/* Between two moments: the share of its time for which the reference was ready to run and had no core. Threads that
 * wake up beside each other wait, too: on two cores it is a quarter for calls of half a millisecond, when nothing else
 * runs. */
double load_waited(const struct load *begin, const struct load *end);
/* The share of the cores that others had; 1 where the kernel does not say. A host takes cores away from its guests in
 * the same way as a program does. */
double load_others(const struct load *begin, const struct load *end);
/* How many threads of a worker ran for at least a tenth of the time of the busiest one; 0: unknown, as some that did
 * have ended. Times say only on a quiet machine whether a version uses all cores; this says it on any. */
int load_threads(const struct remote *worker);

#endif
