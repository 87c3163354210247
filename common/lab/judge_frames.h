/*
 * judge_frames.h: whether a pipeline works on the frames that it has taken, or keeps them until they are asked for.
 */
#ifndef RUNGS_JUDGE_FRAMES_H
#define RUNGS_JUDGE_FRAMES_H

#include <jansson.h>

#include "common/lab/judge.h"

/* The "pipeline" of a result: "depth" as the version has it; on the CPU "between", the percentage of the processor time
 * of the steps that its results came from that passes between submit() and receive(), while nobody calls it; on the
 * emulated device "streams", that had such steps to run at the same time with as many frames in flight as it takes; and
 * "frames_at_work": its depth, and 1 where less than a tenth passes between, or only one stream had steps. */
enum status judge_frames(const struct judge_arguments *arguments, const struct version *version, const void *params,
                         json_t *result);

#endif
