/*
 * once.cuh: how v2.13 of harris shares out a picture, for the rungs above it: over just as many warps as a device has room for.
 */
#ifndef RUNGS_HARRIS_ONCE_CUH
#define RUNGS_HARRIS_ONCE_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"

typedef void (*walk_kernel)(struct image, struct image, const struct harris_params, int, float *);

/* harris_kernel<SIZE, SOBEL, BOX> of the rung that includes this, for these parameters. */
#define KERNELS(sobel, box)                                                                                            \
    {                                                                                                                  \
        harris_kernel<1, sobel, box>, harris_kernel<3, sobel, box>, harris_kernel<5, sobel, box>,                      \
            harris_kernel<7, sobel, box>                                                                               \
    }
#define ALL_KERNELS                                                                                                    \
    {                                                                                                                  \
        {KERNELS(false, false), KERNELS(false, true)},                                                                 \
        {                                                                                                              \
            KERNELS(true, false), KERNELS(true, true)                                                                  \
        }                                                                                                              \
    }

/* For blocks of so many warps, one below the other, each with a strip of so many columns and a multiple of `turn` rows. */
static inline enum status share_out(walk_kernel kernel, const struct image &in, int strip, int warps, int turn,
                                    dim3 *grid, int *rows)
{
    enum status status = STATUS_OK;
    int device, multiprocessors, blocks, strips = (int)ceiling_divide(in.width, strip);

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, 0));
    blocks = max(multiprocessors * blocks / strips, 1);
    *rows = max((int)ceiling_divide(in.height, blocks * warps), 4);
    *rows = (int)ceiling_divide(*rows, turn) * turn;
    *grid = dim3(strips, ceiling_divide(in.height, *rows * warps));
out:
    return status;
}

#endif
