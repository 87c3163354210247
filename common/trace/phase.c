#include "common/trace/phase.h"

#include <string.h>

#include "common/core/clock.h"
#include "common/trace/mark.h"

void (*phase_synchronize)(void);

static _Thread_local struct phase_record *recording; /* NULL = off */
static _Thread_local enum phase current;
static _Thread_local double entered; /* when, in seconds */

const char *phase_name(enum phase phase)
{
    static const char *const names[PHASE_COUNT] = {"other", "allocate", "upload", "kernel", "download", "free"};

    return (unsigned)phase < PHASE_COUNT ? names[phase] : "?";
}

/* Waiting comes before the clock: what the device still does belongs to the phase that started it. */
static void close_current(void)
{
    if (phase_synchronize)
        phase_synchronize();
    double time = clock_seconds();
    recording->seconds[current] += time - entered;
    entered = time;
}

void phase_begin(enum phase phase, size_t bytes)
{
    mark(MARK_PHASE, phase == PHASE_OTHER ? NULL : phase_name(phase));
    if (!recording)
        return;
    close_current();
    current = phase;
    recording->bytes[phase] += bytes;
    recording->calls[phase]++;
}

void phase_count(enum phase phase, size_t bytes)
{
    if (!recording)
        return;
    recording->bytes[phase] += bytes;
    recording->calls[phase]++;
}

void phase_record_start(struct phase_record *record)
{
    memset(record, 0, sizeof *record);
    if (phase_synchronize)
        phase_synchronize();
    recording = record;
    current = PHASE_OTHER;
    entered = clock_seconds();
}

void phase_record_stop(void)
{
    if (!recording)
        return;
    close_current();
    recording = NULL;
}
