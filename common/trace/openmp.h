/*
 * openmp.h: what the threads of OpenMP did, and when.
 *
 * gcc turns a parallel region into a function and a call of its run-time library, libgomp. The linker sends those calls
 * through here (--wrap, see the Makefile): while a recording is on, each thread's part of a region and its waits at
 * barriers inside are noted as they happen, exactly, without sampling. OpenMP's own interface for tools (OMPT) does
 * not exist in libgomp. Without a recording a region costs one more test; other compilers' libraries are called by
 * other names and not seen.
 */
#ifndef RUNGS_OPENMP_H
#define RUNGS_OPENMP_H

#include <stdbool.h>

#include "common/trace/trace.h"

/* Whether this build can: it was made by gcc. */
bool openmp_can_record(void);

/* From now on every outermost parallel region adds to *trace one TRACE_REGION event per thread, and TRACE_WAIT events
 * for waits, the one at the region's end included. Clock readings cost about 0.5 us per thread and region. */
void openmp_record_start(struct trace *trace);
void openmp_record_stop(void);

/* From now on one thread of a team comes 0.3 ms late to the region, and one, mostly another, leaves each barrier as
 * much later than the rest: a race in which a thread must be late shows then. The lot says which; 0: nobody, as at
 * the start. The first eight times only. Does nothing in a build of another compiler, as above. */
void openmp_hold_up(uint64_t lot);

#endif
