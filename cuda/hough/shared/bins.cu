#include "cuda/hough/shared/bins.h"

enum { THREADS = 256, BLOCKS = 64, SCAN_THREADS = 1024 };

/* A block's share of the points: from `begin` to `end`. */
struct share {
    unsigned begin, end;
};

static __device__ struct share share_of(unsigned count)
{
    const unsigned each = (count + gridDim.x - 1) / gridDim.x, begin = min(blockIdx.x * each, count);

    return {begin, min(begin + each, count)};
}

/* Counts the share's points by bin in shared memory, where those of one bin meet without going far. */
static __device__ void count_share(const struct points_step &points, struct share share, int bins, unsigned *counts)
{
    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        counts[bin] = 0;
    __syncthreads();
    for (unsigned i = share.begin + threadIdx.x; i < share.end; i += THREADS)
        atomicAdd(&counts[points.items[i].bin], 1u);
    __syncthreads();
}

static __global__ void count_kernel(struct points_step points, struct bins_step step, int bins)
{
    extern __shared__ unsigned counts[];

    count_share(points, share_of(*points.count), bins, counts);
    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        if (counts[bin] > 0)
            atomicAdd(&step.counts[bin], counts[bin]);
}

/* One block: the exclusive prefix sum. A thread adds up a stretch of bins; the sums of stretches are added in log steps. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(struct bins_step step, int bins)
{
    __shared__ unsigned sums[SCAN_THREADS];
    const int own = threadIdx.x, stretch = (bins + SCAN_THREADS - 1) / SCAN_THREADS;
    const int begin = min(own * stretch, bins), end = min(begin + stretch, bins);
    unsigned sum = 0;

    for (int bin = begin; bin < end; bin++)
        sum += step.counts[bin];
    sums[own] = sum;
    for (int distance = 1; distance < SCAN_THREADS; distance *= 2) {
        __syncthreads();
        unsigned before = own >= distance ? sums[own - distance] : 0;
        __syncthreads();
        sums[own] += before;
    }
    sum = sums[own] - sum;
    for (int bin = begin; bin < end; bin++) {
        const unsigned count = step.counts[bin];
        step.starts[bin] = step.counts[bin] = sum;
        sum += count;
    }
    if (own == SCAN_THREADS - 1)
        step.starts[bins] = sum;
}

/* A block reserves places for its points of each bin with one atomic operation in global memory. */
static __global__ void scatter_kernel(struct points_step points, struct bins_step step, int bins)
{
    extern __shared__ unsigned places[];
    const struct share share = share_of(*points.count);

    count_share(points, share, bins, places);
    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        if (places[bin] > 0)
            places[bin] = atomicAdd(&step.counts[bin], places[bin]);
    __syncthreads();
    for (unsigned i = share.begin + threadIdx.x; i < share.end; i += THREADS)
        step.items[atomicAdd(&places[points.items[i].bin], 1u)] = points.items[i];
}

enum status bins_setup(struct bins_step *step, const struct image *in, const struct hough_params *params)
{
    const size_t bins = (size_t)params->theta_steps, pixels = (size_t)in->width * (size_t)in->height;
    const int shared = params->theta_steps * (int)sizeof(unsigned);
    enum status status = STATUS_OK;

    if (params->half_width == HOUGH_ALL_ROWS || step->starts)
        return STATUS_OK;
    TRY(device_allocate((void **)&step->items, pixels * sizeof *step->items));
    TRY(device_allocate((void **)&step->counts, bins * sizeof *step->counts));
    TRY(device_allocate((void **)&step->starts, (bins + 1) * sizeof *step->starts));
    CUDA_TRY(cudaFuncSetAttribute(count_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CUDA_TRY(cudaFuncSetAttribute(scatter_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
out:
    return status;
}

enum status bins_launch(struct bins_step *step, const struct points_step *points, const struct hough_params *params,
                        cudaStream_t stream)
{
    const size_t bytes = (size_t)params->theta_steps * sizeof(unsigned);
    enum status status = STATUS_OK;

    if (params->half_width == HOUGH_ALL_ROWS)
        return STATUS_OK;
    CUDA_TRY(cudaMemsetAsync(step->counts, 0, bytes, stream));
    count_kernel<<<BLOCKS, THREADS, bytes, stream>>>(*points, *step, params->theta_steps);
    CUDA_TRY(cudaGetLastError());
    scan_kernel<<<1, SCAN_THREADS, 0, stream>>>(*step, params->theta_steps);
    CUDA_TRY(cudaGetLastError());
    scatter_kernel<<<BLOCKS, THREADS, bytes, stream>>>(*points, *step, params->theta_steps);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void bins_teardown(struct bins_step *step)
{
    device_free(step->starts);
    device_free(step->counts);
    device_free(step->items);
}
