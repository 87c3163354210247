/*
 * races.h: the race detector of versions in C (races.c), for the functions that threads wait by (races_waits.c,
 * races_atomics.c).
 */
#ifndef RUNGS_REMOTE_RACES_H
#define RUNGS_REMOTE_RACES_H

#include <stdbool.h>
#include <stdint.h>

enum { RACES_MOST_THREADS = 64 };

struct races_clock {
    uint32_t at[RACES_MOST_THREADS];
};

/* What this thread did until here happens before whatever follows a races_acquire() of the same address. */
void races_release(const volatile void *address);
void races_acquire(const volatile void *address);
void races_clear(const volatile void *address); /* nobody has met there yet */

/* Atomic operations that order nothing by themselves, but with a fence before or after them. */
void races_load_relaxed(const volatile void *address);
void races_store_relaxed(const volatile void *address);
void races_fence(bool acquires, bool releases);

/* What this thread did until races_begin() happens before whatever another does after it follows that. */
void races_begin(struct races_clock *began);
void races_follow(const struct races_clock *began);

/* Of a thread that begins, and that ends. */
void races_take_place(void);
void races_leave_place(void);

/* Of a thread that a version has started: its stack may be that of one that has ended and that nobody joined. */
void races_forget_stack(void);

#endif
