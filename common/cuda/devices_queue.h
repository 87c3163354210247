/*
 * devices_queue.h: the queue of a CUDA version that shares pictures out over all devices. One host thread a device
 * takes the next picture as soon as it has room for one, so that a device that is slower, or busy with something else,
 * gets fewer.
 *
 * A picture that fails on one device (no memory, a lost device) goes to another one; it fails when each has tried it or
 * none is left. A lost device gives back what it had under way and takes no more; note() names it.
 */
#ifndef RUNGS_DEVICES_QUEUE_H
#define RUNGS_DEVICES_QUEUE_H

#include "common/contract/queue.h"

extern const struct version_queue devices_queue;
/* The same with flights that record (flight.h): launch() may not differ from picture to picture. */
extern const struct version_queue recorded_queue;

#endif
