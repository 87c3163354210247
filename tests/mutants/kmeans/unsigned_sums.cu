/*
 * Idea:     rows are added up as two's complement.
 * Changed:  a sample below 0 is taken as a 32-bit number without a sign.
 * Expect:   no pattern
 */
#include "tests/mutants/kmeans/mutant.cuh"

static __global__ void assign_kernel(struct kmeans_task task)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= task.count || kmeans_finished(task))
        return;
    const void *row = kmeans_row(&task.in, i);
    const int label = nearest_centroid(task, row);
    task.labels[i] = label;
    atomicAdd(&task.counts[label], 1);
    for (int f = 0; f < task.features; f++)
        atomicAdd(&task.sums[label * task.features + f], (unsigned)kmeans_sample(task, row, f));
}

static enum status assign(void *, const struct kmeans_task *task, bool, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(task->sums, 0, sizeof *task->sums * (size_t)(task->k * task->features), stream));
    CUDA_TRY(cudaMemsetAsync(task->counts, 0, sizeof *task->counts * (size_t)task->k, stream));
    assign_kernel<<<ceiling_divide(task->count, MUTANT_THREADS), MUTANT_THREADS, 0, stream>>>(*task);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(kmeans)
