/*
 * staging.h: copies between the host's ordinary memory and the device, through page-locked memory.
 *
 * The device reads and writes page-locked memory alone. From ordinary memory the driver first copies to such memory of
 * its own, with one thread and a small piece at a time, so a copy has the speed of that thread, not of the bus. Here an
 * image is cut into bands of rows, several threads copy a band, and it is on the bus while they copy the next one:
 *
 *     threads   | band 0 | band 1 | band 2 |                  upload; a download is the same from right to left
 *     bus                | band 0 | band 1 | band 2 |
 */
#ifndef RUNGS_STAGING_H
#define RUNGS_STAGING_H

#include <cuda_runtime.h>

#include "common/contract/algorithm.h"
#include "common/core/status.h"
#include "common/image/image.h"

/* Bands of a call at most: each image has one, and so many more are shared out among all. */
enum { STAGING_MORE = 16, STAGING_BANDS = STAGING_MORE + ALGORITHM_MAX_OUTPUTS };

/* Kept from call to call. Zeroed: nothing made yet. Belongs to the device that was current at the first call. */
struct staging {
    char *locked; /* page-locked memory for all images of a call, as large as any call has needed */
    size_t bytes;
    cudaEvent_t sent;                   /* all that was uploaded has left *locked */
    cudaEvent_t arrived[STAGING_BANDS]; /* a band that is downloaded is in *locked */
};

/* Copies `count` images (at most ALGORITHM_MAX_OUTPUTS), of which those of width 0 are passed over. Device images are
 * whole ones of device_image_create(): what lies between their rows is written, too. Rows of the host's images may be
 * any number of bytes apart, and nothing but pixels is read or written there. Images of the host that are page-locked
 * already are copied without a detour. One stream for all calls. On failure nothing is on the stream any more, and the
 * next call may follow.
 *
 * staging_upload() returns when all is on the stream: ordinary memory may be changed then, page-locked memory when the
 * stream has got there. staging_download() returns when all is in the host's images. */
enum status staging_upload(struct staging *staging, const struct image device[], const struct image host[], int count,
                           cudaStream_t stream);
enum status staging_download(struct staging *staging, const struct image host[], const struct image device[], int count,
                             cudaStream_t stream);

/* Images of the device and of the host, in pairs. */
struct staging_images {
    const struct image *device, *host;
    int count;
};
/* Enqueues on `stream` what computes the rows from `first` to before `end` of all results. */
typedef enum status staging_launch(void *call, int first, int end, cudaStream_t stream);

/* Upload, computation and download of results whose row y needs nothing but row y of the inputs; all images have as
 * many rows. Bands of rows are uploaded on `stream`, computed and downloaded on `back`, so both directions of the bus
 * are at work at once. Returns when all is in the host's images; on failure as above. */
enum status staging_by_rows(struct staging *staging, struct staging_images in, struct staging_images out,
                            staging_launch *launch, void *call, cudaStream_t stream, cudaStream_t back);
void staging_free(struct staging *staging);

#endif
