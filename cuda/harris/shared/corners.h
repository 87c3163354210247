/*
 * corners.h: from the response to the table of corners, on the device: what v1.0 to v2.2 of harris share, whose own
 * matter is the response.
 */
#ifndef RUNGS_HARRIS_STEPS_CORNERS_H
#define RUNGS_HARRIS_STEPS_CORNERS_H

#include "common/algo/harris.h"
#include "common/cuda/device.h"

/* Peaks are never neighbours, so at most one pixel of 2 x 2 is one. */
#define CORNERS_MOST_PEAKS(width, height) ((size_t)(((width) + 1) / 2) * (size_t)(((height) + 1) / 2))

/* On the device: what is known of the peaks above the threshold. */
struct corners_found {
    float largest; /* response, 0 when none is above */
    unsigned count;
};

struct corners_step {
    struct corners_found *found;
    uint64_t *keys;        /* CORNERS_MOST_PEAKS, in no order */
    struct image response; /* with outputs=corners: where to compute it, for the caller has no such image */
};

/* Allocates what these parameters need and is not there yet; nothing with outputs=response. */
enum status corners_setup(struct corners_step *step, const struct image *in, const struct harris_params *params);
/* out[0], or the image that takes its place. */
struct image corners_response(const struct corners_step *step, const struct image out[]);
/* Response to table: the largest, the peaks, the selection. Nothing with outputs=response. */
enum status corners_launch(struct corners_step *step, const struct image out[], const struct harris_params *params,
                           cudaStream_t stream);
/* The last part alone: from *count keys to the table. */
enum status corners_select(const unsigned *count, const uint64_t *keys, int width, struct image corners,
                           const struct harris_params *params, cudaStream_t stream);
void corners_teardown(struct corners_step *step);

#endif
