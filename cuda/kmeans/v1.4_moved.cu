/*
 * Idea:     most rows stay in their cluster: only those that moved are taken from one sum and added to another.
 * Changed:  kmeans_move_rows() in the place of atomicAdd() for every row: a warp adds what moved, 32 features at a time. Sums
 *           and counts are cleared for the first assignment alone.
 * Expect:   1.5 times v1.3 over ten iterations: 12 million additions for the first assignment, a tenth of it after three.
 * Result:   16.1 ms, 4 % less than v1.3 (results/h200/kmeans/kmeans_252x189.json).
 */
/* Try: make bench-kmeans VERSIONS=cuda P="start=rows iterations=10"
 *      make tune-kmeans V=cuda/v1.4 SVG=heat.svg */
#include "cuda/kmeans/shared/moved.h"

struct state {
    struct kmeans_memory memory;
};

static int row_lanes = 8, threads = 256;
static const int some_lanes[] = {1, 2, 4, 8, 16, 32, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"lanes", &row_lanes, some_lanes, "threads of a row"},
                                    {"threads", &threads, some_threads, "threads of a block"},
                                    {}};

/* Rows behind the end are computed like the last one: all lanes of a warp take part in its shuffles. */
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
