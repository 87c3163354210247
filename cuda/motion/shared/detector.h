/*
 * detector.h: what v1.0 to v1.3 of motion share: the eight steps, the device images between them, and a frame's way
 * through both. When buffers and background are made, and which versions the steps are, is the rungs' own.
 */
#ifndef RUNGS_MOTION_DETECTOR_H
#define RUNGS_MOTION_DETECTOR_H

#include "common/algo/motion.h"
#include "common/cuda/device.h"

struct detector_rung {
    const char *id;                 /* the rung's own, and the version of blur, close and open */
    const char *others;             /* the version of grayscale, absdiff, threshold and labelling */
    const char *boxes;              /* the version of boxes: of the host */
    const struct tunable *tunables; /* the rung's, handed on to every step that has one of that name; or NULL */
};

struct detector {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    /* On the device. `mean` lasts from detector_background() to detector_free(), the others while the detector is
     * open. */
    struct image frame, gray, blurred, background, mean, difference, mask, closed, opened, labels, table;
    struct image host_labels; /* where boxes are found on the host */
};

/* Opens the steps; allocates images for frames like *first and whatever the steps keep on the device. The steps' times
 * then hold their kernels alone. *detector is zeroed, or closed. */
enum status detector_open(struct detector *detector, const struct detector_rung *rung, const struct image *first,
                          const struct motion_params *params);
bool detector_is_open(const struct detector *detector);
void detector_close(struct detector *detector);

/* The background from *first; a running mean starts with it. */
enum status detector_background(struct detector *detector, const struct image *first);
/* The boxes of *frame; a running mean moves on. */
enum status detector_detect(struct detector *detector, const struct image *frame, struct image *result);

/* Closes it, ends the running mean, and leaves *detector zeroed. */
void detector_free(struct detector *detector);

#endif
