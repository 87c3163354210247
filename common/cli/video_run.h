/*
 * video_run.h: what the commands that play a video share: how it ends early, and which of several failures is told.
 */
#ifndef RUNGS_VIDEO_RUN_H
#define RUNGS_VIDEO_RUN_H

#include <stdbool.h>

#include "common/video/video.h"

/* From here on to video_run_release(), Ctrl-C, kill, and a terminal that is closed end the video as if it ended there; the
 * second of a kind ends the program. */
void video_run_catch(struct video_reader *reader);
void video_run_release(void);
bool video_run_interrupted(void);

/* The frame rate that --fps says, a number from 0.001 to 1000. */
enum status video_run_take_rate(struct video_info *info, const char *text);

/* The first failure of several is the one to report. All zero: none. */
struct video_fault {
    enum status status;
    char message[1024];
};
/* Keeps a failed status and its message, unless there is one. */
void video_fault_note(struct video_fault *fault, enum status status);

/* "frame 12 of 795, 48.1 frames per second" on a terminal, at most five times a second. */
struct video_progress {
    double start, last_shown;
    bool timed; /* with the rate */
};
void video_progress_show(struct video_progress *progress, long frames, const struct video_reader *reader);

#endif
