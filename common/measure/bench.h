/*
 * bench.h: measures the versions of one algorithm side by side on one input.
 *
 * How      1. cpu/serial computes the reference in a child process. Where one call takes longer than the time budget,
 *             its two calls are samples. Of other versions that slow the first call is a sample; above three budgets it
 *             is the only one. The start of a device is no part of a call.
 *          2. Every other version is verified on the bench's own input against it, each in its own child, before its
 *             first round. A version that is wrong gets no times. Emulated versions come after the timing.
 *          3. `rounds` rounds: in each, the ceilings and then every version in turn are timed in a fresh child for
 *             a share of the time budget, or until the median is stable (statistics.h). The samples of all rounds are
 *             pooled, so a slow minute of a shared machine falls on all versions alike and shows in the spread.
 *          4. After the last round, results that the timed calls left behind are compared with the reference, and the
 *             version is called once more at addresses whose input has changed: a cached result does not pass.
 * Inputs   A timed call finds its input in main memory, not in cache, where that is feasible: calls rotate through
 *          `sets` sets of inputs and outputs that together exceed the last-level cache (at most 256 MiB). Pictures are
 *          cyclically shifted in both directions: different content, same statistics; bench_sets.h says what other
 *          inputs hold.
 * Times    end to end: a host clock around run(), host image to host image. For a CUDA version that includes transfers,
 *          with the device already initialised; the first call of a process, with its initialisation, is reported
 *          apart. A peer in another process (process_peer.h) reports the seconds of its call: copies between the
 *          processes are not in them. kernel: for a CUDA version launch() by itself, by device events (bench_device.h);
 *          for a CPU version the same as end to end. Emulated CUDA versions are verified (on the middle of the input,
 *          for they are some hundred times slower than serial) and have no times.
 *          pictures: where some version has a queue (queue.h), the seconds of one of many pictures from page-locked
 *          memory, for each CUDA version: by its queue, always filled, or by run(), one after the other.
 * Limit    the largest of bytes / copy rate and, for each kind of operation, operations / rate: bytes and operations by
 *          the algorithm's cost(), which sees the reference's results; rates measured in the same run on the same
 *          processor (ceiling.h, bench_device.h), of those kinds that the cost counts.
 */
#ifndef RUNGS_BENCH_H
#define RUNGS_BENCH_H

#include "common/contract/registry.h"
#include "common/measure/bench_device.h"
#include "common/measure/ceiling.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"

enum {
    BENCH_ROUNDS = 3,
    BENCH_EMULATED_WIDTH = 512, /* the most of an input that emulated versions are verified on: its middle */
    BENCH_EMULATED_HEIGHT = 288
};

/* How one entry of a search is run: its child gives the version's tunables these values, in their order. */
struct bench_point {
    int values[VERSION_MAX_TUNABLES];
    int threads;
};

struct bench;
struct bench_row;

struct bench_request {
    const struct algorithm *algorithm;
    const struct version *const *versions; /* in table order; contains cpu/serial */
    size_t version_count;
    struct image in[ALGORITHM_MAX_INPUTS];
    const struct input_request *made; /* how in[] were made (inputs.h); NULL: they are the user's own */
    const void *params;
    int threads;
    double seconds;         /* time budget per version and kind of time; 0 = only verify */
    int rounds;             /* that share them, at most BENCH_ROUNDS; 0: BENCH_ROUNDS. A search has all */
    bool warm;              /* first calls are not timed: CUDA versions share a child, which starts the GPU once */
    bool pinned;            /* the host's images of CUDA versions are page-locked before their timed calls */
    bool reference_untimed; /* cpu/serial is only compared with, unless it is the only version */
    /* NULL, or for a search how to run each of versions[]; cpu/serial is the first. Then a child does many in turn, for
     * starting a GPU takes longer than timing a kernel, a fault still costs its own entry alone; CUDA versions get
     * kernel times only; cpu/serial and the ceilings are not timed. */
    const struct bench_point *points;
    /* NULL, or called with each row as soon as there is something to say of it: a failure, the times of the first
     * round, the verdict of an emulated version. */
    void (*show)(struct bench *bench, const struct bench_row *row);
    /* For the record. */
    const char *input;   /* "images/fetched/aloeL.jpg, resized" */
    const char *command; /* the command line */
};

enum bench_outcome { BENCH_TIMED, BENCH_EMULATED, BENCH_SKIPPED, BENCH_FAILED };

enum bench_bound { BENCH_BOUND_NONE, BENCH_BOUND_BYTES, BENCH_BOUND_OPERATIONS };

struct bench_row {
    const struct version *version;
    enum bench_outcome outcome;
    bool reference;            /* cpu/serial: what the others are compared with */
    double worst;              /* largest difference from the reference, within the tolerance unless FAILED */
    bool interior;             /* compared away from the border only */
    char why[512];             /* FAILED, SKIPPED: in one line */
    char diagnosis[256];       /* FAILED: the likely cause, or "" */
    double first_call;         /* seconds; 0 = not measured */
    struct device_start start; /* of first_call: what the process pays for whatever it calls; 0 = not measured */
    struct statistics kernel, end_to_end; /* seconds; count 0 = not measured */
    struct statistics pictures;           /* seconds of one of many; the same */
    int under_way;                        /* pictures: how many at a time */
    bool graph;                           /* kernel: timed as replays of a CUDA graph */
    int batch;                            /* kernel: launches per sample; 1 for a CPU version */
    double limit;                         /* seconds that the ceilings allow at best; 0 = not known */
    enum bench_bound bound;
    enum operation bound_operation; /* with BENCH_BOUND_OPERATIONS: the kind */
    bool device;                    /* it computes on a GPU */
};

struct bench {
    const struct bench_request *request;
    struct machine machine;
    struct ceilings ceilings;
    struct ceilings device_ceilings; /* 0 without a GPU */
    struct cost cost;
    double counts[ALGORITHM_MAX_COUNTS]; /* as the algorithm names them */
    int sets;
    char settings[128]; /* the parameters in words */
    char date[32];      /* 2026-01-31T12:00:00Z */
    struct bench_row *rows;
    size_t row_count;
    size_t shown; /* rows that request->show() has shown; it counts them */
};

/* How many rounds a request has. */
static inline int bench_rounds(const struct bench_request *request)
{
    return request->rounds && !request->points ? request->rounds : BENCH_ROUNDS;
}

/* Measures. STATUS_OK also when single versions failed (see their rows). *bench must be freed in either case; it refers
 * to *request. */
enum status bench_run(const struct bench_request *request, struct bench *bench);
void bench_free(struct bench *bench);

/* The row of a version, NULL when it has none. */
const struct bench_row *bench_find(const struct bench *bench, const struct version *version);
const struct bench_row *bench_reference(const struct bench *bench);
/* The row that this one's "over the rung below" refers to; NULL when it has none or it was not timed. */
const struct bench_row *bench_below(const struct bench *bench, const struct bench_row *row);
bool bench_any_failed(const struct bench *bench);

/* How many times as fast `b` is as `a`, by their medians; differs: their spreads do not overlap. times is 0 when either
 * was not measured. */
struct bench_ratio {
    double times;
    bool differs;
};
struct bench_ratio bench_ratio(const struct statistics *a, const struct statistics *b);

/* limit / kernel median, 0 when not known. */
double bench_limit_fraction(const struct bench_row *row);

#endif
