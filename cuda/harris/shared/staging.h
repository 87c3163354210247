/*
 * staging.h: images between ordinary memory of the host and the device by way of page-locked memory, a band of rows at a
 * time: the threads of the host copy one band while the bus carries another.
 */
#ifndef RUNGS_HARRIS_STEPS_STAGING_H
#define RUNGS_HARRIS_STEPS_STAGING_H

#include "common/cuda/device.h"

enum { STAGING_BANDS = 8 };

struct staging {
    char *locked;
    cudaEvent_t arrived[STAGING_BANDS];
};

/* Room for images of at most so many bytes on the device; does nothing when it is there. */
enum status staging_setup(struct staging *staging, size_t bytes);
/* Returns when all has left the host's image and is enqueued. */
enum status staging_upload(struct staging *staging, struct image *device, const struct image *host,
                           cudaStream_t stream);
/* Returns when all is in the host's image. */
enum status staging_download(struct staging *staging, struct image *host, const struct image *device,
                             cudaStream_t stream);
void staging_teardown(struct staging *staging);

#endif
