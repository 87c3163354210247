/*
 * Problem:  The CPU has few cores for 47,628 independent rows.
 * Idea:     A thread for each row finds its centroid and adds the row to the sums of its cluster in
 *           global memory with atomicAdd(). All rungs share the kernels for start and means.
 * Expect:   0.5 ms an assignment: a warp's load takes 32 sectors of 32 bytes, and 12 million
 *           additions of 64 bits meet in 4096 sums (atomic contention).
 * Result:   31 ms for the start and 11 assignments, not 11 * 0.5 ms
 *           (results/h100/kmeans/kmeans_252x189_climb.json); the reasons: cuda/v1.2, v1.3.
 * Run:      make bench-kmeans VERSIONS=cuda
 */
#include "common/cuda/kmeans_solve.h"

struct state {
    struct kmeans_memory memory;
    struct image in, out[3];
};

enum { THREADS = 128 };

static __global__ void assign_kernel(struct kmeans_task task)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long smallest = INT64_MAX;
    int label = 0;

    if (i >= task.count || kmeans_finished(task))
        return;
    const void *row = kmeans_row(&task.in, i);
    for (int j = 0; j < task.k; j++) {
        const int32_t *centroid = task.centroids + j * task.features;
        long long sum = 0;
        for (int f = 0; f < task.features; f++) {
            const long long difference = kmeans_sample(task, row, f) - centroid[f];
            sum += difference * difference;
        }
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    task.labels[i] = label;
    atomicAdd(&task.counts[label], 1);
    for (int f = 0; f < task.features; f++)
        atomicAdd(&task.sums[label * task.features + f], (unsigned long long)kmeans_sample(task, row, f));
}

static enum status assign(void *, const struct kmeans_task *task, bool, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(task->sums, 0, sizeof *task->sums * (size_t)(task->k * task->features), stream));
    CUDA_TRY(cudaMemsetAsync(task->counts, 0, sizeof *task->counts * (size_t)task->k, stream));
    assign_kernel<<<ceiling_divide(task->count, THREADS), THREADS, 0, stream>>>(*task);
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
    device_image_free(&state->in);
    for (struct image &out : state->out)
        device_image_free(&out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct kmeans_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int i = 0; i < 3; i++)
        TRY(device_image_create(&state->out[i], &out[i]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        TRY(device_download(&out[i], &state->out[i]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(kmeans, .declines = kmeans_all_rows)
