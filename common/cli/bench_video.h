/*
 * bench_video.h: rungs bench for a video algorithm.
 */
#ifndef RUNGS_BENCH_VIDEO_H
#define RUNGS_BENCH_VIDEO_H

#include "common/cli/workload.h"
#include "common/contract/registry.h"

enum { BENCH_VIDEO_FRAMES = 124 }; /* as many as the video of Huet 2023 has */

struct bench_video_options {
    const struct algorithm *algorithm;
    const struct version *const *asked; /* that the user named */
    size_t asked_count;
    const struct version *const *versions; /* those and cpu/serial */
    size_t version_count;
    int frames; /* at most */
    double seconds;
    int rounds;
};

/* Loads or makes the video, measures, prints. *failed: a version was wrong. */
enum status bench_video(struct workload *workload, const struct bench_video_options *options, bool *failed);

#endif
