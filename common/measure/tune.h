/*
 * tune.h: searches the values of one version's tunables for the fastest, on one input.
 *
 * Axes     one for each tunable, over its legal values (registry.h); for a CPU version one more, the number of threads.
 *          An axis that is given a value has that alone. The points are all combinations; one that the version says
 *          cannot go together (struct version's illegal) is left out, with its reason.
 * Points   each is verified against cpu/serial before it is timed, by the bench's own machinery (bench.h): three
 *          rounds in which all points take turns, medians and quartiles of all rounds, the results of timed calls
 *          compared again. A CUDA version is timed by its kernels, a CPU version by a host clock around run().
 * Best     the point of the smallest median. "Not different" is statistics.h's rule. A search sees noise as well as
 *          speed, so what gets kept (tune_kept()) is the best only where it differs from the default, else the default.
 */
#ifndef RUNGS_TUNE_H
#define RUNGS_TUNE_H

#include <stdio.h>

#include "common/measure/bench.h"
#include "common/measure/tuned.h"

enum { TUNE_MAX_AXES = VERSION_MAX_TUNABLES + 1, TUNE_MAX_VALUES = 32, TUNE_MAX_POINTS = 2000 };

struct tune_axis {
    const char *name, *help;
    const struct tunable *tunable; /* NULL: the number of threads */
    int values[TUNE_MAX_VALUES];
    int count;
    int preset; /* the default: of threads, the most that are searched */
};

enum tune_outcome { TUNE_TIMED, TUNE_ILLEGAL, TUNE_FAILED, TUNE_SKIPPED };

struct tune_point {
    int at[TUNE_MAX_AXES]; /* index of its value on each axis */
    enum tune_outcome outcome;
    struct statistics time; /* seconds; count 0 unless TIMED */
    double worst;           /* difference from the reference */
    char why[800];          /* unless TIMED: in one line */
    bool preset;            /* all values are the defaults */
    bool like_best;         /* TIMED: not different from the best (the best itself too) */
};

struct tune_request {
    const struct algorithm *algorithm;
    const struct version *version;
    struct image in[ALGORITHM_MAX_INPUTS];
    const void *params;
    const char *const *assignments; /* those of -p: a tunable named there keeps its present value */
    size_t assignment_count;
    const int *threads; /* of a CPU version: ascending, thread_count of them */
    int thread_count;
    double seconds; /* per point */
    /* For the record. */
    const char *input, *command;
};

struct tune {
    const struct tune_request *request;
    struct machine machine;
    char settings[128], date[32];
    struct tune_axis axes[TUNE_MAX_AXES];
    int axis_count;
    struct tune_point *points; /* the last axis runs fastest */
    size_t point_count;
    const struct tune_point *best, *preset; /* NULL: nothing was timed; the default was not among the points */
    size_t timed, illegal, failed, skipped;
};

/* Refuses (STATUS_BAD_INPUT, STATUS_UNSUPPORTED) a version that has nothing to tune, or that this build cannot time. */
enum status tune_possible(const struct version *version);

/* STATUS_OK also when single points failed. Refuses (STATUS_BAD_INPUT, STATUS_UNSUPPORTED) what tune_possible() does
 * and a machine that cannot run the version. *tune is to be freed in either case; it refers to *request. */
enum status tune_run(const struct tune_request *request, struct tune *tune);
void tune_free(struct tune *tune);

/* "block_width=32 block_height=16" or "band_height=64 threads=2"; one_valued: axes with a single value too. */
void tune_describe(const struct tune *tune, const struct tune_point *point, bool one_valued, char *text, size_t size);
/* "64", "dynamic" */
void tune_value_text(const struct tune_axis *axis, int index, char *text, size_t size);

/* What tuned.json should keep: one entry for a CUDA version, one for each number of threads of a CPU version. The
 * entries are `capacity` at most; returns their number, 0 when nothing was timed or the version has no tunables. */
size_t tune_kept(const struct tune *tune, struct tuned_entry *entries, size_t capacity);

#endif
