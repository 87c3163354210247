/*
 * Problem:  An empty cluster of cuda/v1.2 takes the farthest row, and one block computes all 47,628
 *           distances again: 12 of 15 ms. Each assignment adds up all rows again.
 * Idea:     Do not compute twice: an assignment writes the distance of each row, and only rows that
 *           moved change the sums. Lanes of a row and threads of a block are tunables.
 * Expect:   5 times as fast as cuda/v1.2: 12 ms go; after three iterations one row in ten moves.
 * Result:   3.8 times as fast as cuda/v1.2 with 32 lanes and 256 threads, 4.0 ms
 *           (results/h100/kmeans/kmeans_252x189_climb.json).
 * Run:      make tune-kmeans V=cuda/v1.3 SVG=heat.svg
 */
#include "cuda/kmeans/shared/moved.h"

struct state {
    struct kmeans_memory memory;
};

static int row_lanes = 32, threads = 256;
static const int some_lanes[] = {1, 2, 4, 8, 16, 32, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"lanes", &row_lanes, some_lanes, "threads of a row"},
                                    {"threads", &threads, some_threads, "threads of a block"},
                                    {}};

/* Beyond the end the last row again: all lanes of a warp take part in its shuffles. */
static __global__ void assign_kernel(struct kmeans_task task, bool first, int lanes)
{
    __shared__ struct kmeans_moves moves;
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
    if (lane == 0 && i < task.count)
        task.distances[i] = 1 + (unsigned long long)smallest;
    kmeans_move_rows(task, first, lane == 0 && i < task.count ? i : -1, label, &moves);
}

static enum status assign(void *, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (first)
        TRY(kmeans_clear_sums(task, stream));
    assign_kernel<<<ceiling_divide(task->count, threads / row_lanes), threads, 0, stream>>>(*task, first, row_lanes);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    state->memory.task.knows_distances = true;
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
