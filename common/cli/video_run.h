/*
 * video_run.h: what the commands that play a video share: how it ends early, and which of several failures is told.
 */
#ifndef RUNGS_VIDEO_RUN_H
#define RUNGS_VIDEO_RUN_H

#include <stdbool.h>

#include "common/video/video.h"

/* From here on to video_run_release(), Ctrl-C, kill, and a terminal that is closed end the video as if it ended there;
 * the second of a kind ends the program. Several threads may play one each, no more than SEVERAL_MOST (several.h). */
void video_run_catch(struct video_reader *reader);
void video_run_release(struct video_reader *reader);
bool video_run_interrupted(void);
/* How many are between the two. */
int video_run_playing(void);

/* The frame rate that --fps says, a number from 0.001 to 1000. */
enum status video_run_take_rate(struct video_info *info, const char *text);

/* The first failure of several is the one to report. All zero: none. */
struct video_fault {
    enum status status;
    char message[1024];
};
/* Keeps a failed status and its message, unless there is one. */
void video_fault_note(struct video_fault *fault, enum status status);
/* What stands before its message so that it names the video: "VIDEO: ", valid until this thread's next call, or "". */
const char *video_run_whose(const struct video_fault *fault, const char *video);

/* "frame 12 of 795, 48.1 frames per second" on a terminal, at most five times a second. While several are played, "3
 * videos, frame 36". */
struct video_progress {
    double start;
    long counted; /* frames, of those in video_run_frames() */
    bool timed;   /* with the rate */
};
void video_progress_show(struct video_progress *progress, long frames, const struct video_reader *reader);

/* What a thread prints between these stands together, and progress is wiped before. */
void video_run_print_begin(void);
void video_run_print_end(void);

/* The frames of all videos so far. */
long video_run_frames(void);

#endif
