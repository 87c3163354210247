/*
 * video_task.h: what video_bench.c has done in child processes, one version each: frames computed, verified, timed.
 */
#ifndef RUNGS_VIDEO_TASK_H
#define RUNGS_VIDEO_TASK_H

#include "common/measure/video_bench.h"

enum { VIDEO_MAX_SAMPLES = 400 }; /* per version and round */
#define VIDEO_VERIFY_SECONDS 12.0 /* that computing the results of one version may take */

/* What a child gets and gives; lives in memory that it shares with the parent. */
struct video_task {
    const struct video_bench_request *request;
    const struct version *version;
    const struct version *serial;
    const void *params, *reference_params; /* of the version; of cpu/serial */
    bool in_order;                         /* a frame's result depends on all frames before it */
    struct image shape;                    /* of a result */
    uint8_t *results;                      /* frame_count tables, shared */
    bool *wanted;                          /* which frames to compute, shared; NULL: all */
    int limit;                             /* frames at most */
    int round;

    bool finished; /* the child came to its own end; a version can call exit(0) too */
    enum status status;
    char message[512];
    int computed;
    size_t sample_count;
    double samples[VIDEO_BENCH_ROUNDS * VIDEO_MAX_SAMPLES];
    long timed_frames;
    struct step_times steps;
    int step_frames;
    bool has_traffic;
    struct video_traffic launch, frame;
};

size_t video_table_bytes(const struct image *shape);
/* The table of one frame in the shared `tables`. */
struct image video_table_at(const struct video_task *task, uint8_t *tables, int frame);
bool video_table_same(const struct image *a, const struct image *b);

/* Bodies of children (process.h); the argument is a struct video_task. Each fills in finished, status, message and
 * computed, and returns 0 when the status is STATUS_OK. */
/* Results of wanted frames, one after the other, until the budget is used up, but of two at least. */
int video_compute_in_child(void *argument);
/* The version beside cpu/serial on the middle of two frames: a whole one would take the emulator too long. */
int video_verify_emulated_in_child(void *argument);
/* Samples of the time of a frame; in the first round steps and memory traffic as well. */
int video_time_in_child(void *argument);

#endif
