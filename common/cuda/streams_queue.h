/*
 * streams_queue.h: the queue of a CUDA version that has a few pictures under way on one device: while one is uploaded,
 * another is computed and a third downloaded. Three would do, one for each; the fourth waits in line, so that nothing
 * stops while the host receives.
 */
#ifndef RUNGS_STREAMS_QUEUE_H
#define RUNGS_STREAMS_QUEUE_H

#include "common/contract/queue.h"

enum { STREAMS_QUEUE_DEPTH = 4 };

extern const struct version_queue streams_queue;

#endif
