/*
 * remote.h: runs a version in a worker, a process of its own that can reach nothing but the memory it shares with us
 * (channel.h), within limits of time and memory.
 */
#ifndef RUNGS_REMOTE_H
#define RUNGS_REMOTE_H

#include <stdbool.h>

#include "common/remote/channel.h"
#include "common/verify/verify.h"

enum { REMOTE_MAX = 2 }; /* workers at a time */

struct remote_options {
    const char *program; /* the worker */
    int threads;         /* of OpenMP, and of the emulator */
    size_t memory_bytes; /* the most that it may hold, beyond the images */
    double call_seconds; /* a limit of processor time for a call (limit.h); 0: none */
    bool quiet;          /* what it prints is thrown away, not kept (remote_listen) */
    bool unconfined;     /* no system call filter: for code that is trusted, where the kernel or a driver wants none */
};

struct remote;

/* From now on what workers print that are not quiet is kept, the first 64 KiB of each stream: a version that prints
 * more neither waits nor loses what it began with. */
enum status remote_listen(void);
/* What they have printed, on stdout or on stderr, as a text; it is taken out by this. */
void remote_heard(bool on_stderr, char *text, size_t size);

/* Starts a worker. Fails with the reason when it cannot be started, registers no version, or dies. */
enum status remote_start(const struct remote_options *options, struct remote **remote);
void remote_stop(struct remote *remote); /* NULL is fine */

/* The request and the answer. Whatever is read from it may be the version's work: sanitize before use. */
struct channel *remote_channel(struct remote *remote);

/* Memory that the worker sees at the same address; NULL when there is none. */
void *remote_allocate(struct remote *remote, size_t bytes);
void remote_release(struct remote *remote, void *memory);

/* Stops all threads of the worker until remote_resume() or its next call, so that it cannot look on while its images
 * are laid out. Not one that uses a GPU, whose driver has threads of its own. */
void remote_pause(struct remote *remote);
void remote_resume(struct remote *remote);

/* Makes one call and waits for its end. *seconds, unless NULL, is how long that took from here. STATUS_FAILED with a
 * message when the call fails, and for this and all later calls when the worker has ended: remote_lost(). */
enum status remote_call(struct remote *remote, enum channel_request request, double *seconds);
bool remote_lost(const struct remote *remote);
/* How it ended; false while it lives, or when it was ended from here for a reason (a limit, a refused call). */
bool remote_died(const struct remote *remote, int *signal, int *exit_code);
/* Whether one of its threads runs, or waits for a processor only. */
bool remote_is_busy(const struct remote *remote);
/* Seconds of processor time that it has used, all threads together. */
double remote_processor_seconds(const struct remote *remote);
/* Since its start, for how many seconds a thread has run, and for how many it was ready to and had no core. */
struct remote_thread {
    double ran, waited;
};
/* The threads that have not ended, at most `most` of them; the kernel's account. Returns how many. */
int remote_threads(const struct remote *remote, struct remote_thread *threads, int most);

#endif
