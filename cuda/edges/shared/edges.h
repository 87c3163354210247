/*
 * edges.h: what the versions of edges share on the device: thresholds before pixels are marked, and then hysteresis and
 * the list of points. How pixels are marked is a version's own.
 */
#ifndef RUNGS_EDGES_STEPS_EDGES_H
#define RUNGS_EDGES_STEPS_EDGES_H

#include "common/algo/edges.h"
#include "common/cuda/device.h"

/* What a mask holds before hysteresis. */
enum { EDGES_NOTHING, EDGES_WEAK = 1, EDGES_STRONG = 255 };

struct edges_step {
    struct edges_thresholds *thresholds;
    unsigned *histogram; /* with high=otsu: of floor(m / 8) */
    struct image mask;   /* with outputs=points, for the caller has no such image */
    unsigned *parent;    /* with low: of the pixels' trees (follow.cu) */
    unsigned *starts; /* of each segment of pixels, where its points begin in the list (list.cu), and behind the last */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status edges_setup(struct edges_step *step, const struct image *in, const struct edges_params *params);
void edges_teardown(struct edges_step *step);
/* out[0], or the image that takes its place. */
struct image edges_mask(const struct edges_step *step, const struct image out[]);

/* Before pixels are marked: what weak and strong mean. */
enum status edges_begin(struct edges_step *step, const struct image *in, const struct edges_params *params,
                        cudaStream_t stream);

/* From a mask of weak and strong pixels to the outputs. */
enum status edges_end(struct edges_step *step, const struct image *in, const struct image out[],
                      const struct edges_params *params, cudaStream_t stream);

/* The same where the marking kernel has also written each marked pixel's parent, as edges_plant() does. */
enum status edges_end_planted(struct edges_step *step, const struct image *in, const struct image out[],
                              const struct edges_params *params, cudaStream_t stream);

/* Parts of edges_end(): each marked pixel's parent; weak pixels become strong or nothing; the table of points. */
enum status edges_plant(struct edges_step *step, const struct image *mask, cudaStream_t stream);
enum status edges_follow(struct edges_step *step, const struct image *mask, cudaStream_t stream);
enum status edges_list_setup(struct edges_step *step, const struct image *in);
enum status edges_list(struct edges_step *step, const struct image *in, const struct image *mask,
                       const struct image *points, cudaStream_t stream);

static __device__ inline unsigned edges_node(int width, int x, int y)
{
    return (unsigned)y * (unsigned)width + (unsigned)x + 1;
}

/* The parent of a marked pixel before neighbours are joined (follow.cu). */
static __device__ inline unsigned edges_first_parent(int mark, unsigned node)
{
    return mark == EDGES_STRONG ? 0 : node;
}

#endif
