/*
 * profile_report.h: a recorded profile for people (a text within 100 columns) and for programs (JSON).
 */
#ifndef RUNGS_PROFILE_REPORT_H
#define RUNGS_PROFILE_REPORT_H

#include <stdio.h>

#include "common/core/file.h"
#include "common/profile/ncu.h"
#include "common/profile/profile.h"

enum { PROFILE_MAX_MISSING = 8 };

/* All that is known of one version. */
struct profile_report {
    const struct bench *bench;   /* verified it, and timed it and the ceilings unless it is emulated */
    const struct bench_row *row; /* the version's */
    const struct profile *profile;
    struct profile_team team;
    struct profile_sum *activities, *calls, *ranges, *launches; /* GPU, CUDA API, host ranges; kernels by shape */
    size_t activity_count, call_count, range_count, launch_count;
    struct ncu_kernel *metrics;
    size_t metric_count;
    const char *metrics_size; /* "256x144", when they are of another picture than the rest; else NULL */
    char ncu_line[4096];      /* the command to type where ncu did not run here; "" = it did, or has no part in this */
    char missing[PROFILE_MAX_MISSING][512]; /* what could not be shown and why, a line each */
    int missing_count;
};

/* Sums up bench and profile, which must outlive the report. Metrics, ncu_line and more of `missing` are the caller's to
 * add. To be freed with profile_report_free() in either case. */
enum status profile_report_make(const struct bench *bench, const struct bench_row *row, const struct profile *profile,
                                struct profile_report *report);
void profile_report_missing(struct profile_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void profile_report_free(struct profile_report *report);

/* A device's version in the emulator: counts mean something, times do not. */
bool profile_report_is_emulated(const struct profile_report *report);
/* Seconds of the sums of these kinds, all calls together. */
double profile_report_total(const struct profile_sum *sums, size_t count, enum trace_kind first, enum trace_kind last);
/* Of the recorded calls' times. */
struct statistics profile_report_call_statistics(const struct profile_report *report);
/* Seconds of all kernels per call; 0 = not recorded. */
double profile_report_kernel_seconds(const struct profile_report *report);

void profile_report_print(const struct profile_report *report, FILE *stream);
/* results/README.md describes it: "schema": "rungs-results", "version": 1, "kind": "profile". */
enum status profile_report_write(const struct profile_report *report, struct output_file *file);

#endif
