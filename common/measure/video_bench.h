/*
 * video_bench.h: measures the versions of a video algorithm side by side on one video whose frames are in memory.
 *
 * How      1. Expected results: cpu/serial for as many frames as a time budget allows, spread evenly (with a background
 *             that depends on all frames before, the first ones); for all other frames the first version that agrees
 *             with those. Every version is compared with them in every frame, to the bit.
 *          2. `rounds` rounds: in each, every version in turn plays the video in a fresh child for a share of
 *             the time budget, over and over, with as many frames in flight as it allows; its results are compared once
 *             more afterwards.
 *          3. In the last round it also plays some frames one at a time with marks at every step (step.h), and two with
 *             its allocations and copies counted (phase.h).
 * Times    end to end: from the host's frame to the host's result. Decoding is not in it, transfers are; start(), the
 *          start of the device and the first frames of each round are not either. A sample is the time of some frames
 *          in sequence, at least 20 ms, divided by their number.
 * Steps    measured apart from that, without overlap: their sum is more than a frame's time for versions that overlap.
 */
#ifndef RUNGS_VIDEO_BENCH_H
#define RUNGS_VIDEO_BENCH_H

#include "common/contract/registry.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"
#include "common/trace/phase.h"
#include "common/trace/step.h"

enum { VIDEO_BENCH_ROUNDS = 3 };

struct video_bench;
struct video_bench_row;

struct video_bench_request {
    const struct algorithm *algorithm;
    const struct version *const *versions; /* in table order; contains cpu/serial */
    size_t version_count;
    const struct image *first;  /* what start() gets */
    const struct image *frames; /* host images of one shape */
    int frame_count;            /* at least 1 */
    const void *params;
    int threads;
    double seconds; /* time budget per version; 0 = only verify */
    int rounds;     /* that share it, at most VIDEO_BENCH_ROUNDS; 0: VIDEO_BENCH_ROUNDS */
    /* NULL, or called with each row as soon as there is something to say of it: a failure, the times of the first
     * round, the verdict of an emulated version. */
    void (*show)(struct video_bench *bench, const struct video_bench_row *row);
    /* For the record. */
    const char *input;   /* "images/fetched/vtest.avi" */
    const char *command; /* the command line */
};

static inline int video_bench_rounds(const struct video_bench_request *request)
{
    return request->rounds ? request->rounds : VIDEO_BENCH_ROUNDS;
}

enum video_bench_outcome { VIDEO_TIMED, VIDEO_EMULATED, VIDEO_SKIPPED, VIDEO_FAILED };

/* Device memory and transfers, counted by phase.h. */
struct video_traffic {
    size_t bytes[PHASE_COUNT];
    int calls[PHASE_COUNT];
};

struct video_bench_row {
    const struct version *version;
    enum video_bench_outcome outcome;
    bool reference;         /* cpu/serial */
    int verified;           /* frames whose result was compared and equal */
    char why[512];          /* FAILED, SKIPPED: in one line */
    struct statistics time; /* seconds per frame; count 0 = not measured */
    long timed_frames;
    struct step_times steps; /* sums over step_frames frames */
    int step_frames;
    bool has_traffic;
    struct video_traffic launch, frame; /* of start(); of one frame */
};

struct video_bench {
    const struct video_bench_request *request;
    struct machine machine;
    char settings[256], date[32];
    int serial_frames;                 /* of the expected results, how many cpu/serial computed */
    const struct version *expected_by; /* who computed the others; NULL if there were none */
    struct video_bench_row *rows;
    size_t row_count;
    size_t shown; /* rows that request->show() has shown; it counts them */
};

/* Measures. STATUS_OK also when single versions failed (see their rows). *bench must be freed in either case; it refers
 * to *request. */
enum status video_bench_run(const struct video_bench_request *request, struct video_bench *bench);
void video_bench_free(struct video_bench *bench);

/* The row that this one is compared with, timed; NULL when there is none. */
const struct video_bench_row *video_bench_below(const struct video_bench *bench, const struct video_bench_row *row);
const struct video_bench_row *video_bench_find(const struct video_bench *bench, const char *id);
bool video_bench_any_failed(const struct video_bench *bench);

#endif
