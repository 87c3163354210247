/*
 * lanes.h: the threads of motion's per_frame, and the queue of frames between them and who submits and receives.
 */
#ifndef RUNGS_MOTION_LANES_H
#define RUNGS_MOTION_LANES_H

#include <pthread.h>

#include "common/algo/motion.h"

enum { LANES_DEPTH = 32 };

/* What a lane does, with memory of its own, which is zeroed at first. */
struct lanes_work {
    size_t size;
    enum status (*start)(void *memory, const struct image *first, const struct motion_params *params);
    enum status (*detect)(void *memory, const struct image *frame, struct image *table);
    void (*close)(void *memory);
};

/* A frame in flight. */
struct lanes_slot {
    struct image frame; /* the pixels are the caller's */
    struct image table;
    bool queued; /* for a worker; else lanes_take() computes it */
    bool done;
    enum status status;
    char message[256];
};

struct lanes {
    const struct lanes_work *work;
    const struct motion_params *params; /* this and the next: of lanes_start(), while it lasts */
    struct image first;
    struct lane *list;
    int workers; /* list[1] to list[workers] are threads; list[0] is the caller's */
    struct lanes_slot slots[LANES_DEPTH];
    bool is_open;

    /* Shared, behind the lock. */
    pthread_mutex_t lock;
    pthread_cond_t available, finished;
    unsigned queue[LANES_DEPTH], put, taken; /* slots */
    int starts, started;
    bool closing;
};

/* Opens them where they are closed (zeroed), a thread for each of OpenMP's, but none for a running mean. Every lane then makes its
 * own background, all at the same time. */
enum status lanes_start(struct lanes *lanes, const struct lanes_work *work, const struct image *first,
                        const struct motion_params *params);
/* Hands the slot's frame to the next thread that is free. */
void lanes_put(struct lanes *lanes, unsigned slot);
/* Waits for the slot's table, or makes it. */
enum status lanes_take(struct lanes *lanes, struct lanes_slot *slot, struct image *result);
void lanes_close(struct lanes *lanes);

#endif
