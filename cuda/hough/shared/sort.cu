#include "cuda/hough/shared/lines.h"

enum { THREADS = 256, BLOCKS = 16 /* there are some thousand lines */, SCAN_THREADS = 1024 };

/* One block: of each number of votes, how many lines have more. A thread adds up a stretch from the most votes down. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(const __grid_constant__ struct lines_step step)
{
    __shared__ unsigned sums[SCAN_THREADS];
    const int count = step.most_votes + 1, stretch = (count + SCAN_THREADS - 1) / SCAN_THREADS;
    const int own = threadIdx.x, begin = min(own * stretch, count), end = min(begin + stretch, count);
    unsigned sum = 0;

    for (int i = begin; i < end; i++)
        sum += step.votes[count - 1 - i];
    sums[own] = sum;
    for (int distance = 1; distance < SCAN_THREADS; distance *= 2) {
        __syncthreads();
        unsigned before = own >= distance ? sums[own - distance] : 0;
        __syncthreads();
        sums[own] += before;
    }
    sum = sums[own] - sum;
    for (int i = begin; i < end; i++) {
        step.first[count - 1 - i] = sum;
        step.placed[count - 1 - i] = sum;
        sum += step.votes[count - 1 - i];
    }
}

/* Brings lines with equally many votes together; those that no row is left for do not matter. */
static __global__ void sort_kernel(const __grid_constant__ struct lines_step step, int maximum)
{
    const unsigned count = *step.count;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const uint64_t key = step.keys[i];
        const unsigned votes = (unsigned)(key >> 32);
        if (step.first[votes] < (unsigned)maximum)
            step.sorted[atomicAdd(&step.placed[votes], 1u)] = key;
    }
}

static __global__ void write_kernel(const __grid_constant__ struct lines_step step, struct image lines, float unit,
                                    float rho)
{
    const unsigned count = *step.count, maximum = (unsigned)lines.height - 1;
    const unsigned used = count < maximum ? count : maximum;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const unsigned row = lines_row(step, step.keys[i], maximum);
        if (row < maximum)
            hough_write_row(step.keys[i], step.space, unit, rho, (float *)image_row(&lines, (int)row + 1));
    }
    for (unsigned i = used + 1 + blockIdx.x * THREADS + threadIdx.x; i <= maximum; i += gridDim.x * THREADS)
        for (int column = 0; column < HOUGH_COLUMNS; column++)
            ((float *)image_row(&lines, (int)i))[column] = 0;
    if (blockIdx.x == 0 && threadIdx.x < HOUGH_COLUMNS)
        ((float *)lines.data)[threadIdx.x] = threadIdx.x == 0 ? (float)count : 0;
}

enum status lines_sort_setup(struct lines_step *step, const struct image *in, const struct hough_params *params)
{
    const int shorter = in->width < in->height ? in->width : in->height;
    const int longer = in->width + in->height - shorter, across = (int)(params->rho * 1.41421357) + 2;
    /* No two neighbours are lines, so at most one cell of two is one. */
    const size_t most = ((size_t)step->space.rows * (size_t)(step->space.cells + 1)) / 2 + 1;
    const size_t counters = (size_t)(longer * (across < shorter ? across : shorter)) + 1;
    enum status status = STATUS_OK;

    step->most_votes = (int)counters - 1;
    TRY(device_allocate((void **)&step->keys, 2 * most * sizeof *step->keys));
    step->sorted = step->keys + most;
    TRY(device_allocate((void **)&step->count, (1 + 3 * counters) * sizeof *step->count));
    step->votes = step->count + 1;
    step->first = step->votes + counters;
    step->placed = step->first + counters;
out:
    return status;
}

enum status lines_begin(struct lines_step *step, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (!step->count)
        return STATUS_OK;
    CUDA_TRY(cudaMemsetAsync(step->count, 0, ((size_t)step->most_votes + 2) * sizeof *step->count, stream));
out:
    return status;
}

enum status lines_sort(struct lines_step *step, const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (!step->count)
        return STATUS_OK;
    scan_kernel<<<1, SCAN_THREADS, 0, stream>>>(*step);
    CUDA_TRY(cudaGetLastError());
    sort_kernel<<<device_blocks(BLOCKS), THREADS, 0, stream>>>(*step, params->maximum);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status lines_end(struct lines_step *step, const struct image out[], const struct hough_params *params,
                      cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (!step->count)
        return STATUS_OK;
    TRY(lines_sort(step, params, stream));
    write_kernel<<<device_blocks(BLOCKS), THREADS, 0, stream>>>(*step, out[0], hough_step(params), (float)params->rho);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
