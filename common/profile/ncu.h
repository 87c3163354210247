/*
 * ncu.h: hardware metrics of a version's kernels through NVIDIA's Nsight Compute (ncu), where it is installed and may
 * read the GPU's counters. The metrics are what nvprof called achieved_occupancy, sm_efficiency, branch_efficiency,
 * gld_efficiency, shared_efficiency and so on, under today's names.
 */
#ifndef RUNGS_NCU_H
#define RUNGS_NCU_H

#include <stddef.h>

#include "common/core/status.h"
#include "common/trace/trace.h"

struct ncu_metric {
    const char *label; /* "achieved occupancy" */
    const char *key;   /* in JSON: "achieved_occupancy" */
    const char *name;  /* ncu's */
    double factor;     /* from ncu's base unit to the unit shown */
    enum {
        NCU_PERCENT,
        NCU_EFFICIENCY,
        NCU_NUMBER,
        NCU_BYTES,
        NCU_SECONDS
    } unit; /* EFFICIENCY: %, 0 = no such access */
};
enum { NCU_METRICS = 14 };
extern const struct ncu_metric ncu_metrics[NCU_METRICS];

/* One kernel: means over its launches. */
struct ncu_kernel {
    char name[TRACE_NAME];
    size_t launches;
    double values[NCU_METRICS]; /* NaN = ncu has none */
};

/* The command that measures: ncu and its options, then `arguments` (NULL-terminated, the program first), as one line
 * for a shell. */
void ncu_command(const char *const *arguments, char *line, size_t size);

/* Runs it and reads what it prints. STATUS_UNSUPPORTED when there is no ncu or it refuses, with the reason in one line.
 * *kernels is to be freed with free(). */
enum status ncu_run(const char *const *arguments, struct ncu_kernel **kernels, size_t *count);

/* The reading part: `text` is what `ncu --csv --page raw --print-units base` wrote, other output mixed in. */
enum status ncu_parse(const char *text, struct ncu_kernel **kernels, size_t *count);

#endif
