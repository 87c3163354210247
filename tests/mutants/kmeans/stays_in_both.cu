/*
 * Idea:     sums that change only where a row moved.
 * Changed:  the row is added to its new cluster, but not taken from the one that it left.
 * Expect:   most samples are
 */
#include "cuda/kmeans/steps/moved.h"

struct state {
    struct kmeans_memory memory;
};

enum { THREADS = 128 };

static __global__ void assign_kernel(struct kmeans_task task, bool first)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    long long smallest = INT64_MAX;
    int label = 0;

    if (i >= task.count || kmeans_finished(task))
        return;
    const void *row = kmeans_row(&task.in, i);
    for (int j = 0; j < task.k; j++) {
        long long sum = 0;
        for (int f = 0; f < task.features; f++) {
            const long long difference = kmeans_sample(task, row, f) - task.centroids[j * task.features + f];
            sum += difference * difference;
        }
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (!first && task.labels[i] == label)
        return;
    task.labels[i] = label;
    atomicAdd(&task.counts[label], 1);
    for (int f = 0; f < task.features; f++)
        atomicAdd(&task.sums[label * task.features + f], (unsigned long long)kmeans_sample(task, row, f));
}

static enum status assign(void *, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (first)
        TRY(kmeans_clear_sums(task, stream));
    assign_kernel<<<ceiling_divide(task->count, THREADS), THREADS, 0, stream>>>(*task, first);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    return kmeans_memory_create(&state->memory, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_device_solve(&state->memory, in, out, params, assign, state, stream);
}

static void teardown(struct state *state)
{
    kmeans_memory_free(&state->memory);
}

RUNGS_CUDA_VERSION(kmeans)
