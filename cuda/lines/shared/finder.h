/*
 * finder.h: what the versions of lines share: the steps, the device images between them, and a frame's way through
 * both. When they are made, and how many frames are under way, is the rungs' own.
 */
#ifndef RUNGS_LINES_FINDER_H
#define RUNGS_LINES_FINDER_H

#include "common/algo/lines.h"
#include "common/cuda/device.h"

struct line_finder {
    struct step steps[LINES_STEPS];
    struct image frame, gray, mask, table; /* on the device */
    struct image lines;                    /* the table on the host; pinned where the rung wants it */
};

/* Opens the steps and allocates all but `lines` for frames like *first. *finder is zeroed, or closed. */
enum status line_finder_open(struct line_finder *finder, const struct lines_ids *ids, const struct image *first,
                             const struct lines_params *params);
void line_finder_close(struct line_finder *finder);

/* Enqueues what makes finder->table of finder->frame. */
enum status line_finder_launch(struct line_finder *finder, cudaStream_t stream);

/* A frame's whole way, which has ended when it returns; finder->lines is there. */
enum status line_finder_find(struct line_finder *finder, const struct image *frame, struct image *result);

#endif
