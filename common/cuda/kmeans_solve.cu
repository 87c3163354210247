#include "common/cuda/kmeans_solve.h"

enum { THREADS = 128, WARPS = THREADS / 32, MOST_LANES = 8 /* of a row */ };
enum { MOST_BLOCKS = 1024, UPDATE_WARPS = 4 /* at most, of an update's block */, UPDATE_THREADS = 32 * UPDATE_WARPS };
enum { PATIENCE = 16 /* iterations enqueued before the host asks whether they are needed */ };

/* Blocks of THREADS for all rows, task->lanes threads each, or a few rows after the other. */
static int row_blocks(const struct kmeans_task *task)
{
    const int blocks = (int)ceiling_divide(task->count, THREADS / task->lanes);

    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

/* ----------------------------------------------------------------------------------------------- memory */

enum status kmeans_memory_create(struct kmeans_memory *memory, const struct image *in,
                                 const struct kmeans_params *params)
{
    struct kmeans_task *task = &memory->task;
    enum status status = STATUS_OK;

    task->count = (int)kmeans_row_count(in);
    task->features = kmeans_features(in);
    task->k = params->k;
    task->lanes = task->features < 4 * MOST_LANES ? 1 : MOST_LANES;
    const size_t count = (size_t)task->count, size = (size_t)task->k * (size_t)task->features;
    const struct {
        void **pointer;
        size_t bytes;
    } parts[] = {{(void **)&task->centroids, size * sizeof *task->centroids},
                 {(void **)&task->before, size * sizeof *task->before},
                 {(void **)&task->labels, count * sizeof *task->labels},
                 {(void **)&task->sums, size * sizeof *task->sums},
                 {(void **)&task->counts, (size_t)task->k * sizeof *task->counts},
                 {(void **)&task->distances, count * sizeof *task->distances},
                 {(void **)&task->inertia, ((size_t)params->iterations + 1) * sizeof *task->inertia},
                 {(void **)&task->runners, (size_t)row_blocks(task) * WARPS * sizeof *task->runners},
                 {(void **)&task->control, sizeof *task->control}};

    for (const auto &part : parts)
        if (!*part.pointer)
            TRY(device_allocate(part.pointer, part.bytes));
out:
    return status;
}

void kmeans_memory_free(struct kmeans_memory *memory)
{
    struct kmeans_task *task = &memory->task;

    device_free(task->centroids);
    device_free(task->before);
    device_free(task->labels);
    device_free(task->sums);
    device_free(task->counts);
    device_free(task->distances);
    device_free(task->inertia);
    device_free(task->runners);
    device_free(task->control);
    *memory = {};
}

/* ----------------------------------------------------------------------------------------- rows and distances */

/* Of the threads of a row. */
template <class T> static __device__ T row_sum(T value, int lanes)
{
    for (int step = lanes / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

/* Of a warp. */
template <class T> static __device__ T warp_sum(T value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

static __device__ kmeans_wide warp_sum_wide(kmeans_wide value)
{
    for (int step = 16; step > 0; step /= 2) {
        const unsigned long long low = __shfl_xor_sync(0xffffffff, (unsigned long long)value, step);
        const unsigned long long high = __shfl_xor_sync(0xffffffff, (unsigned long long)(value >> 64), step);
        value += ((kmeans_wide)(long long)high << 64) + low;
    }
    return value;
}

/* The part of D that starts at feature `first` and takes every `step`-th; a centroid of NULL is 0. */
static __device__ unsigned long long distance_part(const struct kmeans_task &task, int row, const int32_t *centroid,
                                                   int first, int step)
{
    const void *x = kmeans_row(&task.in, row);
    unsigned long long sum = 0;

    for (int f = first; f < task.features; f += step) {
        const long long difference = kmeans_sample(task, x, f) - (centroid ? centroid[f] : 0);
        sum += (unsigned long long)(difference * difference);
    }
    return sum;
}

static __global__ void measure_kernel(struct kmeans_task task)
{
    const int lanes = task.lanes, rows = THREADS / lanes;
    const int lane = threadIdx.x % lanes;
    unsigned largest = 0, largest_sum = 0, magnitude = 0;

    for (int first = blockIdx.x * rows; first < task.count; first += gridDim.x * rows) {
        const int row = min(first + (int)threadIdx.x / lanes, task.count - 1); /* behind the end the last one again */
        const void *x = kmeans_row(&task.in, row);
        unsigned sum = 0;
        for (int f = lane; f < task.features; f += lanes)
            if (task.in.type == PIXEL_F32) {
                magnitude = max(magnitude, __float_as_uint(fabsf(((const float *)x)[f])));
            } else {
                const unsigned sample = task.in.type == PIXEL_U8 ? ((const uint8_t *)x)[f] : ((const uint16_t *)x)[f];
                largest = max(largest, sample);
                sum += sample;
            }
        largest_sum = max(largest_sum, row_sum(sum, lanes));
    }
    largest = __reduce_max_sync(0xffffffff, largest);
    largest_sum = __reduce_max_sync(0xffffffff, largest_sum);
    magnitude = __reduce_max_sync(0xffffffff, magnitude);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&task.control->largest, largest);
        atomicMax(&task.control->largest_sum, largest_sum);
        atomicMax(&task.control->magnitude, magnitude);
    }
}

static __global__ void squares_kernel(struct kmeans_task task)
{
    const int lanes = task.lanes, rows = THREADS / lanes;
    unsigned long long low = 0, high = 0;

    for (int first = blockIdx.x * rows; first < task.count; first += gridDim.x * rows) {
        const int row = first + (int)threadIdx.x / lanes;
        const unsigned long long d =
            row_sum(row < task.count ? distance_part(task, row, NULL, threadIdx.x % lanes, lanes) : 0ull, lanes);
        low += d & 0xffffffff;
        high += d >> 32;
    }
    low = warp_sum(low) / lanes; /* each thread of a row has added it */
    high = warp_sum(high) / lanes;
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&task.control->squares[0], low);
        atomicAdd(&task.control->squares[1], high);
    }
}

/* ------------------------------------------------------------------------------------------------ the start */

/* Block j: centroid j. */
static __global__ void take_rows_kernel(struct kmeans_task task)
{
    kmeans_take_row(task, kmeans_evenly_spread(task, blockIdx.x), blockIdx.x);
}

/* Distances to the nearest of the centroids before `cluster`, and the first row of each warp in the race for it; a row
 * that is on a centroid never arrives. */
static __global__ void race_kernel(struct kmeans_task task, int seed, int attempt, int cluster)
{
    const int lanes = task.lanes, rows = THREADS / lanes;
    const int32_t *centroid = task.centroids + (cluster - 1) * task.features;
    double best = INFINITY;
    int winner = INT32_MAX;

    for (int first = blockIdx.x * rows; first < task.count; first += gridDim.x * rows) {
        const int row = first + (int)threadIdx.x / lanes;
        unsigned long long d =
            row_sum(row < task.count ? distance_part(task, row, centroid, threadIdx.x % lanes, lanes) : 0ull, lanes);
        if (row >= task.count || threadIdx.x % lanes != 0)
            continue;
        if (cluster > 1)
            d = min(d, task.distances[row]);
        task.distances[row] = d;
        const double time = d == 0 ? INFINITY : (double)kmeans_wait(seed, attempt, cluster, row) / (double)d;
        if (time < best) {
            best = time;
            winner = row;
        }
    }
    const struct kmeans_runner first_of_warp = kmeans_warp_first({best, winner});
    if (threadIdx.x % 32 == 0)
        task.runners[blockIdx.x * WARPS + threadIdx.x / 32] = first_of_warp;
}

/* One warp: the winner of `runners` becomes the centroid of the cluster; of the first one, a row by the seed alone. */
static __global__ void choose_kernel(struct kmeans_task task, int seed, int attempt, int cluster, int runners)
{
    struct kmeans_runner own = {INFINITY, INT32_MAX};

    for (int i = threadIdx.x; i < runners && cluster > 0; i += 32)
        if (kmeans_is_before(task.runners[i], own))
            own = task.runners[i];
    own = kmeans_warp_first(own);
    kmeans_take_row(task,
                    cluster == 0           ? (int)kmeans_first_row(seed, attempt, task.count)
                    : own.row == INT32_MAX ? kmeans_evenly_spread(task, cluster)
                                           : own.row,
                    cluster);
}

static enum status start(const struct kmeans_memory *memory, const struct kmeans_params *params, void *state,
                         int attempt, cudaStream_t stream)
{
    const struct kmeans_task *task = &memory->task;
    const int blocks = row_blocks(task);
    enum status status = STATUS_OK;

    if (params->start == KMEANS_ROWS)
        take_rows_kernel<<<task->k, UPDATE_THREADS, 0, stream>>>(*task);
    for (int j = 0; j < task->k && params->start == KMEANS_PLUSPLUS; j++) {
        if (j > 0 && memory->race && task->small) {
            TRY(memory->race(state, task, params, attempt, j, stream));
            continue;
        }
        if (j > 0)
            race_kernel<<<blocks, THREADS, 0, stream>>>(*task, params->seed, attempt, j);
        choose_kernel<<<1, 32, 0, stream>>>(*task, params->seed, attempt, j, blocks * WARPS);
    }
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

/* ----------------------------------------------------------------------------------------------- the update */

struct farthest {
    unsigned long long distance;
    int row;
};

/* The row that is farthest from its centroid, ties to the lower; with `measures`, their distances plus 1 are written
 * first. */
static __device__ struct farthest find_farthest(const struct kmeans_task &task, bool measures)
{
    struct farthest own = {0, INT32_MAX};

    for (int i = threadIdx.x; i < task.count && measures; i += blockDim.x)
        task.distances[i] = 1 + distance_part(task, i, task.before + task.labels[i] * task.features, 0, 1);
#pragma unroll 8
    for (int i = threadIdx.x; i < task.count; i += blockDim.x) {
        const unsigned long long distance = task.distances[i];
        if (distance > own.distance)
            own = {distance, i};
    }
    return own;
}

/* One block: clusters without rows take the farthest ones. Rare; `before` are the centroids that distances are from. */
static __device__ void fill_empty(const struct kmeans_task &task, double tolerance)
{
    __shared__ struct farthest all[UPDATE_THREADS];
    __shared__ unsigned long long shift;
    bool known = task.knows_distances;

    for (int j = 0; j < task.k; j++) {
        if (task.counts[j] > 0)
            continue;
        all[threadIdx.x] = find_farthest(task, !known);
        known = true;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned t = 1; t < blockDim.x; t++)
                if (all[t].distance > all[0].distance ||
                    (all[t].distance == all[0].distance && all[t].row < all[0].row))
                    all[0] = all[t];
            if (all[0].row == INT32_MAX) /* all rows are taken */
                all[0].row = 0;
            task.distances[all[0].row] = 0;
            shift = 0;
        }
        __syncthreads();
        for (int f = threadIdx.x; f < task.features; f += blockDim.x) {
            const int32_t c = kmeans_sample(task, kmeans_row(&task.in, all[0].row), f);
            const long long difference = c - task.before[j * task.features + f];
            task.centroids[j * task.features + f] = c;
            atomicAdd(&shift, (unsigned long long)(difference * difference));
        }
        __syncthreads();
        if (threadIdx.x == 0)
            task.control->moved[j] = (double)shift > tolerance;
        __syncthreads();
    }
}

/* Block j: what cluster j adds to the inertia, and its new centroid. */
static __device__ void update_cluster(const struct kmeans_task &task, int j, bool move, double tolerance)
{
    __shared__ kmeans_wide parts[UPDATE_WARPS];
    __shared__ unsigned long long shifts[UPDATE_WARPS];
    const long long count = (long long)task.counts[j];
    unsigned long long shift = 0;
    kmeans_wide part = 0;

    for (int at = j * task.features + (int)threadIdx.x; at < (j + 1) * task.features; at += blockDim.x) {
        const long long sum = (long long)task.sums[at], c = task.centroids[at];
        part += (kmeans_wide)(2 * sum - count * c) * c;
        if (!move)
            continue;
        const long long mean = count > 0 ? kmeans_mean(sum, count) : c;
        task.before[at] = (int32_t)c;
        task.centroids[at] = (int32_t)mean;
        shift += (unsigned long long)((mean - c) * (mean - c));
    }
    part = warp_sum_wide(part);
    shift = warp_sum(shift);
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = part;
        shifts[threadIdx.x / 32] = shift;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned w = 1; w < blockDim.x / 32; w++) {
        part += parts[w];
        shift += shifts[w];
    }
    task.control->parts[j] = part;
    task.control->moved[j] = (double)shift > tolerance;
}

/* After assignment `number`: its inertia and, but for the last one, the means. `tolerance` is squared, in the unit of
 * X. */
static __global__ void update_kernel(struct kmeans_task task, int number, int iterations, double tolerance)
{
    struct kmeans_control *control = task.control;
    __shared__ bool is_last;
    __shared__ int phase;

    /* The last block changes it while others may still be ending: both sides are atomic. */
    if (threadIdx.x == 0)
        phase = atomicAdd(&control->phase, 0);
    __syncthreads();
    if (phase == KMEANS_FINISHED)
        return;
    const bool move = phase == KMEANS_MOVING && number < iterations;
    update_cluster(task, blockIdx.x, move, tolerance);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(&control->arrived, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
    bool any_empty = false, any_moved = false;
    for (int j = threadIdx.x; j < task.k && move; j += blockDim.x)
        any_empty = any_empty || task.counts[j] == 0;
    if (__syncthreads_or(any_empty))
        fill_empty(task, tolerance);
    if (threadIdx.x >= 32)
        return;
    kmeans_wide total = 0;
    for (int j = threadIdx.x; j < task.k; j += 32) {
        total -= control->parts[j];
        any_moved = any_moved || control->moved[j];
    }
    total = warp_sum_wide(total);
    any_moved = __any_sync(0xffffffff, any_moved);
    if (threadIdx.x > 0)
        return;
    total += ((kmeans_wide)control->squares[1] << 32) + control->squares[0];
    task.inertia[number] = kmeans_unscaled(total, task.shift);
    control->arrived = 0;
    control->done = number;
    atomicExch(&control->phase, !move ? KMEANS_FINISHED : any_moved ? KMEANS_MOVING : KMEANS_LAST);
}

/* ----------------------------------------------------------------------------------------------- the outcome */

/* An attempt that is better than all before it goes to the outputs. */
static __global__ void keep_kernel(struct kmeans_task task, struct image centroids, struct image labels,
                                   struct image inertia, int iterations)
{
    const int done = task.control->done, step = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;

    if (task.inertia[done] >= task.control->best)
        return;
    for (int i = first; i < task.k * task.features; i += step)
        ((float *)image_row(&centroids, i / task.features))[i % task.features] =
            ldexpf((float)task.centroids[i], -task.shift);
    for (int i = first; i < task.count; i += step)
        ((int32_t *)image_row(&labels, i / labels.width))[i % labels.width] = task.labels[i];
    for (int i = first; i <= iterations; i += step)
        *(double *)image_row(&inertia, i) = task.inertia[min(i, done)];
}

static __global__ void begin_kernel(struct kmeans_task task, bool first)
{
    task.control->best = first ? INFINITY : fmin(task.control->best, task.inertia[task.control->done]);
    task.control->phase = KMEANS_MOVING;
}

/* Waits for the device: what follows depends on the samples. */
static enum status measure(struct kmeans_memory *memory, cudaStream_t stream)
{
    struct kmeans_task *task = &memory->task;
    enum { SMALL = 1 << 18 };
    struct kmeans_control control;
    enum status status = STATUS_OK;
    float magnitude;

    CUDA_TRY(cudaMemsetAsync(task->control, 0, sizeof control, stream));
    measure_kernel<<<row_blocks(task), THREADS, 0, stream>>>(*task);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(&control, task->control, sizeof control, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    memcpy(&magnitude, &control.magnitude, sizeof magnitude);
    task->shift = task->in.type == PIXEL_F32 ? kmeans_shift(magnitude) : KMEANS_SHIFT;
    task->scale = ldexp(1, task->shift);
    task->small = task->in.type != PIXEL_F32 && (uint64_t)control.largest * control.largest_sum < SMALL;
    if (!memory->iterate || !task->small)
        squares_kernel<<<row_blocks(task), THREADS, 0, stream>>>(*task);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status iterate(const struct kmeans_task *task, const struct kmeans_params *params,
                           kmeans_device_assign assign, void *state, cudaStream_t stream)
{
    const double tolerance = ldexp(params->tolerance, task->shift);
    const int warps = (int)ceiling_divide(task->features, 32);
    const int threads = 32 * (warps < UPDATE_WARPS ? warps : UPDATE_WARPS);
    int phase = KMEANS_MOVING;
    enum status status = STATUS_OK;

    for (int i = 0; i <= params->iterations && phase != KMEANS_FINISHED; i++) {
        TRY(assign(state, task, i == 0, stream));
        update_kernel<<<task->k, threads, 0, stream>>>(*task, i, params->iterations, tolerance * tolerance);
        CUDA_TRY(cudaGetLastError());
        if (i % PATIENCE == PATIENCE - 1) {
            CUDA_TRY(cudaMemcpyAsync(&phase, &task->control->phase, sizeof phase, cudaMemcpyDeviceToHost, stream));
            CUDA_TRY(cudaStreamSynchronize(stream));
        }
    }
out:
    return status;
}

enum status kmeans_device_solve(struct kmeans_memory *memory, const struct image in[], struct image out[],
                                const struct kmeans_params *params, kmeans_device_assign assign, void *state,
                                cudaStream_t stream)
{
    struct kmeans_task *task = &memory->task;
    enum status status = STATUS_OK;

    task->in = in[0];
    TRY(measure(memory, stream));
    for (int i = 0; i < params->attempts; i++) {
        begin_kernel<<<1, 1, 0, stream>>>(*task, i == 0);
        TRY(start(memory, params, state, i, stream));
        if (memory->iterate && task->small)
            TRY(memory->iterate(state, task, params, stream));
        else
            TRY(iterate(task, params, assign, state, stream));
        keep_kernel<<<row_blocks(task), THREADS, 0, stream>>>(*task, out[KMEANS_CENTROIDS], out[KMEANS_LABELS],
                                                              out[KMEANS_INERTIA], params->iterations);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}
