/*
 * segments.h: what a version needs that makes the list of points in one pass: segments of pixels, in raster order, and what the
 * blocks say of them. How they look back at each other is a version's own.
 */
#ifndef RUNGS_EDGES_STEPS_SEGMENTS_H
#define RUNGS_EDGES_STEPS_SEGMENTS_H

#include "cuda/edges/shared/edges.h"

enum { SEGMENTS_PIXELS = 2048 };

/* A word is 4 times a number of points and one of these: of its own segment; of all segments up to it. 0 says nothing. */
enum { SEGMENTS_OWN = 1, SEGMENTS_ALL = 2 };

struct segments {
    unsigned count, *ticket;   /* how many there are; how many are taken */
    unsigned long long *words; /* of each */
};

/* Allocates what is not there yet; nothing with outputs=mask. */
enum status segments_setup(struct segments *segments, const struct image *in, const struct edges_params *params);
/* No ticket is taken, no word said, all rows of the table are 0. */
enum status segments_clear(const struct segments *segments, const struct image *points, cudaStream_t stream);
void segments_teardown(struct segments *segments);

/* Places in raster order, also behind the last pixel: 65535 x 65535 and a segment more stay below 2^32. */
static inline __device__ bool segments_is_point(const struct image &mask, unsigned place)
{
    const unsigned x = place % (unsigned)mask.width, y = place / (unsigned)mask.width;

    return y < (unsigned)mask.height && ((const uint8_t *)image_row(&mask, (int)y))[x] == EDGES_STRONG;
}

/* The word of the segment that lies lane + 1 before `end`; before the first one there are no points. Its block may be writing
 * it meanwhile: an atomic operation reads it. */
static inline __device__ unsigned long long segments_ask(unsigned long long *words, unsigned end, unsigned lane)
{
    return lane < end ? atomicOr(&words[end - 1 - lane], 0ull) : (unsigned long long)SEGMENTS_ALL;
}

/* By the block of the last segment, which knows how many points there are. */
static inline __device__ void segments_write_count(const struct segments &segments, const struct image &points,
                                                   unsigned segment, unsigned total)
{
    if (segment == segments.count - 1)
        *(int4 *)points.data = make_int4((int)total, 0, 0, 0);
}

/* A row of the table, if it has so many. */
static inline __device__ void segments_write(const struct image &in, const struct image &points, unsigned place,
                                             unsigned row)
{
    const int x = (int)(place % (unsigned)in.width), y = (int)(place / (unsigned)in.width);

    if (row < (unsigned)points.height) {
        const struct hough_gradient g = hough_sobel(&in, x, y);
        *(int4 *)image_row(&points, (int)row) = make_int4(x, y, g.x, g.y);
    }
}

#endif
