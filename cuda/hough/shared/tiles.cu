#include "common/cuda/early.cuh"
#include "cuda/hough/shared/tiles.h"

enum { SIDE = TILES_SIDE, ROWS = 8 /* pixels of a thread, one below the other */ };

/* A block lists the points of a tile. A thread reserves places for its points by an atomic in shared memory. */
static __global__ void tiles_kernel(struct image in, struct tiles_step step, const struct hough_direction *directions,
                                    struct image accumulator, const __grid_constant__ struct hough_params params)
{
    __shared__ unsigned count;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x, own = threadIdx.y * SIDE + threadIdx.x;
    const int x = blockIdx.x * SIDE + threadIdx.x, top = blockIdx.y * SIDE + threadIdx.y * ROWS;
    const size_t place = (size_t)tile * SIDE * SIDE;
    struct hough_gradient gradient;
    unsigned found = 0, at = 0; /* bit k: pixel (x, top + k) is a point */

    allow_next();
    if (own == 0)
        count = 0;
    for (int k = 0; k < ROWS && x < in.width && top + k < in.height; k++)
        found |= (unsigned)hough_is_point(&in, x, top + k, &params, &gradient) << k;
    __syncthreads();
    if (found)
        at = atomicAdd(&count, (unsigned)__popc(found));
    for (; found; found &= found - 1, at++) {
        const int y = top + __ffs((int)found) - 1;
        step.points[place + at] = make_float2((float)x, (float)y);
        if (step.bins)
            step.bins[place + at] = (unsigned)hough_bin_for(directions, &params, hough_sobel(&in, x, y));
    }
    __syncthreads();
    if (own == 0)
        step.counts[tile] = count;
    for (int n = tile; n < accumulator.height; n += step.count)
        for (int r = own; r < accumulator.width; r += SIDE * SIDE / ROWS)
            ((int *)image_row(&accumulator, n))[r] = 0;
}

enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params)
{
    enum status status = STATUS_OK;

    step->count = ceiling_divide(in->width, SIDE) * ceiling_divide(in->height, SIDE);
    if (!step->counts)
        TRY(device_allocate((void **)&step->counts, (size_t)step->count * sizeof *step->counts));
    if (!step->bins && params->half_width != HOUGH_ALL_ROWS)
        TRY(device_allocate((void **)&step->bins, (size_t)step->count * SIDE * SIDE * sizeof *step->bins));
    if (!step->points)
        TRY(device_allocate((void **)&step->points, (size_t)step->count * SIDE * SIDE * sizeof *step->points));
out:
    return status;
}

enum status tiles_launch(struct tiles_step *step, const struct image *in, const struct hough_direction *directions,
                         const struct hough_params *params, struct image accumulator, cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(in->width, SIDE), ceiling_divide(in->height, SIDE));
    enum status status = STATUS_OK;

    tiles_kernel<<<grid, dim3(SIDE, SIDE / ROWS), 0, stream>>>(*in, *step, directions, accumulator, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void tiles_teardown(struct tiles_step *step)
{
    device_free(step->counts);
    device_free(step->points);
    device_free(step->bins);
}
