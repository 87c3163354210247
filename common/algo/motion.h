/*
 * motion.h: moving-object detector: the boxes of what differs from the background, in each frame of a video. The
 * contract of every version in cpu/motion, cuda/motion and peers/motion, which are pipelines
 * (common/contract/pipeline.h).
 *
 * Input    a first frame and a frame, u8, 3 channels (RGB), of the same size, from 1x1; or a video, frame by frame.
 * Output   the table of boxes.h for each frame, i32, BOXES_COLUMNS (8) wide and max_boxes + 1 high: label, box, area
 *          and centroid of each component of the mask of moving pixels.
 *
 * Formula  Every step is the contract of another algorithm, which says borders and rounding:
 *
 *              G(t) = blur(grayscale(frame t); ksize, sigma)
 *              D(t) = absdiff(G(t), B(t))
 *              mask = open(close(threshold(D(t); value)))            morphology with `shape` of ksize `disk`;
 *                                                                    without open() for ops=close
 *              out  = boxes(labelling(mask; connectivity); min_area, max_boxes)
 *
 *          Background B(t), with background=first or a file: G of the first frame, or of that picture, for all t. With
 *          background=mean: a running mean M with 8 bits after the binary point, so that slow changes of light fade
 *          into the background, and so does what stands still for long:
 *
 *              M(0)   = 256 G(0)
 *              B(t)   = (M(t) + 128) >> 8
 *              M(t+1) = M(t) + ((256 G(t) - M(t)) >> rate)            arithmetic shift, rounds down
 *
 *          M stays within 0..65280, u16. All steps are exact in integers, so all versions agree to the bit. As an
 *          algorithm of two pictures, the frame is t = 0 with the first frame's background: B = G(first) either way.
 *
 * Parameters   value 0..255 or otsu, ksize, sigma, shape, disk, connectivity, min_area, max_boxes: of the steps
 *              (motion.c has the defaults)
 *              ops           close_open, or close
 *              background    first, mean, or the path of a picture of the video's size
 *              rate          1..8, for background=mean: half-life of about 0.7 * 2^rate frames
 *              grayscale, blur, absdiff, threshold, morphology, labelling, boxes
 *                            a version that takes this step's place (blur=cuda/v1.0), of the same side; the versions
 *                            that fuse steps do not have all of them and refuse to swap those
 *
 * Errors   not u8, not 3 channels, two sizes: STATUS_BAD_INPUT.
 *
 * Source   A. Huet, Parallel Computing for Many Core Processors (CS 677): Project Report, 2023, sections 1 to 3, cited
 *          as Huet 2023 elsewhere; its kernels sized 15, its disk and its 8-connectivity are the defaults. Running
 *          mean: Wren et al., Pfinder, PAMI 19(7), 1997.
 */
#ifndef RUNGS_MOTION_H
#define RUNGS_MOTION_H

#include "common/algo/boxes.h"
#include "common/contract/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum motion_step {
    MOTION_GRAYSCALE,
    MOTION_BLUR,
    MOTION_ABSDIFF,
    MOTION_THRESHOLD,
    MOTION_CLOSE,
    MOTION_OPEN,
    MOTION_LABELLING,
    MOTION_BOXES,
    MOTION_STEPS
};

enum { MOTION_VALUE_OTSU = -1 };

enum { MOTION_OPS_CLOSE, MOTION_OPS_CLOSE_OPEN };

struct motion_params {
    int value; /* 0..255 or MOTION_VALUE_OTSU */
    int ksize;
    double sigma;
    int ops;         /* MOTION_OPS_CLOSE or MOTION_OPS_CLOSE_OPEN */
    int shape, disk; /* as in morphology.h: shape and ksize */
    int connectivity, min_area, max_boxes;
    int rate;
    char background[PARAMETER_TEXT_SIZE];             /* "first", "mean" or a path */
    char versions[MOTION_STEPS][PARAMETER_TEXT_SIZE]; /* "own" or an id; MOTION_OPEN's is MOTION_CLOSE's */
};

static inline bool motion_has_running_mean(const struct motion_params *params)
{
    return params->background[0] == 'm' && params->background[1] == 'e' && params->background[2] == 'a' &&
           params->background[3] == 'n' && params->background[4] == '\0';
}

/* Whether the mask is opened after it has been closed. */
static inline bool motion_has_opening(const struct motion_params *params)
{
    return params->ops == MOTION_OPS_CLOSE_OPEN;
}

/* What a step is called in tables ("threshold", "close"), and the algorithm it belongs to ("morphology"). */
const char *motion_step_name(enum motion_step step);
const char *motion_step_algorithm(enum motion_step step);

/* Opens a step (*step zeroed before): the version that `params` names for it, or else `id`. STATUS_BAD_INPUT when the
 * named version is neither of the side of `rung`, the pipeline's own id, nor of the side of `id`. */
enum status motion_step_open(struct step *step, enum motion_step which, const struct motion_params *params,
                             const char *rung, const char *id);
/* All steps, each in the version `rung` unless `params` names another, boxes in the version `boxes`; none stays open on
 * failure. */
enum status motion_steps_open(struct step steps[MOTION_STEPS], const struct motion_params *params, const char *rung,
                              const char *boxes);
void motion_steps_close(struct step steps[MOTION_STEPS]);
/* STATUS_BAD_INPUT when `params` names another version for a step that pipeline `id` has fused with others. */
enum status motion_refuse_swap(const struct motion_params *params, enum motion_step which, const char *id);

/* Running mean, host images of one size: M(0) from G(0); and for rows first..last-1 M(t+1) from M(t) and G(t), with the
 * background B(t+1) that follows from it. */
void motion_mean_start(struct image *mean, const struct image *blurred);
void motion_mean_update(struct image *mean, const struct image *blurred, struct image *background, int rate, int first,
                        int last);

#ifdef __cplusplus
}
#endif
#endif
