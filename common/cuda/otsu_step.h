/*
 * otsu_step.h: Otsu's threshold as a step of another CUDA version: a version of `otsu` with its state and its result on
 * the device. A zeroed struct is a step that is not there.
 */
#ifndef RUNGS_OTSU_STEP_H
#define RUNGS_OTSU_STEP_H

#include "common/cuda/device.h"

struct otsu_step {
    const struct version *version;
    void *state;         /* the version's own */
    struct image result; /* on the device, 1x1 i32; its data is NULL while the step is not there */
};

/* Finds version `id` ("cuda/v1.2") of otsu and prepares it for images like *in. Does nothing when that is done. */
enum status otsu_step_setup(struct otsu_step *step, const char *id, const struct image in[]);
/* Enqueues it: the threshold of device image *in will be in step->result. */
enum status otsu_step_launch(struct otsu_step *step, const struct image in[], cudaStream_t stream);
void otsu_step_teardown(struct otsu_step *step);

#endif
