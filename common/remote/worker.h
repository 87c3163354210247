/*
 * worker.h: the parts of a worker besides worker.c: those that need a device (worker_device.cu), and its version.
 */
#ifndef RUNGS_WORKER_H
#define RUNGS_WORKER_H

#include "common/remote/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version that this worker is about (worker_alone.c, worker_pipeline.c). STATUS_FAILED: there is none, or two. */
enum status worker_version(const struct version **version);

/* Where there are versions of steps as well (worker_pipeline.c): whose version it is. The makefile writes it. */
extern const char *const worker_algorithm;

/* How many inputs and outputs the request has that is answered next. */
void worker_set_slots(int inputs, int outputs);

/* CHANNEL_VERIFY, CHANNEL_UPLOAD, CHANNEL_LAUNCH and CHANNEL_DOWNLOAD. */
enum status worker_device(const struct version *version, void *state, const struct channel *request);
/* Frees what CHANNEL_UPLOAD made. */
void worker_device_end(void);
/* Makes the memory of a host image page-locked, where there is a device whose copies gain from that. */
enum status worker_device_pin(const struct image *image);
/* Before each request: how the emulator works, whatever the version did to its settings. */
void worker_device_begin(int threads, int lack, bool counts_requests);
/* Of a race worker of a version in C (races.c), before and after each request; other workers have neither. */
void worker_races_begin(int one_page_in);
void worker_races_count(struct channel_counts *counts);
/* Of a pipeline (worker_steps.c), before and after each request: CHANNEL_LISTEN_..., and what receive() gave, or
 * NULL. */
void worker_steps_begin(int wanted);
void worker_steps_count(const struct image *result, struct channel_counts *counts);
/* Calls that when all is done that the emulated device's stream has been given; a worker without a device never
 * does. */
void worker_device_in_turn(struct CUstream_st *stream, void (*function)(void *), void *argument);
/* Since the worker's start; allocations of worker_device() itself are in them too. */
struct channel_counts worker_device_counts(void);

#ifdef __cplusplus
}
#endif
#endif
