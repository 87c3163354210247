/*
 * moved.h: the sums of rows that moved from one cluster to another; of kmeans v1.3 and those above it.
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

/* Shared memory of a block of at most 512 threads. */
struct kmeans_moves {
    int rows[512], labels[512], before[512];
};

/* The label of a row from the assignment before, -1 of none. */
static __device__ inline int kmeans_label_before(const struct kmeans_task &task, bool first, int row)
{
    return first || row < 0 ? -1 : task.labels[row];
}

/* A whole warp, whose threads have labelled a row each, or none (row < 0): writes the labels, and calls add(row,
 * cluster, sign) with all lanes for each row that moved. */
template <class Add>
static __device__ inline void kmeans_for_moved(const struct kmeans_task &task, int row, int before, int label,
                                               struct kmeans_moves *moves, const Add &add)
{
    const int own = threadIdx.x, warp = own / 32 * 32;
    unsigned moved = __ballot_sync(0xffffffff, row >= 0 && before != label);

    moves->rows[own] = row;
    moves->labels[own] = label;
    moves->before[own] = before;
    if (row >= 0)
        task.labels[row] = label;
    __syncwarp();
    for (; moved; moved &= moved - 1) {
        const int from = warp + __ffs((int)moved) - 1;
        add(moves->rows[from], moves->labels[from], 1);
        if (moves->before[from] >= 0)
            add(moves->rows[from], moves->before[from], -1);
    }
    __syncwarp();
}

/* The same, whose rows go to the sums of the task. */
static __device__ inline void kmeans_move_rows(const struct kmeans_task &task, bool first, int row, int label,
                                               struct kmeans_moves *moves)
{
    kmeans_for_moved(task, row, kmeans_label_before(task, first, row), label, moves,
                     [&](int moved, int cluster, int sign) { kmeans_add_row(task, moved, cluster, sign); });
}

#endif
