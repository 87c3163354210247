/*
 * groups.h: from the list of hits to both tables by the whole device. Which hits overlap is found for all pairs at once, and a
 * block decides in rounds which of them are the strongest of their group.
 */
#ifndef RUNGS_DETECT_STEPS_GROUPS_H
#define RUNGS_DETECT_STEPS_GROUPS_H

#include "cuda/detect/shared/hits.h"

/* What is noted of the hits in order, or NULL: then it is found wherever it is needed. */
struct group_notes {
    struct detect_place *places;
    struct detect_box *boxes;
    unsigned *marks; /* bit b of word w of hit k, at w * maximum + k: whether word 32 w + b of its overlaps has any */
};

struct groups_step {
    int *count;         /* of the hits in order, at most `maximum` */
    uint64_t *keys;     /* in order */
    unsigned *overlaps; /* word w of hit k, at w * maximum + k: which of the hits 32 w to 32 w + 31, all before k */
    struct group_notes notes;
};

/* Allocates what is not there yet. */
enum status groups_setup(struct groups_step *step, const struct detect_params *params);
/* The same, with notes; the list of hits has places, too. */
enum status groups_note(struct groups_step *step, struct hits_step *hits, const struct detect_params *params);
/* Enqueues the way from the list to the tables. */
enum status groups_end(struct groups_step *step, const struct hits_step *hits, struct image out[],
                       const struct detect_params *params, cudaStream_t stream);
void groups_teardown(struct groups_step *step);

#endif
