/*
 * Problem:  Neighbouring threads of cuda/v1.1 read different rows: a warp's load takes 32 sectors.
 * Idea:     A warp takes a row: its lanes read neighbouring features (coalescing) and add up by
 *           shuffles.
 * Expect:   4 times as fast as cuda/v1.1: a load takes 2 sectors, and 32 additions are one request
 *           of the L2 cache. 64-bit arithmetic is left.
 * Result:   2.0 times as fast as cuda/v1.1, 15.4 ms
 *           (results/h100/kmeans/kmeans_252x189_climb.json): 12 ms are for an empty cluster.
 * Run:      make diff-kmeans A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/cuda/kmeans_solve.h"

struct state {
    struct kmeans_memory memory;
};

enum { WARPS = 8 /* of a block, each with a row */ };

static __global__ void assign_kernel(struct kmeans_task task)
{
    const int i = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    long long smallest = INT64_MAX;
    int label = 0;

    if (i >= task.count || kmeans_finished(task))
        return;
    const void *row = kmeans_row(&task.in, i);
    for (int j = 0; j < task.k; j++) {
        const int32_t *centroid = task.centroids + j * task.features;
        long long sum = 0;
        for (int f = lane; f < task.features; f += 32) {
            const long long difference = kmeans_sample(task, row, f) - centroid[f];
            sum += difference * difference;
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (lane == 0) {
        task.labels[i] = label;
        atomicAdd(&task.counts[label], 1);
    }
    for (int f = lane; f < task.features; f += 32)
        atomicAdd(&task.sums[label * task.features + f], (unsigned long long)kmeans_sample(task, row, f));
}

static enum status assign(void *, const struct kmeans_task *task, bool, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(task->sums, 0, sizeof *task->sums * (size_t)(task->k * task->features), stream));
    CUDA_TRY(cudaMemsetAsync(task->counts, 0, sizeof *task->counts * (size_t)task->k, stream));
    assign_kernel<<<ceiling_divide(task->count, WARPS), dim3(32, WARPS), 0, stream>>>(*task);
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

RUNGS_CUDA_VERSION(kmeans, .declines = kmeans_all_rows)
