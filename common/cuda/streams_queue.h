/*
 * streams_queue.h: the queue of a CUDA version that has a few pictures under way on one device: while one is uploaded,
 * another is computed and a third downloaded. Three would do, one for each; the fourth waits in line, so that nothing
 * stops while the host receives.
 */
#ifndef RUNGS_STREAMS_QUEUE_H
#define RUNGS_STREAMS_QUEUE_H

#include "common/contract/queue.h"

enum { STREAMS_QUEUE_DEPTH = 4, STREAMS_QUEUE_MOST = 16 };

/* How many pictures may be under way: STREAMS_QUEUE_DEPTH, and at most STREAMS_QUEUE_MOST. To be set before one is opened. */
extern int streams_queue_depth;

extern const struct version_queue streams_queue;

#endif
