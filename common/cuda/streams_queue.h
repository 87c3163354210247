/*
 * streams_queue.h: the queue of a CUDA version that has a few pictures under way on one device: while one is uploaded,
 * another is computed and a third downloaded. Three would do, one for each; the fourth waits in line, so that nothing
 * stops while the host receives.
 */
#ifndef RUNGS_STREAMS_QUEUE_H
#define RUNGS_STREAMS_QUEUE_H

#include "common/contract/queue.h"

enum { STREAMS_QUEUE_DEPTH = 4, STREAMS_QUEUE_MOST = 16 };

#ifdef __cplusplus
extern "C" {
#endif

/* How many pictures may be under way from now on: 1 to STREAMS_QUEUE_MOST, STREAMS_QUEUE_DEPTH if never called. Not
 * while one is open. */
void streams_queue_set_depth(int pictures);

extern const struct version_queue streams_queue;

#ifdef __cplusplus
}
#endif
#endif
