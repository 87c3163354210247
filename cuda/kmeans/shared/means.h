/*
 * means.h: an iteration in one kernel, of kmeans v2.3: each block begins with all means, which it makes from the
 * sums of the assignment before, and ends by adding what its own rows move.
 *
 * No block waits for another within a kernel, so nothing may be read that another block writes: sums are the totals of
 * all assignments but the last and the differences that the last one made. There are two of the former and three of the
 * latter, which assignment i adds to, i + 1 reads and i + 2 leaves alone but for clearing them; distances are two as
 * well.
 */
#ifndef RUNGS_KMEANS_MEANS_H
#define RUNGS_KMEANS_MEANS_H

#include "cuda/kmeans/shared/sums.h"

enum { KMEANS_AHEAD = 8 };

/* Zeroed: none. */
struct kmeans_means {
    unsigned long long *sums;         /* two totals, then three differences: of X, k x features, and the counts of k */
    unsigned long long *distances[2]; /* the first is the task's */
    unsigned long long *inertia;      /* behind the sums; of each assignment, in the unit of X^2 */
    int *moved; /* behind the inertia; whether the centroids of an assignment are others than those before it */
};

/* What the kernel of one assignment knows besides its task, whose sums and distances are those that it writes. */
struct kmeans_step {
    int number;
    double tolerance;                                         /* squared, in the unit of X */
    const unsigned long long *total, *difference, *distances; /* of the assignment before */
    unsigned long long *next_total, *next_difference, *inertia;
    int *moved;
};

/* What a version keeps. Zeroed: none. */
struct kmeans_small {
    struct kmeans_memory memory;
    struct kmeans_bytes bytes;
    struct kmeans_means means;
    /* The version's part: enqueues the kernel of an assignment of small rows, which are packed. */
    enum status (*assign)(const struct kmeans_task *task, const struct kmeans_bytes *bytes,
                          const struct kmeans_step *step, cudaStream_t stream);
};

/* Does nothing when all is there. */
enum status kmeans_small_create(struct kmeans_small *small, const struct image in[],
                                const struct kmeans_params *params);
void kmeans_small_free(struct kmeans_small *small);

/* All of a call; rows that are not small go as in v2.2. */
enum status kmeans_small_solve(struct kmeans_small *small, const struct image in[], struct image *out,
                               const struct kmeans_params *params, cudaStream_t stream);

/* Of assignment `number`: nothing is left to do once centroids have stayed. */
static __device__ inline bool kmeans_stayed(const struct kmeans_step &step)
{
    return step.number > 1 && !step.moved[step.number - 1];
}

/* Of the assignment before: a sum, or behind them a count. */
static __device__ inline long long kmeans_step_sum(const struct kmeans_step &step, int at)
{
    return (long long)(__ldg(&step.total[at]) + __ldg(&step.difference[at]));
}

static __device__ inline long long kmeans_step_count(const struct kmeans_task &task, const struct kmeans_step &step,
                                                     int cluster)
{
    return kmeans_step_sum(step, task.k * task.features + cluster);
}

/* The mean of small rows; X and so the numerator are at least 0 and below 2^47, the quotient is right or off by one. */
static __device__ inline int kmeans_quick_mean(long long sum, long long count, double inverse)
{
    const long long numerator = sum + count / 2;
    const int quotient = (int)((double)numerator * inverse);
    const long long rest = numerator - quotient * count;

    return quotient + (rest >= count) - (rest < 0);
}

/* X of a packed sample. */
static __device__ inline int kmeans_packed(const struct kmeans_bytes &bytes, int row, int feature)
{
    unsigned wide = bytes.wide[row], sample = bytes.samples[(size_t)row * (size_t)bytes.pitch + (unsigned)feature];

    for (unsigned left = wide >> 30; left > 0; left--, wide >>= 10)
        sample += (wide & 1023) == (unsigned)feature ? 256 : 0;
    return (int)(sample << KMEANS_SHIFT);
}

/* Shared memory of a block. */
struct kmeans_means_room {
    unsigned long long farthest, inertia[32]; /* of warps */
    int fills[KMEANS_MAX_K];                  /* of empty clusters: the row that is taken */
};

/* The whole block, room->fills: in the order of the clusters the row that is farthest from its centroid, the next one
 * and so on, ties to the lower. Distances plus 1 and rows are one number each, compared with the one before. Rare. */
static __device__ inline void kmeans_find_fills(const struct kmeans_task &task, const struct kmeans_step &step,
                                                struct kmeans_means_room *room)
{
    unsigned long long before = ~0ull;

    for (int j = 0; j < task.k; j++) {
        unsigned long long own = 0;
        if (kmeans_step_count(task, step, j) > 0)
            continue;
        if (threadIdx.x == 0)
            room->farthest = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < task.count; i += blockDim.x) {
            const unsigned long long key = __ldg(&step.distances[i]) << 32 | (0xffffffff - (unsigned)i);
            own = key < before && key > own ? key : own;
        }
        atomicMax(&room->farthest, own);
        __syncthreads();
        before = room->farthest;
        room->fills[j] = (int)(0xffffffff - (unsigned)before);
        __syncthreads();
    }
}

/* As kmeans_load_planes(), of the means. Blocks share out what the next kernel needs of all. KMEANS_AHEAD sums of a
 * lane are under way before the first is used: a byte that is stored might be any other's, so the compiler changes no
 * order around these. */
static __device__ inline void kmeans_load_means(const struct kmeans_task &task, const struct kmeans_bytes &bytes,
                                                const struct kmeans_step &step, int first, uint8_t *planes,
                                                int norms[KMEANS_GROUP], struct kmeans_means_room *room)
{
    const int share = blockDim.x / KMEANS_GROUP, lane = threadIdx.x % share, j = first + (int)threadIdx.x / share;
    const int stride = kmeans_plane_stride(bytes.pitch);
    const bool keeps = j % gridDim.x == blockIdx.x;
    const long long count = j < task.k ? kmeans_step_count(task, step, j) : 1;
    const double inverse = 1 / (double)count;
    unsigned long long shift = 0;
    int norm = 0;

    for (int from = lane; from < bytes.pitch; from += KMEANS_AHEAD * share) {
        long long sums[KMEANS_AHEAD];
        for (int i = 0; i < KMEANS_AHEAD; i++) {
            const int f = from + i * share, at = j * task.features + f;
            sums[i] = j < task.k && f < task.features ? kmeans_step_sum(step, at) : 0;
        }
        if (from == lane && __syncthreads_or(count == 0))
            kmeans_find_fills(task, step, room);
        for (int i = 0; i < KMEANS_AHEAD; i++) {
            const int f = from + i * share, at = j * task.features + f;
            const bool is = j < task.k && f < task.features;
            const int c = !is         ? 0
                          : count > 0 ? kmeans_quick_mean(sums[i], count, inverse)
                                      : kmeans_packed(bytes, room->fills[j], f);
            if (f >= bytes.pitch)
                continue;
            planes[(j - first) * stride + f] = (uint8_t)c;
            planes[(KMEANS_GROUP + j - first) * stride + f] = (uint8_t)(c >> 8);
            norm += c * c;
            if (!is || !keeps)
                continue;
            const long long difference = c - task.centroids[at];
            shift += (unsigned long long)(difference * difference);
            task.centroids[at] = c;
            step.next_total[at] = (unsigned long long)sums[i];
            step.next_difference[at] = 0;
        }
    }
    for (int half = share / 2; half > 0; half /= 2) {
        norm += __shfl_xor_sync(0xffffffff, norm, half);
        shift += __shfl_xor_sync(0xffffffff, shift, half);
    }
    if (lane > 0)
        return;
    norms[j - first] = j < task.k ? norm : INT32_MAX;
    if (j >= task.k || !keeps)
        return;
    step.next_total[task.k * task.features + j] = (unsigned long long)count;
    step.next_difference[task.k * task.features + j] = 0;
    if ((double)shift > step.tolerance)
        atomicExch(&step.moved[step.number], 1);
}

/* The whole block: what its rows add to the inertia. */
static __device__ inline void kmeans_add_inertia(const struct kmeans_step &step, unsigned long long own,
                                                 struct kmeans_means_room *room)
{
    for (int half = 16; half > 0; half /= 2)
        own += __shfl_xor_sync(0xffffffff, own, half);
    if (threadIdx.x % 32 == 0)
        room->inertia[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned w = 1; w < blockDim.x / 32; w++)
        own += room->inertia[w];
    atomicAdd(&step.inertia[step.number], own);
}

#endif
