/*
 * process_peer.h: a peer that runs in a Python process, peers/<algorithm>/<library>.py: a library that has no C
 * interface, or is here as a Python package only.
 *
 * The file of the peer is all that there is to write (peers/peer.py says what is in it): the build makes a few lines of
 * C out of its name (common/build/python_peer.sh), which register it with one of the macros below. Inputs and outputs
 * lie in memory that both processes see; requests and answers go through pipes. One process serves one state: it starts
 * with the state's first call and ends with its teardown(). A process that dies, or does not answer for
 * PROCESS_PEER_SECONDS, fails its own call and no other version's: it is asked to end, waited for, and killed.
 *
 * Times are the seconds that the peer measures around its own call; copies between our images and the shared memory,
 * and the messages, are uncharged() (registry.h); before the call the shared memory leaves the caches, for the peer to
 * find its images where other versions do. The interpreter is RUNGS_PYTHON from the environment, or python3.
 */
#ifndef RUNGS_PROCESS_PEER_H
#define RUNGS_PROCESS_PEER_H

#include "common/contract/pipeline.h"
#include "common/contract/registry.h"
#include "common/core/program.h"

/* By the wall clock, as of a process that may wait for a GPU: minutes, so that a busy machine ends none that works. */
enum { PROCESS_PEER_SECONDS = 300 };

/* What is known of a peer without starting it. */
struct process_peer {
    const char *algorithm, *path; /* "blur", "peers/blur/opencv_python.py" */
    double seconds;               /* the most that an answer may take; 0: PROCESS_PEER_SECONDS */
    bool asked;                   /* whether its package is there, in this process */
    char missing[256];
};

/* The state of a version. */
struct process_peer_state {
    struct program program;
    bool open;
    int descriptor; /* of the memory */
    char *memory;
    size_t bytes;
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS]; /* in it, without padding */
    struct image submitted;                                            /* of a pipeline: the caller's frame */
    double uncharged, device_seconds;
    long long requests; /* made so far: each answer repeats the number of its own */
};

/* The fields of struct version; `erased` is a struct process_peer_state. */
const char *process_peer_unavailable(struct process_peer *peer);
enum status process_peer_run(struct process_peer *peer, void *erased, const struct image in[], struct image *out,
                             const void *params);
void process_peer_teardown(void *erased);
double process_peer_uncharged(void *erased);
double process_peer_device_seconds(void *erased);

/* Of a pipeline. */
enum status process_peer_start(struct process_peer *peer, void *erased, const struct image *first, const void *params);
enum status process_peer_submit(void *erased, const struct image *frame);
enum status process_peer_receive(struct process_peer *peer, void *erased, struct image *result);

/* All that a generated file holds: one of these two. Designated fields of struct version may follow. */
#define RUNGS_PROCESS_PEER(name, file, ...)                                                                            \
    static struct process_peer peer = {.algorithm = #name, .path = file};                                              \
    static enum status run(void *state, const struct image in[], struct image *out, const void *params)                \
    {                                                                                                                  \
        return process_peer_run(&peer, state, in, out, params);                                                        \
    }                                                                                                                  \
    RUNGS_PROCESS_REGISTER(name, file, __VA_ARGS__)

#define RUNGS_PROCESS_PIPELINE(name, file, ...)                                                                        \
    static struct process_peer peer = {.algorithm = #name, .path = file};                                              \
    static enum status start(void *state, const struct image *first, const void *params)                               \
    {                                                                                                                  \
        return process_peer_start(&peer, state, first, params);                                                        \
    }                                                                                                                  \
    static enum status receive(void *state, struct image *result)                                                      \
    {                                                                                                                  \
        return process_peer_receive(&peer, state, result);                                                             \
    }                                                                                                                  \
    static const struct pipeline pipeline = {                                                                          \
        .depth = 1, .start = start, .submit = process_peer_submit, .receive = receive};                                \
    static enum status run(void *state, const struct image in[], struct image *out, const void *params)                \
    {                                                                                                                  \
        return pipeline_run(&pipeline, state, in, out, params);                                                        \
    }                                                                                                                  \
    RUNGS_PROCESS_REGISTER(name, file, .pipeline = &pipeline, __VA_ARGS__)

#define RUNGS_PROCESS_REGISTER(name, file, ...)                                                                        \
    static const char *unavailable(void)                                                                               \
    {                                                                                                                  \
        return process_peer_unavailable(&peer);                                                                        \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        static struct version version = {.path = file,                                                                 \
                                         .algorithm_name = #name,                                                      \
                                         .state_size = sizeof(struct process_peer_state),                              \
                                         .run = run,                                                                   \
                                         .teardown = process_peer_teardown,                                            \
                                         .unavailable = unavailable,                                                   \
                                         .uncharged = process_peer_uncharged,                                          \
                                         .device_seconds = process_peer_device_seconds,                                \
                                         __VA_ARGS__};                                                                 \
        registry_add_version(&version);                                                                                \
    }

#endif
