/*
 * frame.h: what v2.0 and v2.1 of motion share: a frame's way from the host to the table of its boxes, with one bit a
 * pixel behind the blur.
 */
#ifndef RUNGS_MOTION_FRAME_H
#define RUNGS_MOTION_FRAME_H

#include "common/algo/motion.h"
#include "common/cuda/otsu_step.h"
#include "cuda/motion/shared/bit_mask.h"

/* What one frame in flight has to itself. */
struct bit_frame {
    cudaStream_t stream;
    struct step grayscale, blur;
    struct otsu_step otsu;
    struct image frame, gray, blurred; /* on the device */
    struct image difference;           /* for otsu only, else its data is NULL */
    struct bit_mask mask, cleaned;
    struct bit_boxes boxes;
    int32_t *table; /* pinned; rows that hold no box hold anything */
};

/* For frames like *first, in pipeline `rung`. *frame is zeroed; after a failure it wants bit_frame_free(). */
enum status bit_frame_create(struct bit_frame *frame, const struct image *first, const struct motion_params *params,
                             const char *rung);
void bit_frame_free(struct bit_frame *frame);

/* And the background's image, and its mean where one runs. *background is zeroed. */
enum status bit_background_create(struct bit_background *background, const struct bit_frame *frame,
                                  const struct motion_params *params);
void bit_background_free(struct bit_background *background);
/* The background from *first, by way of an idle frame; returns when it is there. */
enum status bit_background_start(struct bit_background *background, struct bit_frame *frame, const struct image *first);

/* These enqueue on the frame's stream. From memory that is not pinned an upload returns when it has read all. */
enum status bit_frame_upload(struct bit_frame *frame, const struct image *from);
/* All that makes boxes of an uploaded frame. multiprocessors: of the device. */
enum status bit_frame_enqueue(struct bit_frame *frame, const struct bit_background *background,
                              const struct motion_params *params, int multiprocessors);

/* The table of a frame whose stream has been waited for. */
void bit_frame_read(const struct bit_frame *frame, const struct motion_params *params, struct image *result);

#endif
