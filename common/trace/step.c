#include "common/trace/step.h"

#include <string.h>

#include "common/core/clock.h"
#include "common/trace/mark.h"

enum status (*step_device_mark)(int index, struct CUstream_st *stream);
enum status (*step_device_elapsed)(int index, double *seconds);

static _Thread_local struct {
    struct step_times *times; /* NULL = off */
    bool on_device;
    enum status status; /* the first failure of a mark */
    int count;
    const char *names[STEP_MAX_MARKS]; /* of the step that begins at the mark */
    double seconds[STEP_MAX_MARKS];    /* of the mark; host clock */
} recording;

static void record_mark(const char *name, struct CUstream_st *stream)
{
    const int index = recording.count;

    if (recording.status != STATUS_OK)
        return;
    if (index == STEP_MAX_MARKS) {
        recording.status = status_set(STATUS_FAILED, "more than %d marks in one recording of steps", STEP_MAX_MARKS);
        return;
    }
    recording.names[index] = name;
    recording.count++;
    if (recording.on_device)
        recording.status = step_device_mark(index, stream);
    else
        recording.seconds[index] = clock_seconds();
}

void step_begin(const char *name, struct CUstream_st *stream)
{
    mark(MARK_STEP, name);
    if (recording.times)
        record_mark(name, stream);
}

bool step_is_recording(void)
{
    return recording.times != NULL;
}

enum status step_record_start(struct step_times *times, bool on_device)
{
    memset(&recording, 0, sizeof recording);
    recording.times = times;
    recording.on_device = on_device && step_device_mark;
    return STATUS_OK;
}

static void add(struct step_times *times, const char *name, double seconds)
{
    int i = 0;

    while (i < times->count && strcmp(times->items[i].name, name) != 0)
        i++;
    if (i == STEP_MAX_NAMES)
        return;
    times->items[i].name = name;
    times->items[i].seconds += seconds;
    times->items[i].calls++;
    if (i == times->count)
        times->count++;
}

enum status step_record_stop(void)
{
    enum status status = STATUS_OK;
    struct step_times *times = recording.times;

    record_mark(NULL, NULL);
    recording.times = NULL;
    TRY(recording.status);
    for (int i = 0; recording.on_device && i < recording.count; i++)
        TRY(step_device_elapsed(i, &recording.seconds[i]));
    for (int i = 0; i + 1 < recording.count; i++)
        if (recording.names[i])
            add(times, recording.names[i], recording.seconds[i + 1] - recording.seconds[i]);
out:
    return status;
}
