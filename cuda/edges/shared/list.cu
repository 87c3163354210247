/*
 * The table of points in raster order, in three kernels: blocks count the points of segments of 256 pixels, one block
 * computes the prefix sum of the counts, and blocks write rows: 1 + points of all segments before + of the warps before
 * + of the lanes before.
 */
#include "cuda/edges/shared/edges.h"

enum { SEGMENT = 256, WARPS = SEGMENT / 32, SCAN_THREADS = 1024 };

static unsigned segments_of(const struct image *in)
{
    return (unsigned)(((size_t)in->width * (size_t)in->height + SEGMENT - 1) / SEGMENT);
}

/* The place of a thread's pixel, and whether it is an edge point; none behind the last row. */
static __device__ bool is_point(const struct image &mask, int *x, int *y)
{
    const size_t place = (size_t)blockIdx.x * SEGMENT + threadIdx.x;

    *y = (int)(place / (unsigned)mask.width);
    *x = (int)(place % (unsigned)mask.width);
    return *y < mask.height && ((const uint8_t *)image_row(&mask, *y))[*x] == EDGES_STRONG;
}

static __global__ void __launch_bounds__(SEGMENT) count_kernel(struct image mask, unsigned *starts)
{
    int x, y;
    const int count = __syncthreads_count(is_point(mask, &x, &y));

    if (threadIdx.x == 0)
        starts[blockIdx.x] = (unsigned)count;
}

/* One block: the exclusive prefix sum. A thread adds up a stretch; the sums of stretches are added in log steps. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(unsigned *starts, unsigned segments)
{
    __shared__ unsigned sums[SCAN_THREADS];
    const unsigned own = threadIdx.x, stretch = (segments + SCAN_THREADS - 1) / SCAN_THREADS;
    const unsigned begin = min(own * stretch, segments), end = min(begin + stretch, segments);
    unsigned sum = 0;

    for (unsigned i = begin; i < end; i++)
        sum += starts[i];
    sums[own] = sum;
    for (unsigned distance = 1; distance < SCAN_THREADS; distance *= 2) {
        __syncthreads();
        const unsigned before = own >= distance ? sums[own - distance] : 0;
        __syncthreads();
        sums[own] += before;
    }
    sum = sums[own] - sum;
    for (unsigned i = begin; i < end; i++) {
        const unsigned count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    if (own == SCAN_THREADS - 1)
        starts[segments] = sum;
}

static __global__ void __launch_bounds__(SEGMENT)
    write_kernel(struct image in, struct image mask, struct image points, const unsigned *starts)
{
    __shared__ unsigned before[WARPS];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, total = starts[gridDim.x];
    const unsigned rows = (unsigned)points.height;
    int x, y;
    const bool found = is_point(mask, &x, &y);
    const unsigned votes = __ballot_sync(0xffffffff, found);
    unsigned row = starts[blockIdx.x] + (unsigned)__popc(votes & ((1u << lane) - 1)) + 1;

    if (lane == 0)
        before[warp] = (unsigned)__popc(votes);
    __syncthreads();
    for (unsigned i = 0; i < warp; i++)
        row += before[i];
    if (found && row < rows) {
        const struct hough_gradient g = hough_sobel(&in, x, y);
        *(int4 *)image_row(&points, (int)row) = make_int4(x, y, g.x, g.y);
    }
    for (unsigned i = total + 1 + blockIdx.x * SEGMENT + threadIdx.x; i < rows; i += gridDim.x * SEGMENT)
        *(int4 *)image_row(&points, (int)i) = make_int4(0, 0, 0, 0);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *(int4 *)points.data = make_int4((int)total, 0, 0, 0);
}

enum status edges_list_setup(struct edges_step *step, const struct image *in)
{
    return device_allocate((void **)&step->starts, (segments_of(in) + (size_t)1) * sizeof *step->starts);
}

enum status edges_list(struct edges_step *step, const struct image *in, const struct image *mask,
                       const struct image *points, cudaStream_t stream)
{
    const unsigned segments = segments_of(in);
    enum status status = STATUS_OK;

    count_kernel<<<segments, SEGMENT, 0, stream>>>(*mask, step->starts);
    CUDA_TRY(cudaGetLastError());
    scan_kernel<<<1, SCAN_THREADS, 0, stream>>>(step->starts, segments);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<segments, SEGMENT, 0, stream>>>(*in, *mask, *points, step->starts);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
