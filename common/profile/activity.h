/*
 * activity.h: what a GPU did: kernels, copies and memsets, and the calls of the CUDA API that asked for them. Native
 * builds take it from CUPTI's activity records; CUPTI comes with the CUDA Toolkit and is loaded when it is asked for.
 * The emulator reports launches and copies without times. For C files; activity.cu implements it.
 */
#ifndef RUNGS_ACTIVITY_H
#define RUNGS_ACTIVITY_H

#include "common/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts recording and the CUDA runtime; to be called before anything else of CUDA in this process. STATUS_UNSUPPORTED
 * when there is no CUPTI, or it refuses (another profiler is attached); the runtime is started all the same. */
enum status activity_start(void);

/* Waits for the device, ends the recording and adds to *trace TRACE_KERNEL, TRACE_COPY, TRACE_SET and TRACE_API events
 * that began at `from` (trace_now()) or later. Driver calls that the runtime makes inside its own are left out. */
enum status activity_stop(struct trace *trace, double from);

#ifdef __cplusplus
}
#endif
#endif
