#include "cuda/kmeans/shared/means.h"

enum { TOTALS = 2, DIFFERENCES = 3, PATIENCE = 16 /* assignments before the host asks whether more are needed */ };

static size_t sums_of(const struct kmeans_task *task)
{
    return (size_t)task->k * ((size_t)task->features + 1);
}

/* Of sums, inertia and moved, which lie one behind the other. */
static size_t cleared_bytes(const struct kmeans_task *task, int iterations)
{
    const size_t assignments = (size_t)iterations + 1;

    return ((TOTALS + DIFFERENCES) * sums_of(task) + assignments) * sizeof(unsigned long long) +
           assignments * sizeof(int);
}

static enum status iterate(void *erased, const struct kmeans_task *task, const struct kmeans_params *params,
                           cudaStream_t stream);

static enum status race(void *erased, const struct kmeans_task *task, const struct kmeans_params *params, int attempt,
                        int cluster, cudaStream_t stream)
{
    return kmeans_bytes_race(&((const struct kmeans_small *)erased)->bytes, task, params, attempt, cluster, stream);
}

enum status kmeans_small_create(struct kmeans_small *small, const struct image in[], const struct kmeans_params *params)
{
    struct kmeans_means *means = &small->means;
    const struct kmeans_task *task = &small->memory.task;
    enum status status = STATUS_OK;

    small->memory.task.knows_distances = true;
    small->memory.race = race;
    small->memory.iterate = iterate;
    small->bytes.packed = params->start == KMEANS_PLUSPLUS && params->k > 1;
    TRY(kmeans_bytes_create(&small->bytes, &small->memory, in, params));
    means->distances[0] = task->distances;
    if (!means->sums)
        TRY(device_allocate((void **)&means->sums, cleared_bytes(task, params->iterations)));
    if (!means->distances[1])
        TRY(device_allocate((void **)&means->distances[1], (size_t)task->count * sizeof *means->distances[1]));
    means->inertia = means->sums + (TOTALS + DIFFERENCES) * sums_of(task);
    means->moved = (int *)(means->inertia + params->iterations + 1);
out:
    return status;
}

void kmeans_small_free(struct kmeans_small *small)
{
    device_free(small->means.sums);
    device_free(small->means.distances[1]);
    kmeans_memory_free(&small->memory);
    kmeans_bytes_free(&small->bytes);
    *small = {};
}

/* The step of assignment `number`, whose sums and distances go into *task. */
static struct kmeans_step step_of(const struct kmeans_means *means, struct kmeans_task *task, int number,
                                  double tolerance)
{
    unsigned long long *totals[TOTALS], *differences[DIFFERENCES];

    for (int i = 0; i < TOTALS; i++)
        totals[i] = means->sums + (size_t)i * sums_of(task);
    for (int i = 0; i < DIFFERENCES; i++)
        differences[i] = means->sums + (size_t)(TOTALS + i) * sums_of(task);
    task->sums = differences[number % DIFFERENCES];
    task->counts = task->sums + (size_t)task->k * (size_t)task->features;
    task->distances = means->distances[number % 2];
    return {.number = number,
            .tolerance = tolerance,
            .total = totals[number % TOTALS],
            .difference = differences[(number + 2) % DIFFERENCES],
            .distances = means->distances[(number + 1) % 2],
            .next_total = totals[(number + 1) % TOTALS],
            .next_difference = differences[(number + 1) % DIFFERENCES],
            .inertia = means->inertia,
            .moved = means->moved};
}

/* After the last assignment: the inertia as the solver wants it. */
static __global__ void end_kernel(struct kmeans_task task, struct kmeans_means means, int iterations)
{
    int done = 1;

    while (done < iterations && means.moved[done])
        done++;
    for (int i = threadIdx.x; i <= done; i += blockDim.x)
        task.inertia[i] = kmeans_unscaled((kmeans_wide)means.inertia[i], task.shift);
    if (threadIdx.x == 0)
        task.control->done = done;
}

static enum status iterate(void *erased, const struct kmeans_task *task, const struct kmeans_params *params,
                           cudaStream_t stream)
{
    const struct kmeans_small *small = (const struct kmeans_small *)erased;
    const struct kmeans_means *means = &small->means;
    const double tolerance = ldexp(params->tolerance, KMEANS_SHIFT);
    struct kmeans_task now = *task;
    enum status status = STATUS_OK;
    int moved = 1;

    if (!small->bytes.packed)
        TRY(kmeans_bytes_pack(&small->bytes, task, stream));
    CUDA_TRY(cudaMemsetAsync(means->sums, 0, cleared_bytes(task, params->iterations), stream));
    for (int i = 0; i <= params->iterations && moved; i++) {
        const struct kmeans_step step = step_of(means, &now, i, tolerance * tolerance);
        TRY(small->assign(&now, &small->bytes, &step, stream));
        if (i % PATIENCE == PATIENCE - 1) {
            CUDA_TRY(cudaMemcpyAsync(&moved, &means->moved[i], sizeof moved, cudaMemcpyDeviceToHost, stream));
            CUDA_TRY(cudaStreamSynchronize(stream));
        }
    }
    end_kernel<<<1, 32, 0, stream>>>(*task, *means, params->iterations);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

/* Of rows that are not small. */
static enum status assign_wide(void *erased, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    return kmeans_bytes_begin(&((const struct kmeans_small *)erased)->bytes, task, first, stream);
}

enum status kmeans_small_solve(struct kmeans_small *small, const struct image in[], struct image *out,
                               const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_device_solve(&small->memory, in, out, params, assign_wide, small, stream);
}
