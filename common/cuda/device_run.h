/*
 * device_run.h: the run() of the CUDA versions that have none of their own (RUNGS_CUDA_VERSION): host images in, host
 * images out, with device images that the first call makes and all later calls find.
 */
#ifndef RUNGS_DEVICE_RUN_H
#define RUNGS_DEVICE_RUN_H

#include "common/contract/registry.h"
#include "common/cuda/staging.h"

/* The device's counterparts of a call's images, kept beside a version's state. Zeroed: none made yet. */
struct device_images {
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];
    struct staging staging; /* of a version that is staged, and its streams */
    cudaStream_t stream, back;
};

/* Makes device images like these that have not been made yet; an image of width 0 is not there. */
enum status device_images_create(struct device_images *images, const struct image in[], int inputs,
                                 const struct image out[], int outputs);

/* version->setup(), upload, version->launch(), wait, download. An image that a call does not have (width 0) is neither
 * made nor copied. `state` is the version's, *images is kept with it. A version that is staged does all this on streams
 * that do not wait for the default one, with the copies of staging.h. */
enum status device_run(const struct version *version, void *state, struct device_images *images,
                       const struct image in[], struct image out[], const void *params);
void device_images_free(struct device_images *images);

#endif
