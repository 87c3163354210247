/*
 * groups.h: hits that overlap become detections, by the whole device. For all pairs of hits at once a bit says whether
 * they overlap; then one block finds in rounds which hits lead a group.
 *
 *     overlaps[w * maximum + i]                   bit k: hit 32 w + k, which is stronger than hit i, overlaps with it
 *     overlaps[(GROUP_WORDS + m) * maximum + i]   marks, bit k: word 32 m + k of hit i is not 0 (others are unset)
 */
#ifndef RUNGS_DETECT_STEPS_GROUPS_H
#define RUNGS_DETECT_STEPS_GROUPS_H

#include "cuda/detect/shared/hits.h"

enum { GROUP_WORDS = DETECT_MAX_HITS / 32 };
#define GROUP_BYTES(maximum) ((GROUP_WORDS + GROUP_WORDS / 32) * sizeof(unsigned) * (size_t)(maximum))

/* In place of hits_end(). */
enum status groups_end(struct hits_step *hits, unsigned *overlaps, struct image out[],
                       const struct detect_params *params, cudaStream_t stream);

#endif
