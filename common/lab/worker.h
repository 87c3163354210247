/*
 * worker.h: the part of a worker that needs a device; worker_device.cu implements it.
 */
#ifndef RUNGS_WORKER_H
#define RUNGS_WORKER_H

#include "common/lab/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CHANNEL_VERIFY, CHANNEL_UPLOAD, CHANNEL_LAUNCH and CHANNEL_DOWNLOAD. */
enum status worker_device(const struct version *version, void *state, const struct channel *request);
/* Frees what CHANNEL_UPLOAD made. */
void worker_device_end(void);
/* Since the worker's start; allocations of worker_device() itself are in them too. */
struct channel_counts worker_device_counts(void);

#ifdef __cplusplus
}
#endif
#endif
