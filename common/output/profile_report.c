#include "common/output/profile_report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/trace/openmp.h"

void profile_report_missing(struct profile_report *report, const char *format, ...)
{
    va_list arguments;

    if (report->missing_count == PROFILE_MAX_MISSING)
        return;
    va_start(arguments, format);
    vsnprintf(report->missing[report->missing_count++], sizeof report->missing[0], format, arguments);
    va_end(arguments);
}

bool profile_report_is_emulated(const struct profile_report *report)
{
    return report->profile->device && report->bench->machine.emulated;
}

static void note_missing(struct profile_report *report)
{
    const struct profile *profile = report->profile;

    if (profile->no_activity[0])
        profile_report_missing(report, "GPU activities: %s", profile->no_activity);
    if (trace_dropped(profile->trace))
        profile_report_missing(report, "%zu events did not fit; try fewer --calls", trace_dropped(profile->trace));
    if (profile->device)
        return;
    if (profile->counters.missing[0])
        profile_report_missing(report, "hardware counters: %s", profile->counters.missing);
    if (!openmp_can_record())
        profile_report_missing(report, "threads: only builds by gcc can record what libgomp's threads do");
    else if (report->row->version->instruction_set == NULL && version_is_peer(report->row->version))
        profile_report_missing(report, "threads: only OpenMP's are recorded, and a library may start its own");
}

enum status profile_report_make(const struct bench *bench, const struct bench_row *row, const struct profile *profile,
                                struct profile_report *report)
{
    enum status status = STATUS_OK;
    const struct trace *trace = profile->trace;

    memset(report, 0, sizeof *report);
    report->bench = bench;
    report->row = row;
    report->profile = profile;
    TRY(profile_team(trace, &report->team));
    TRY(profile_sums(trace, TRACE_KERNEL, TRACE_SET, false, &report->activities, &report->activity_count));
    TRY(profile_sums(trace, TRACE_API, TRACE_API, false, &report->calls, &report->call_count));
    /* A pipeline's steps contain the phases: both in one table would count time twice. */
    TRY(profile_sums(trace, TRACE_STEP, TRACE_STEP, false, &report->ranges, &report->range_count));
    if (report->range_count == 0) {
        free(report->ranges);
        TRY(profile_sums(trace, TRACE_PHASE, TRACE_PHASE, false, &report->ranges, &report->range_count));
    }
    TRY(profile_sums(trace, TRACE_KERNEL, TRACE_KERNEL, true, &report->launches, &report->launch_count));
    note_missing(report);
out:
    return status;
}

void profile_report_free(struct profile_report *report)
{
    profile_team_free(&report->team);
    free(report->activities);
    free(report->calls);
    free(report->ranges);
    free(report->launches);
    free(report->metrics);
    memset(report, 0, sizeof *report);
}

double profile_report_total(const struct profile_sum *sums, size_t count, enum trace_kind first, enum trace_kind last)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        if (sums[i].kind >= first && sums[i].kind <= last)
            total += sums[i].total;
    return total;
}

double profile_report_kernel_seconds(const struct profile_report *report)
{
    return profile_report_total(report->activities, report->activity_count, TRACE_KERNEL, TRACE_KERNEL) /
           report->profile->calls;
}

struct statistics profile_report_call_statistics(const struct profile_report *report)
{
    const struct profile *profile = report->profile;
    double samples[PROFILE_MAX_CALLS];

    memcpy(samples, profile->call_seconds, (size_t)profile->calls * sizeof *samples);
    return statistics_of(samples, (size_t)profile->calls);
}
