/*
 * step.h: which step of a pipeline is at work ("blur", "upload"): what the tables of `rungs bench motion` and the
 * ranges of a profiler are made from.
 *
 * A mark is also a range of mark.h, for profilers. Outside a recording it costs two tests. Inside one it costs a clock
 * reading on the host or, for a version that works on the device, an event on the stream: nothing waits, and a step's
 * time is the time from its mark to the next one as the device saw it. Where the device had run dry, that includes the
 * wait for the host's next launch; the steps' times therefore add up to the frame's.
 */
#ifndef RUNGS_STEP_H
#define RUNGS_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/core/status.h"

struct CUstream_st; /* a cudaStream_t is a pointer to it */

#ifdef __cplusplus
extern "C" {
#endif

enum { STEP_MAX_NAMES = 24, STEP_MAX_MARKS = 64 };

struct step_times {
    int count;
    struct {
        const char *name; /* in the order of first appearance */
        double seconds;
        int calls;
    } items[STEP_MAX_NAMES];
};

/* From here on the calling thread works on the step `name` (a literal; NULL: on none). `stream` is where the step's
 * device work goes; NULL, the default stream, will do for host work. */
void step_begin(const char *name, struct CUstream_st *stream);

/* Between these, marks of the calling thread are added up in *times, which start() does not clear: it may gather many
 * frames. At most STEP_MAX_MARKS marks each time, or stop() fails (STATUS_FAILED). on_device: take times from device
 * events. */
enum status step_record_start(struct step_times *times, bool on_device);
enum status step_record_stop(void);

/* Whether marks are being recorded: a version that hands the device a frame's work as one graph, inside which there is
 * no place for marks, then hands it over step by step. */
bool step_is_recording(void);

/* Device clocks, set by device.cu: an event recorded on `stream` as number `index`, and the seconds from event 0 to
 * event `index` once both have happened. NULL without CUDA in the build; emulated devices use the host clock. */
extern enum status (*step_device_mark)(int index, struct CUstream_st *stream);
extern enum status (*step_device_elapsed)(int index, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
