/*
 * judge.h: what the command line of rungs-judge asks for, and its commands.
 */
#ifndef RUNGS_JUDGE_H
#define RUNGS_JUDGE_H

#include "common/remote/remote.h"

enum { JUDGE_MAX_FRAMES = 64 }; /* of the video that a pipeline is timed on */

struct judge_arguments {
    struct remote_options worker, reference;
    const char *id, *json, *pictures, *algorithm, *picture;
    const char *tune[CHANNEL_MAX_TUNABLES], *settings[16], *without[16];
    size_t tune_count, setting_count, without_count;
    uint64_t seed;
    double total_seconds, seconds, zero, enough;
    int shape[3]; /* of what is timed or counted: width, height, channels; 0 channels: the algorithm's own number */
    int frames;
    long largest; /* pixels of the inputs that are tried; 0: all */
    int fewer;    /* threads of the version; 0: as many as the reference has */
    bool kernel;
    bool any_threads; /* compare the bits of one thread with those of more */
    bool large;       /* check large pictures, too, of a version for the CPU */
    bool watched;     /* count calls alone, of a version that is seen without the watch, too */
    bool moved;       /* count a call on the picture moved round, too */
};

/* Verify, or time, the version in arguments->worker and write what was found to arguments->json. A failure means that
 * the judging itself could not be done; a version that is wrong, crashes or is refused has an answer in the JSON. */
enum status judge_check(const struct judge_arguments *arguments);
enum status judge_time(const struct judge_arguments *arguments);
/* One call on arguments->picture: what it did on the emulated device, and whether its result is right. */
enum status judge_count(const struct judge_arguments *arguments);
/* Calls of a version in C, whose worker is one that finds races, on inputs of arguments->shape: bytes that its accesses
 * touched, and the most of them that came one after the other. */
enum status judge_share(const struct judge_arguments *arguments);

#endif
