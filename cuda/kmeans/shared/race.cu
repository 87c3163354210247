#include "cuda/kmeans/shared/race.h"

enum { THREADS = 128, WARPS = THREADS / 32, MOST_BLOCKS = 1024 /* no more than the solver has runners for */ };
enum { LANES = 4 /* of a row, and rows of these lanes */ };

/* The newest centroid in the samples' own unit: |c|^2 and two planes of bytes. */
struct newest {
    uint4 planes[2][KMEANS_MAX_FEATURES / 16];
    int squares;
};

/* 16 products of bytes added to a sum. */
static __device__ unsigned dot(const uint4 &x, const uint4 &c, unsigned sum)
{
    return __dp4a(x.x, c.x, __dp4a(x.y, c.y, __dp4a(x.z, c.z, __dp4a(x.w, c.w, sum))));
}

/* The block. */
static __device__ void load(const struct kmeans_task &task, int pitch, int cluster, struct newest *newest)
{
    uint8_t *lower = (uint8_t *)newest->planes[0], *upper = (uint8_t *)newest->planes[1];
    int squares = 0;

    if (threadIdx.x == 0)
        newest->squares = 0;
    __syncthreads();
    for (int f = threadIdx.x; f < pitch; f += THREADS) {
        const int c = f < task.features ? task.centroids[cluster * task.features + f] >> KMEANS_SHIFT : 0;
        lower[f] = (uint8_t)c;
        upper[f] = (uint8_t)(c >> 8);
        squares += c * c;
    }
    squares = __reduce_add_sync(0xffffffff, squares);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&newest->squares, squares);
    __syncthreads();
}

/* A warp: each lane gets the distance of row `top` + lane; rows behind the end are computed like the last one. */
static __device__ unsigned long long distance(const struct kmeans_task &task, const struct kmeans_bytes &bytes, int top,
                                              const struct newest &newest)
{
    const int lane = threadIdx.x % 32, member = lane % LANES, own = min(top + lane, task.count - 1);
    const uint4 *rows[LANES];
    unsigned lower[LANES] = {}, upper[LANES] = {}, product = 0;

#pragma unroll
    for (int r = 0; r < LANES; r++) {
        const int row = min(top + lane - member + r, task.count - 1);
        rows[r] = (const uint4 *)(bytes.samples + (size_t)row * (size_t)bytes.pitch) + member;
    }
    for (int at = 0; at < bytes.pitch / 16; at += LANES)
#pragma unroll
        for (int r = 0; r < LANES; r++) {
            const uint4 samples = rows[r][at];
            lower[r] = dot(samples, newest.planes[0][at + member], lower[r]);
            upper[r] = dot(samples, newest.planes[1][at + member], upper[r]);
        }
#pragma unroll
    for (int r = 0; r < LANES; r++) {
        unsigned sum = lower[r] + 256 * upper[r];
        for (int step = LANES / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        product = member == r ? sum : product;
    }
    const int wide = kmeans_wide_product(bytes.wide[own], (const uint8_t *)newest.planes, (int)sizeof newest.planes[0]);
    const int d = bytes.squares[own] + newest.squares - 2 * ((int)product + wide);
    return (unsigned long long)d << (2 * KMEANS_SHIFT);
}

/* The first of the block, in thread 0. */
static __device__ struct kmeans_runner first_of_block(struct kmeans_runner own)
{
    __shared__ struct kmeans_runner firsts[WARPS];

    own = kmeans_warp_first(own);
    if (threadIdx.x % 32 == 0)
        firsts[threadIdx.x / 32] = own;
    __syncthreads();
    for (int w = 0; w < WARPS && threadIdx.x == 0; w++)
        if (kmeans_is_before(firsts[w], own))
            own = firsts[w];
    return own;
}

static __global__ void race_kernel(struct kmeans_task task, struct kmeans_bytes bytes, int seed, int attempt,
                                   int cluster)
{
    __shared__ struct newest newest;
    __shared__ int winner;
    struct kmeans_runner own = {INFINITY, INT32_MAX};

    load(task, bytes.pitch, cluster - 1, &newest);
    for (int first = blockIdx.x * THREADS; first < task.count; first += gridDim.x * THREADS) {
        const int row = first + threadIdx.x;
        unsigned long long d = distance(task, bytes, row / 32 * 32, newest);
        if (row >= task.count)
            continue;
        if (cluster > 1)
            d = min(d, task.distances[row]);
        task.distances[row] = d;
        if (d == 0)
            continue;
        const struct kmeans_runner runner = {(double)kmeans_wait(seed, attempt, cluster, row) / (double)d, row};
        if (kmeans_is_before(runner, own))
            own = runner;
    }
    own = first_of_block(own);
    if (threadIdx.x == 0) {
        task.runners[blockIdx.x] = own;
        __threadfence();
        winner = atomicAdd(&task.control->arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!winner)
        return;
    __threadfence();
    own = {INFINITY, INT32_MAX};
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS)
        if (kmeans_is_before(task.runners[i], own))
            own = task.runners[i];
    own = first_of_block(own);
    if (threadIdx.x == 0) {
        task.control->arrived = 0;
        winner = own.row == INT32_MAX ? kmeans_evenly_spread(task, cluster) : own.row;
    }
    __syncthreads();
    kmeans_take_row(task, winner, cluster);
}

enum status kmeans_bytes_race(const struct kmeans_bytes *bytes, const struct kmeans_task *task,
                              const struct kmeans_params *params, int attempt, int cluster, cudaStream_t stream)
{
    const unsigned blocks = min(ceiling_divide(task->count, THREADS), device_blocks(MOST_BLOCKS));
    enum status status = STATUS_OK;

    if (attempt == 0 && cluster == 1)
        TRY(kmeans_bytes_pack(bytes, task, stream));
    race_kernel<<<blocks, THREADS, 0, stream>>>(*task, *bytes, params->seed, attempt, cluster);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
