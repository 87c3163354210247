/*
 * sums.h: what the rows of a block add to the sums, in its shared memory, until it hands all over at once; of kmeans
 * v2.2 and those above it.
 */
#ifndef RUNGS_KMEANS_SUMS_H
#define RUNGS_KMEANS_SUMS_H

#include "cuda/kmeans/shared/race.h"

enum { KMEANS_SHARED_BYTES = 40 << 10 /* for planes and sums */, KMEANS_BLOCK_ROWS = 1 << 22 /* at most: 511 each */ };

/* In shared memory. Feature 4 w + b of a cluster is at b * pitch / 4 + w: 32 lanes with a word each have no bank
 * conflict. */
struct kmeans_sums {
    int *x; /* k x pitch, in the unit of the samples; NULL: there is no room, and rows go to the sums of the task */
    int *counts; /* k */
};

static inline size_t kmeans_sums_bytes(const struct kmeans_task *task, const struct kmeans_bytes *bytes)
{
    const size_t size = sizeof(int) * (size_t)task->k * (size_t)bytes->pitch;

    return size + kmeans_planes_bytes(bytes->pitch) <= KMEANS_SHARED_BYTES ? size : 0;
}

/* The whole block; the first reader waits for it. */
static __device__ inline void kmeans_sums_clear(const struct kmeans_task &task, int pitch,
                                                const struct kmeans_sums &sums)
{
    for (int at = threadIdx.x; at < task.k * pitch && sums.x; at += blockDim.x)
        sums.x[at] = 0;
    for (int j = threadIdx.x; j < task.k; j += blockDim.x)
        sums.counts[j] = 0;
}

/* A warp. */
static __device__ inline void kmeans_sums_add(const struct kmeans_task &task, const struct kmeans_bytes &bytes,
                                              const struct kmeans_sums &sums, int row, int cluster, int sign)
{
    const int lane = threadIdx.x % 32, words = bytes.pitch / 4;
    const unsigned *samples = (const unsigned *)(bytes.samples + (size_t)row * (size_t)bytes.pitch);
    int *x = sums.x + cluster * bytes.pitch;

    if (!sums.x) {
        kmeans_add_row(task, row, cluster, sign);
        return;
    }
    for (int w = lane; w < words; w += 32) {
        const unsigned four = samples[w];
        for (int b = 0; b < 4; b++)
            atomicAdd(&x[b * words + w], sign * (int)(four >> 8 * b & 255));
    }
    if (lane > 0)
        return;
    atomicAdd(&sums.counts[cluster], sign);
    unsigned wide = bytes.wide[row];
    for (unsigned left = wide >> 30; left > 0; left--, wide >>= 10)
        atomicAdd(&x[(wide & 3) * words + (wide & 1023) / 4], 256 * sign);
}

/* The whole block, whose rows are all added: to the sums of the task. Blocks begin with different clusters. */
static __device__ inline void kmeans_sums_hand_over(const struct kmeans_task &task, int pitch,
                                                    const struct kmeans_sums &sums)
{
    const int words = pitch / 4;

    for (int i = threadIdx.x / 32; i < task.k && sums.x; i += blockDim.x / 32) {
        const int j = (int)((i + blockIdx.x) % task.k);
        for (int f = threadIdx.x % 32; f < task.features; f += 32) {
            const int x = sums.x[j * pitch + f % 4 * words + f / 4];
            if (x != 0)
                atomicAdd(&task.sums[j * task.features + f], (unsigned long long)((long long)x << KMEANS_SHIFT));
        }
        if (threadIdx.x % 32 == 0 && sums.counts[j] != 0)
            atomicAdd(&task.counts[j], (unsigned long long)sums.counts[j]);
    }
}

#endif
