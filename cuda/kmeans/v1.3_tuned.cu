/*
 * Idea:     a row may have fewer lanes than a warp, and a block fewer or more rows: both can be set, so that a search can find
 *           the best.
 * Changed:  `lanes` threads share a row, and 32 / lanes rows a warp; lanes and threads are tunables.
 * Expect:   1.3 times v1.2 with 8 lanes: 3 steps of shuffles in the place of 5, for 4 rows at a time; a load of 8 lanes is
 *           still half a sector of 16-bit samples.
 * Result:   16.8 ms, 9 % slower than v1.2 (results/h200/kmeans/kmeans_252x189.json).
 */
/* Try: make bench-kmeans VERSIONS=cuda P="start=rows iterations=10"
 *      make tune-kmeans V=cuda/v1.3 SVG=heat.svg */
#include "common/cuda/kmeans_solve.h"

struct state {
    struct kmeans_memory memory;
};

static int row_lanes = 8, threads = 256;
static const int some_lanes[] = {1, 2, 4, 8, 16, 32, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"lanes", &row_lanes, some_lanes, "threads of a row"},
                                    {"threads", &threads, some_threads, "threads of a block"},
                                    {}};

/* Rows behind the end are computed like the last one: all lanes of a warp take part in its shuffles. */
static __global__ void assign_kernel(struct kmeans_task task, int lanes)
{
    const int i = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes, lane = threadIdx.x % lanes;
    long long smallest = INT64_MAX;
    int label = 0;

    if (kmeans_finished(task))
        return;
    const void *row = kmeans_row(&task.in, min(i, task.count - 1));
    for (int j = 0; j < task.k; j++) {
        const int32_t *centroid = task.centroids + j * task.features;
        long long sum = 0;
        for (int f = lane; f < task.features; f += lanes) {
            const long long difference = kmeans_sample(task, row, f) - centroid[f];
            sum += difference * difference;
        }
        for (int step = lanes / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (i >= task.count)
        return;
    if (lane == 0) {
        task.labels[i] = label;
        atomicAdd(&task.counts[label], 1);
    }
    for (int f = lane; f < task.features; f += lanes)
        atomicAdd(&task.sums[label * task.features + f], (unsigned long long)kmeans_sample(task, row, f));
}

static enum status assign(void *, const struct kmeans_task *task, bool, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(task->sums, 0, sizeof *task->sums * (size_t)(task->k * task->features), stream));
    CUDA_TRY(cudaMemsetAsync(task->counts, 0, sizeof *task->counts * (size_t)task->k, stream));
    assign_kernel<<<ceiling_divide(task->count, threads / row_lanes), threads, 0, stream>>>(*task, row_lanes);
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

RUNGS_CUDA_VERSION(kmeans, .declines = kmeans_all_rows, .tunables = tunables)
