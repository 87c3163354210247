/*
 * moved.h: the sums of rows that moved from one cluster to another; of kmeans v1.4 and those above it.
 */
#ifndef RUNGS_KMEANS_MOVED_H
#define RUNGS_KMEANS_MOVED_H

#include "common/cuda/kmeans_solve.h"

/* No rows yet. */
static inline enum status kmeans_clear_sums(const struct kmeans_task *task, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(task->sums, 0, sizeof *task->sums * (size_t)(task->k * task->features), stream));
    CUDA_TRY(cudaMemsetAsync(task->counts, 0, sizeof *task->counts * (size_t)task->k, stream));
out:
    return status;
}

/* To the sums and the count of a cluster, by a warp; sign is 1 or -1. */
static __device__ inline void kmeans_add_row(const struct kmeans_task &task, int row, int cluster, int sign)
{
    const void *x = kmeans_row(&task.in, row);
    const int lane = threadIdx.x % 32;

    if (lane == 0)
        atomicAdd(&task.counts[cluster], (unsigned long long)sign);
    for (int f = lane; f < task.features; f += 32)
        atomicAdd(&task.sums[cluster * task.features + f], (unsigned long long)(sign * kmeans_sample(task, x, f)));
}

/* A whole warp, whose threads have labelled a row each, or none (row < 0): writes the label, and all add the rows that moved. */
static __device__ inline void kmeans_move_rows(const struct kmeans_task &task, bool first, int row, int label)
{
    const int before = first || row < 0 ? -1 : task.labels[row];
    unsigned moved = __ballot_sync(0xffffffff, row >= 0 && before != label);

    if (row >= 0)
        task.labels[row] = label;
    for (; moved; moved &= moved - 1) {
        const int from = __ffs((int)moved) - 1;
        const int its_row = __shfl_sync(0xffffffff, row, from), its_label = __shfl_sync(0xffffffff, label, from);
        const int its_before = __shfl_sync(0xffffffff, before, from);
        kmeans_add_row(task, its_row, its_label, 1);
        if (its_before >= 0)
            kmeans_add_row(task, its_row, its_before, -1);
    }
}

#endif
