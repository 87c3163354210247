#include "cuda/hough/shared/lines.h"

enum {
    SEARCHERS = 256, /* threads of a block */
    ROWS = 4,        /* that one of them looks at */
    THREADS = 1024,
    MOST_BLOCKS = 16,
    VOTES_PER_BLOCK = 32,   /* of the longest line in the picture: a small one needs few blocks */
    KEYS = 8,               /* that a thread loads at a time */
    MOST_SHARED = 224 << 10 /* bytes of counters */
};

/* hough_is_line() for window=cross, of ROWS cells one below the other: all loads are under way before the first is needed. A
 * block reserves the places of all its lines at once, for the second-level cache adds to one counter once a cycle at best. */
static __global__ void cross_kernel(const __grid_constant__ struct lines_step step, struct image accumulator,
                                    int threshold)
{
    __shared__ unsigned total, begin;
    const int r = step.space.centre - step.space.reach + blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * ROWS;
    int votes[ROWS + 2] = {}, left[ROWS] = {}, right[ROWS] = {};
    unsigned found = 0, at = 0;

    if (threadIdx.x == 0)
        total = 0;
    for (int k = 0; k < ROWS + 2 && r <= step.space.centre + step.space.reach; k++) {
        const int n = first + k - 1;
        if (n < 0 || n >= step.space.rows)
            continue;
        const int *row = (const int *)image_row(&accumulator, n);
        votes[k] = row[r];
        if (k > 0 && k <= ROWS) {
            left[k - 1] = r > 0 ? row[r - 1] : 0;
            right[k - 1] = r + 1 < step.space.cells ? row[r + 1] : 0;
        }
    }
    for (int k = 0; k < ROWS; k++) {
        const int own = votes[k + 1];
        if (own > threshold && own > left[k] && own >= right[k] && own > votes[k] && own >= votes[k + 2])
            found |= 1u << k;
    }
    __syncthreads();
    if (found)
        at = atomicAdd(&total, (unsigned)__popc(found));
    __syncthreads();
    if (threadIdx.x == 0 && total > 0)
        begin = atomicAdd(step.count, total);
    __syncthreads();
    at += found ? begin : 0; /* without lines nobody has set it */
    for (int k = 0; k < ROWS; k++)
        if (found >> k & 1) {
            step.keys[at++] = hough_key(step.space, first + k, r, votes[k + 1]);
            atomicAdd(&step.votes[votes[k + 1]], 1u);
        }
}

/* The exclusive prefix sum over the block's threads; a barrier for all of them. */
static __device__ unsigned sum_before(unsigned own)
{
    __shared__ unsigned sums[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = own, before;

    for (unsigned distance = 1; distance < 32; distance *= 2) {
        before = __shfl_up_sync(0xffffffff, sum, distance);
        sum += lane >= distance ? before : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    before = 0;
    for (unsigned k = 0; k < 32; k++)
        before += k < warp ? sums[k] : 0;
    return before + sum - own;
}

/* Every block adds up, from the most votes down, how many lines come before those with so many votes; then it takes those
 * numbers of votes whose lines begin in its share of the rows, and nobody waits for another block. */
static __global__ void __launch_bounds__(THREADS)
    rank_kernel(const __grid_constant__ struct lines_step step, struct image lines, float unit, float rho)
{
    extern __shared__ unsigned next[]; /* of most_votes - votes: where the next line goes */
    __shared__ int low, high;          /* from where, and up to where, `next` is this block's */
    const int counters = step.most_votes + 1, stretch = (counters + THREADS - 1) / THREADS;
    const int from = min((int)threadIdx.x * stretch, counters), to = min(from + stretch, counters);
    const unsigned count = *step.count, maximum = (unsigned)lines.height - 1;
    const unsigned begin = blockIdx.x * maximum / gridDim.x, end = (blockIdx.x + 1) * maximum / gridDim.x;
    unsigned sum = 0, first;
    int own_low = counters, own_high = counters;

    if (threadIdx.x == 0)
        low = high = counters;
    for (int i = threadIdx.x; i < counters; i += THREADS)
        next[i] = step.votes[step.most_votes - i];
    __syncthreads();
    for (int i = from; i < to; i++)
        sum += next[i];
    sum = sum_before(sum);
    for (int i = from; i < to; i++) {
        const unsigned own = next[i];
        next[i] = sum;
        own_low = sum >= begin ? min(own_low, i) : own_low;
        own_high = sum >= end ? min(own_high, i) : own_high;
        sum += own;
    }
    own_low = __reduce_min_sync(0xffffffff, own_low);
    own_high = __reduce_min_sync(0xffffffff, own_high);
    if (threadIdx.x % 32 == 0) {
        atomicMin(&low, own_low);
        atomicMin(&high, own_high);
    }
    __syncthreads();
    first = low < counters ? next[low] : count;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += THREADS * KEYS) {
        uint64_t keys[KEYS];
        for (unsigned k = 0; k < KEYS; k++)
            keys[k] = i + k * THREADS < count ? step.keys[i + k * THREADS] : 0;
        for (unsigned k = 0; k < KEYS; k++) {
            const int place = step.most_votes - (int)(keys[k] >> 32);
            if (keys[k] && place >= low && place < high)
                step.sorted[atomicAdd(&next[place], 1u)] = keys[k];
        }
    }
    __syncthreads();
    for (unsigned i = first + threadIdx.x; low < high && i < next[high - 1]; i += THREADS) {
        const uint64_t key = step.sorted[i];
        const unsigned last = next[step.most_votes - (int)(key >> 32)];
        unsigned row = last - step.votes[key >> 32];
        for (unsigned k = row, stop = last; k < stop; k++)
            row += step.sorted[k] > key;
        if (row < maximum)
            hough_write_row(key, step.space, unit, rho, (float *)image_row(&lines, (int)row + 1));
    }
    for (unsigned row = begin + threadIdx.x; row < end; row += THREADS)
        for (int column = 0; row >= count && column < HOUGH_COLUMNS; column++)
            ((float *)image_row(&lines, (int)row + 1))[column] = 0;
    if (blockIdx.x == 0 && threadIdx.x < HOUGH_COLUMNS)
        ((float *)lines.data)[threadIdx.x] = threadIdx.x == 0 ? (float)count : 0;
}

enum status lines_finish_setup(const struct lines_step *step)
{
    const size_t bytes = ((size_t)step->most_votes + 1) * sizeof *step->votes;
    enum status status = STATUS_OK;

    if (step->count && bytes <= MOST_SHARED)
        CUDA_TRY(cudaFuncSetAttribute(rank_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
out:
    return status;
}

enum status lines_finish(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(2 * step->space.reach + 1, SEARCHERS), ceiling_divide(step->space.rows, ROWS));
    const size_t bytes = ((size_t)step->most_votes + 1) * sizeof *step->votes;
    const int blocks = min(ceiling_divide(step->most_votes + 1, VOTES_PER_BLOCK), (int)MOST_BLOCKS);
    enum status status = STATUS_OK;

    if (!step->count)
        return STATUS_OK;
    if (params->window == HOUGH_CROSS) {
        cross_kernel<<<grid, SEARCHERS, 0, stream>>>(*step, lines_accumulator(step, out), params->threshold);
        CUDA_TRY(cudaGetLastError());
    } else {
        TRY(lines_search_maxima(step, out, params, stream));
    }
    if (bytes > MOST_SHARED)
        return lines_end(step, out, params, stream);
    rank_kernel<<<blocks, THREADS, bytes, stream>>>(*step, out[0], hough_step(params), (float)params->rho);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
