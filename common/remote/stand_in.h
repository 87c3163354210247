/*
 * stand_in.h: a version in this process' registry that stands in for the one in a worker.
 */
#ifndef RUNGS_STAND_IN_H
#define RUNGS_STAND_IN_H

#include "common/remote/remote.h"

/* Refuses a pipeline that wants more frames in flight than the judge has places for. */
enum status remote_check_depth(int depth);

/* Registers a version that stands in for the one in the worker, to be verified like any other (check.h). To be called
 * before registry_open(). The worker is started by the first call, in whichever process makes it, and shares its fate:
 * when it crashes, so does that process, for the report to say so. Fails for a pipeline that is too deep. */
enum status remote_register(const struct remote_options *options, const struct channel *facts, const char *id,
                            const char *path);

/* A parameter that the version need not know: cases in which it is not at its default are declined, whatever the worker
 * would make of them. Versions themselves cannot decline: they might decline what they get wrong. */
void remote_decline(const char *parameter);

#endif
