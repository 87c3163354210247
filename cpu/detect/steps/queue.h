/*
 * queue.h: windows that may be hits and wait for one another, for the rungs that take them through the stages together.
 */
#ifndef RUNGS_DETECT_STEPS_QUEUE_H
#define RUNGS_DETECT_STEPS_QUEUE_H

#include "common/algo/detect.h"

enum { QUEUED = 1024 };

/* Where they begin, and their responses. */
struct queue {
    size_t count;
    uint32_t offsets[QUEUED];
    float responses[QUEUED];
};

/* Adds the windows, which have been through all stages, to the list if they are hits; the queue is empty then. */
static inline enum status queue_list(struct queue *queue, const struct detect_levels *levels,
                                     const struct detect_params *params, struct detect_list *list)
{
    const size_t stride = levels->image.stride;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < queue->count && status == STATUS_OK; i++)
        if (queue->responses[i] >= (float)params->min_response)
            status =
                detect_append(list, detect_key(queue->responses[i], &levels->layout, (int)(queue->offsets[i] % stride),
                                               (int)(queue->offsets[i] / stride)));
    queue->count = 0;
    return status;
}

#endif
