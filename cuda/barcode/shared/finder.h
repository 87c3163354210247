/*
 * finder.h: what follows the labels of the patches, on the device: posterior, smoothing, threshold, labelling, boxes.
 * Shared by all CUDA versions of barcode; which versions the steps are, and when memory is allocated, is the rungs'
 * own.
 */
#ifndef RUNGS_BARCODE_FINDER_H
#define RUNGS_BARCODE_FINDER_H

#include "common/algo/barcode.h"
#include "common/cuda/device.h"

/* The versions of the steps: "cuda/v1.0". */
struct finder_versions {
    const char *blur, *threshold, *labelling, *boxes;
};

/* Zeroed: closed. The images are on the device. */
struct finder {
    struct step blur, threshold, labelling, boxes;
    struct image labels, posterior, score, mask, components, table;
    uint8_t *posteriors; /* of each centroid, on the device */
    int ratio;
};

/* Opens the steps for a picture like *in, makes the images and uploads the posteriors; `tunables`, or NULL, are handed
 * on to every step that has one of that name. Does nothing when it is open; on failure finder_close() is needed. */
enum status finder_open(struct finder *finder, const struct image *in, const struct barcode_params *params,
                        const struct finder_versions *versions, const struct tunable *tunables);
/* Enqueues what leads from finder->labels to the outputs, for a picture of this size. */
enum status finder_launch(struct finder *finder, int width, int height, struct image out[], cudaStream_t stream);
void finder_close(struct finder *finder);

#endif
