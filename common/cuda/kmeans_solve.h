/*
 * kmeans_solve.h: k-means on the device, all but the assignments, which are each version's own: the device's
 * counterpart of kmeans_solve() in kmeans.h, with the same integers and so the same bits.
 *
 * The host asks the device once, after the rows were measured. Whether the centroids still move stays on the device:
 * once they do not, the kernels of what iterations are left return at once.
 */
#ifndef RUNGS_KMEANS_SOLVE_H
#define RUNGS_KMEANS_SOLVE_H

#include "common/algo/kmeans.h"
#include "common/cuda/device.h"

enum kmeans_phase { KMEANS_MOVING, KMEANS_LAST /* one more assignment */, KMEANS_FINISHED };

/* What the kernels of a call tell each other. */
struct kmeans_control {
    unsigned largest, largest_sum; /* of integers: sample, sum of a row */
    unsigned magnitude;            /* bits of the largest |x| of f32 */
    unsigned long long squares[2]; /* SUM |X|^2, the lower and the upper words of the rows' */
    int phase;                     /* an enum kmeans_phase */
    int done;                      /* the last assignment */
    unsigned arrived;
    int moved[KMEANS_MAX_K];
    kmeans_wide parts[KMEANS_MAX_K]; /* of the inertia */
    double best;                     /* of the attempts */
};

/* A row and its time in the race of k-means++. */
struct kmeans_runner {
    double time;
    int row;
};

/* A call as kernels see it; all pointers are the device's. */
struct kmeans_task {
    struct image in;
    int count, features, k;
    int lanes; /* threads that share a row in the kernels of kmeans_solve.cu */
    int shift;
    double scale;                /* 2^shift */
    bool small;                  /* as in struct kmeans_rows */
    bool knows_distances;        /* a version's: its assignments fill `distances` with 1 + D to the own centroid */
    int32_t *centroids, *before; /* k x features, C: of this iteration and of the one before */
    int32_t *labels;
    unsigned long long *sums, *counts; /* of X, k x features, as two's complement; k */
    unsigned long long *distances;     /* of rows, where they are asked for */
    double *inertia;                   /* of each assignment */
    struct kmeans_runner *runners;     /* one for each warp of a race */
    struct kmeans_control *control;
};

/* X of a sample. */
static __device__ inline int kmeans_sample(const struct kmeans_task &task, const void *row, int feature)
{
    return task.in.type == PIXEL_U8    ? ((const uint8_t *)row)[feature] << KMEANS_SHIFT
           : task.in.type == PIXEL_U16 ? ((const uint16_t *)row)[feature] << KMEANS_SHIFT
                                       : (int)rint((double)((const float *)row)[feature] * task.scale);
}

static __device__ inline bool kmeans_finished(const struct kmeans_task &task)
{
    return task.control->phase == KMEANS_FINISHED;
}

static __device__ inline bool kmeans_is_before(const struct kmeans_runner &one, const struct kmeans_runner &other)
{
    return one.time < other.time || (one.time == other.time && one.row < other.row);
}

/* The first of a warp. */
static __device__ inline struct kmeans_runner kmeans_warp_first(struct kmeans_runner own)
{
    for (int step = 16; step > 0; step /= 2) {
        const double time = __shfl_xor_sync(0xffffffff, own.time, step);
        const int row = __shfl_xor_sync(0xffffffff, own.row, step);
        if (kmeans_is_before({time, row}, own))
            own = {time, row};
    }
    return own;
}

/* Row floor(j N / k), for a start without a race, and for one that nobody wins. */
static __device__ inline int kmeans_evenly_spread(const struct kmeans_task &task, int cluster)
{
    return (int)((uint64_t)cluster * (uint64_t)task.count / (uint64_t)task.k);
}

/* A block: a row becomes a centroid. */
static __device__ inline void kmeans_take_row(const struct kmeans_task &task, int row, int cluster)
{
    const void *x = kmeans_row(&task.in, row);

    for (int f = threadIdx.x; f < task.features; f += blockDim.x)
        task.centroids[cluster * task.features + f] = kmeans_sample(task, x, f);
}

/* A version's own race of k-means++, for small rows: enqueues what makes the centroid `cluster`, 1 or more, from those
 * before it. The first of a call is that of attempt 0 and cluster 1. */
typedef enum status (*kmeans_device_race)(void *state, const struct kmeans_task *task,
                                          const struct kmeans_params *params, int attempt, int cluster,
                                          cudaStream_t stream);

/* A version's own iterations of small rows: enqueues all assignments and updates of an attempt, from centroids to
 * labels, and what makes the inertia of each assignment and control->done of them. */
typedef enum status (*kmeans_device_iterate)(void *state, const struct kmeans_task *task,
                                             const struct kmeans_params *params, cudaStream_t stream);

/* Device memory of a call's size. Zeroed: none. */
struct kmeans_memory {
    struct kmeans_task task;
    kmeans_device_race race;       /* NULL: that of kmeans_solve.cu */
    kmeans_device_iterate iterate; /* the same */
};

/* Does nothing when it is there. */
enum status kmeans_memory_create(struct kmeans_memory *memory, const struct image *in,
                                 const struct kmeans_params *params);
void kmeans_memory_free(struct kmeans_memory *memory);

/* A version's part: enqueues what fills labels, sums and counts, and does nothing once kmeans_finished(). With `first`,
 * labels, sums and counts hold nothing yet, else those of the assignment before. */
typedef enum status (*kmeans_device_assign)(void *state, const struct kmeans_task *task, bool first,
                                            cudaStream_t stream);

/* Everything else, from and to device images. */
enum status kmeans_device_solve(struct kmeans_memory *memory, const struct image in[], struct image out[],
                                const struct kmeans_params *params, kmeans_device_assign assign, void *state,
                                cudaStream_t stream);

#endif
