/*
 * buffer.cuh: the circular buffer of rows that a block of v1.2 and v1.3 has in shared memory, or where it does not fit in
 * global memory.
 */
#ifndef RUNGS_HOUGH_STEPS_BUFFER_CUH
#define RUNGS_HOUGH_STEPS_BUFFER_CUH

#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/points.h"

enum { BUFFER_MOST_SHARED = 227 << 10, BUFFER_GLOBAL_BLOCKS = 64 };

/* A block's rows, from cell -reach to reach around the centre, with `radius` cells that stay 0 on either side. */
struct buffer {
    struct points_step points;
    int n, width, reach, radius;
    int *global; /* rows of BUFFER_GLOBAL_BLOCKS blocks, NULL where shared memory has room for a block's */
};

static inline size_t buffer_bytes(struct buffer buffer)
{
    return (size_t)buffer.n * buffer.width * sizeof(int);
}

/* What a launch asks for: shared memory, and blocks for runs of so many rows. Fewer blocks take several runs each. */
static inline size_t buffer_shared(struct buffer buffer)
{
    return buffer.global ? 0 : buffer_bytes(buffer);
}

static inline unsigned buffer_blocks(struct buffer buffer, int rows, int run)
{
    const unsigned blocks = ceiling_divide(rows, run);

    return buffer.global && blocks > BUFFER_GLOBAL_BLOCKS ? (unsigned)BUFFER_GLOBAL_BLOCKS : blocks;
}

/* Allocates what is not there yet, for a picture and parameters that stay the same. */
static inline enum status buffer_setup(struct buffer *buffer, const struct image *in, const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(points_setup(&buffer->points, in));
    buffer->radius = params->radius;
    buffer->reach = hough_make_space(in->width, in->height, params).reach;
    buffer->n = 2 * buffer->radius + 1;
    buffer->width = 2 * (buffer->reach + buffer->radius) + 1;
    if (buffer_bytes(*buffer) > BUFFER_MOST_SHARED && !buffer->global)
        TRY(device_allocate((void **)&buffer->global, BUFFER_GLOBAL_BLOCKS * buffer_bytes(*buffer)));
out:
    return status;
}

static inline void buffer_teardown(struct buffer *buffer)
{
    points_teardown(&buffer->points);
    device_free(buffer->global);
}

static inline __device__ int *buffer_counters(struct buffer buffer, int *shared)
{
    return buffer.global ? buffer.global + (size_t)blockIdx.x * buffer.n * buffer.width : shared;
}

/* The centre of row v, which may lie outside the accumulator. */
static inline __device__ int *buffer_row(struct buffer buffer, int *counters, int v)
{
    return counters + (v + buffer.n) % buffer.n * buffer.width + buffer.radius + buffer.reach;
}

/* Row v takes the place of the oldest; beyond either end it is that of the other end with rho reversed. */
static inline __device__ void buffer_fill_row(struct buffer buffer, int *counters, const struct lines_step &lines,
                                              const struct hough_params &params, int v)
{
    const int rows = params.theta_steps, n = v < 0 ? v + rows : v >= rows ? v - rows : v;
    const unsigned count = n != v && params.window == HOUGH_CROSS ? 0 : *buffer.points.count;
    int *row = buffer_row(buffer, counters, v);
    struct hough_angle angle = lines.angles[n];

    for (int i = threadIdx.x; i < buffer.width; i += blockDim.x)
        row[i - buffer.radius - buffer.reach] = 0;
    __syncthreads();
    if (n != v)
        angle = {-angle.cosine, -angle.sine};
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const struct points_item item = buffer.points.items[i];
        if (hough_votes_for(&params, item.bin, n))
            atomicAdd(&row[hough_offset(item.place & 0xffff, item.place >> 16, angle)], 1);
    }
    __syncthreads();
}

static inline __device__ void buffer_write_row(struct buffer buffer, int *counters, struct hough_space space, int n,
                                               int *to)
{
    const int *row = buffer_row(buffer, counters, n);

    for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
        to[i] = abs(i - space.centre) <= buffer.reach ? row[i - space.centre] : 0;
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

static inline __device__ void buffer_search_row(struct buffer buffer, int *counters, const struct lines_step &lines,
                                                const struct hough_params &params, int n)
{
    for (int i = threadIdx.x - buffer.reach; i <= buffer.reach; i += blockDim.x)
        if (buffer_is_line(buffer, counters, params, n, i))
            lines_found(lines, n, lines.space.centre + i, buffer_row(buffer, counters, n)[i]);
    __syncthreads();
}

#endif
