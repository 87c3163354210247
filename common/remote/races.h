/*
 * races.h: the race detector of versions in C (races.c), for the functions that threads wait by (races_waits.c,
 * races_atomics.c).
 *
 * It also tells how much of a call's work is shared: bytes that accesses touch are counted, all of them and along the
 * longest chain in which each thread's come after what it waited for. Divided, that is how many threads had work at the
 * same time at most, whichever core they ran on, and however late. Forks, joins, barriers and the beginning and end of
 * tasks make chains; locks and atomic operations make none, because which thread comes first to one is chance.
 */
#ifndef RUNGS_REMOTE_RACES_H
#define RUNGS_REMOTE_RACES_H

#include <stdbool.h>
#include <stdint.h>

enum { RACES_MOST_THREADS = 64 };

struct races_clock {
    uint32_t at[RACES_MOST_THREADS];
    uint32_t call;  /* in which `chain` was counted */
    uint64_t chain; /* bytes of the longest chain until here */
};

/* What this thread did until here happens before whatever follows a races_acquire() of the same address. */
void races_release(const volatile void *address);
void races_acquire(const volatile void *address);
void races_clear(const volatile void *address); /* nobody has met there yet */
/* The same of locks, conditions and atomic operations. */
void races_give(const volatile void *address);
void races_take(const volatile void *address);

/* Atomic operations that order nothing by themselves, but with a fence before or after them. */
void races_load_relaxed(const volatile void *address);
void races_store_relaxed(const volatile void *address);
void races_fence(bool acquires, bool releases);

/* What this thread did until races_begin() happens before whatever another does after it follows that. */
void races_begin(struct races_clock *began);
void races_follow(const struct races_clock *began);
/* A task, which any thread may run: its chain begins where its maker's was, not where the thread's is. Gives what
 * races_end_task() needs. */
uint64_t races_begin_task(const struct races_clock *began);
void races_end_task(uint64_t chain);

/* Of a thread that begins, and that ends. */
void races_take_place(void);
void races_leave_place(void);

/* Of a thread that a version has started: its stack may be that of one that has ended and that nobody joined. */
void races_forget_stack(void);

#endif
