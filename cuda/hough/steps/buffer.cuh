/*
 * buffer.cuh: the circular buffer of rows that v1.2 and v1.3 have in shared memory, or where it does not fit in global.
 */
#ifndef RUNGS_HOUGH_STEPS_BUFFER_CUH
#define RUNGS_HOUGH_STEPS_BUFFER_CUH

#include "common/algo/hough.h"

enum { BUFFER_MOST_SHARED = 227 << 10 };

/* A block's rows, from cell -reach to reach around the centre, with `radius` cells that stay 0 on either side. */
struct buffer {
    int n, width, reach, radius;
};

static inline struct buffer buffer_make(const struct image *in, const struct hough_params *params)
{
    const int radius = params->radius, reach = hough_make_space(in->width, in->height, params).reach;

    return {2 * radius + 1, 2 * (reach + radius) + 1, reach, radius};
}

static inline size_t buffer_bytes(struct buffer buffer)
{
    return (size_t)buffer.n * buffer.width * sizeof(int);
}

/* The centre of row v, which may lie outside the accumulator. */
static inline __device__ int *buffer_row(struct buffer buffer, int *counters, int v)
{
    return counters + (v + buffer.n) % buffer.n * buffer.width + buffer.radius + buffer.reach;
}

/* Whether (n, i) has more votes than the threshold, no cell around it more, and none of smaller index as many. */
static inline __device__ bool buffer_is_line(struct buffer buffer, int *counters, const struct hough_params &params,
                                             int n, int i)
{
    const int own = buffer_row(buffer, counters, n)[i];

    if (own <= params.threshold)
        return false;
    for (int j = -buffer.radius; j <= buffer.radius; j++) {
        const int *row = buffer_row(buffer, counters, n + j) + i;
        const bool before = n + j >= 0 && (n + j >= params.theta_steps || j < 0);
        for (int k = -buffer.radius; k <= buffer.radius; k++)
            if (params.window != HOUGH_CROSS || (j == 0) != (k == 0))
                if (before || (j == 0 && k < 0) ? row[k] >= own : row[k] > own)
                    return false;
    }
    return true;
}

#endif
