#include "cuda/hough/shared/rows.h"

enum { THREADS = 256, SLICE = 1 << 16 /* pixels, at least, that have a slice of points */ };

static __global__ void global_kernel(const __grid_constant__ struct lines_step lines, struct points_step points,
                                     struct image accumulator, const __grid_constant__ struct hough_params params)
{
    int *row = (int *)image_row(&accumulator, blockIdx.x) + lines.space.centre;
    const unsigned count = *points.count;

    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < count; i += gridDim.y * blockDim.x) {
        const struct points_item item = points.items[i];
        if (hough_votes_for(&params, item.bin, blockIdx.x))
            atomicAdd(&row[hough_offset(item.place & 0xffff, item.place >> 16, lines.angles[blockIdx.x])], 1);
    }
}

unsigned rows_slices(const struct image *in, int slices)
{
    const int64_t most = ((int64_t)in->width * in->height + SLICE - 1) / SLICE;

    return (unsigned)(most < slices ? most : slices);
}

enum status rows_vote_globally(const struct lines_step *lines, const struct points_step *points,
                               const struct image *accumulator, const struct hough_params *params, unsigned slices,
                               cudaStream_t stream)
{
    const dim3 grid((unsigned)params->theta_steps, slices);
    enum status status = STATUS_OK;

    global_kernel<<<grid, THREADS, 0, stream>>>(*lines, *points, *accumulator, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
