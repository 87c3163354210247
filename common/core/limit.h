/*
 * limit.h: how long another process, with those that it started, may go on. What counts is processor time, which a busy
 * machine does not change, of the thread that has used most of it: on an idle machine never more than the wall clock
 * shows, however many threads there are. The wall clock ends only what uses no processor time at all: a deadlock, or a
 * wait for what never comes.
 */
#ifndef RUNGS_LIMIT_H
#define RUNGS_LIMIT_H

#include <stddef.h>
#include <sys/types.h>

/* RUNGS_IDLE_SECONDS in the environment says otherwise: tests of versions that sleep for ever do not want to wait for
 * so long. */
enum { LIMIT_IDLE_SECONDS = 300, LIMIT_THREADS = 256 };

enum limit_state { LIMIT_KEPT, LIMIT_SPENT, LIMIT_IDLE };

struct limit {
    double seconds, idle_seconds;
    pid_t root;
    size_t turn;
    /* Since limit_begin(), whatever the turn: processor time, but no more than the wall clock's, and the wall clock's
     * while no thread wanted a processor. */
    double used;
    double looked_at, moved_at; /* times of the wall clock: the last look, and the last at which the total had grown */
    /* Processor seconds of all threads: when the turn began, at the last look, and at moved_at. */
    double begin, total, moved;
    size_t count;
    struct limit_thread {
        pid_t id;
        double used;
    } threads[LIMIT_THREADS]; /* at the begin */
};

/* The process `root` and its descendants have `seconds` from now on. */
void limit_begin(struct limit *limit, pid_t root, double seconds);

/* May be called as often as one likes: it looks four times a second. `turn` numbers what they do: when it has changed,
 * the seconds begin anew. Once all threads together have used `seconds` on each of the machine's cores the limit is
 * spent too: threads that end leave no account of their own. */
enum limit_state limit_look(struct limit *limit, size_t turn);

/* "ran past its limit of 30 s", "used no processor time for 300 s". */
void limit_describe(const struct limit *limit, enum limit_state state, char *text, size_t size);

#endif
