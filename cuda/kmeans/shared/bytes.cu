#include "cuda/kmeans/shared/bytes.h"

enum { THREADS = 256, ROWS = THREADS / 32, LANES = 8 /* of a wide row */ };

enum status kmeans_bytes_create(struct kmeans_bytes *bytes, struct kmeans_memory *memory, const struct image *in,
                                const struct kmeans_params *params)
{
    const size_t count = (size_t)kmeans_row_count(in);
    enum status status = STATUS_OK;

    TRY(kmeans_memory_create(memory, in, params));
    bytes->pitch = (int)ceiling_divide(kmeans_features(in), KMEANS_BYTES_PITCH) * KMEANS_BYTES_PITCH;
    if (!bytes->samples)
        TRY(device_allocate((void **)&bytes->samples, count * (size_t)bytes->pitch));
    if (!bytes->wide)
        TRY(device_allocate((void **)&bytes->wide, count * sizeof *bytes->wide));
    if (!bytes->squares)
        TRY(device_allocate((void **)&bytes->squares, count * sizeof *bytes->squares));
out:
    return status;
}

void kmeans_bytes_free(struct kmeans_bytes *bytes)
{
    device_free(bytes->samples);
    device_free(bytes->wide);
    device_free(bytes->squares);
    *bytes = {};
}

/* A warp a row. */
static __global__ void pack_kernel(struct kmeans_task task, struct kmeans_bytes bytes)
{
    const int row = blockIdx.x * ROWS + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned wide = 0, count = 0;
    int squares = 0;

    if (row >= task.count)
        return;
    const void *x = kmeans_row(&task.in, row);
    for (int first = 0; first < bytes.pitch; first += 32) {
        const int f = first + lane, sample = f < task.features ? kmeans_sample(task, x, f) >> KMEANS_SHIFT : 0;
        bytes.samples[(size_t)row * (size_t)bytes.pitch + f] = (uint8_t)sample;
        squares += sample * sample;
        for (unsigned left = __ballot_sync(0xffffffff, sample > 255); left; left &= left - 1, count++)
            wide |= (unsigned)(first + __ffs((int)left) - 1) << 10 * count;
    }
    squares = __reduce_add_sync(0xffffffff, squares);
    if (lane == 0) {
        bytes.wide[row] = wide | count << 30;
        bytes.squares[row] = squares;
    }
}

static __global__ void wide_kernel(struct kmeans_task task, bool first)
{
    __shared__ struct kmeans_moves moves;
    const int i = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    long long smallest = INT64_MAX;
    int label = 0;

    if (kmeans_finished(task))
        return;
    const int row = min(i, task.count - 1);
    const void *x = kmeans_row(&task.in, row);
    for (int j = 0; j < task.k; j++) {
        long long sum = 0;
        for (int f = lane; f < task.features; f += LANES) {
            const long long difference = kmeans_sample(task, x, f) - task.centroids[j * task.features + f];
            sum += difference * difference;
        }
        for (int step = LANES / 2; step > 0; step /= 2)
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

enum status kmeans_bytes_pack(const struct kmeans_bytes *bytes, const struct kmeans_task *task, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    pack_kernel<<<ceiling_divide(task->count, ROWS), THREADS, 0, stream>>>(*task, *bytes);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status kmeans_bytes_begin(const struct kmeans_bytes *bytes, const struct kmeans_task *task, bool first,
                               cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (first)
        TRY(kmeans_clear_sums(task, stream));
    if (first && task->small && !bytes->packed)
        TRY(kmeans_bytes_pack(bytes, task, stream));
    if (!task->small)
        wide_kernel<<<ceiling_divide(task->count, THREADS / LANES), THREADS, 0, stream>>>(*task, first);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
