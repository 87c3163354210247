/*
 * timing.h: a version and a reference rung that take turns on the same inputs, each in a worker (judge_time.c).
 */
#ifndef RUNGS_TIMING_H
#define RUNGS_TIMING_H

#include "common/lab/judge.h"

enum { TIMING_MAX_SETS = JUDGE_MAX_FRAMES, TIMING_MAX_PAIRS = 600 };
enum { TIMED_VERSION, TIMED_REFERENCE };

struct runner {
    struct remote *remote;
    struct image in[TIMING_MAX_SETS][ALGORITHM_MAX_INPUTS], out[TIMING_MAX_SETS][ALGORITHM_MAX_OUTPUTS];
    double seconds[TIMING_MAX_PAIRS];
    int depth;                                          /* frames that may be in flight */
    double params[CHANNEL_MAX_PARAMS / sizeof(double)]; /* as the worker sees them: its models are in its memory */
};

struct timing {
    const struct judge_arguments *arguments;
    const struct algorithm *algorithm;
    void *params;
    struct image base[ALGORITHM_MAX_INPUTS];    /* what all inputs are made of */
    struct image shapes[ALGORITHM_MAX_OUTPUTS]; /* of the results */
    /* The version's results as they were when its calls returned; and a copy of one that it can change no longer. */
    struct image kept[TIMING_MAX_SETS][ALGORITHM_MAX_OUTPUTS], late[ALGORITHM_MAX_OUTPUTS];
    struct image scenes[TIMING_MAX_SETS]; /* of a video: what its frames are made of */
    /* The inputs of the next call, or the frames of the next video, which no worker has seen yet. */
    struct image fresh[TIMING_MAX_SETS][ALGORITHM_MAX_INPUTS];
    int frames;    /* of a video, of which each set holds one; 0: pictures */
    bool pictures; /* all inputs are of one size and may be cut */
    int inputs;    /* of a set */
    int sets, pairs;
    uint64_t random;
    struct runner runners[2]; /* TIMED_VERSION, TIMED_REFERENCE */
    double waited;            /* share of its time in which the reference was ready to run and had no core */
    double others;            /* share of the cores that other programs had */
    int threads[2];           /* load_threads() */
    char wrong[512];          /* the version's fault, or "" */
};

/* timing_inputs.c: the base pictures or scenes, how many sets of inputs there are, and room for the results. */
enum status timing_prepare(struct timing *timing);
/* Starts a worker and gives it places for all sets. */
enum status timing_start(struct timing *timing, int which, const struct remote_options *options);
void timing_free(struct timing *timing);
/* New inputs: of a set, or for all frames of a video. */
enum status timing_renew(struct timing *timing, struct image to[]);
void timing_renew_video(struct timing *timing, struct image (*to)[ALGORITHM_MAX_INPUTS]);

/* timing_play.c: one round: new inputs for all sets, both versions on each (or on the video that they are), then all
 * results compared. Without `counts` its times are thrown away. */
enum status timing_play(struct timing *timing, bool counts);
/* Whether results agree as the contract compares them; they may be put into canonical form (compare.h). `set` says
 * which inputs they are of. */
bool timing_agrees(const struct timing *timing, int set, struct image expected[], struct image actual[]);

#endif
