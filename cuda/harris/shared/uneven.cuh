/*
 * uneven.cuh: how v2.19 of harris shares out a picture: as v2.13, with fewer rows for a warp that meets an edge.
 */
#ifndef RUNGS_HARRIS_UNEVEN_CUH
#define RUNGS_HARRIS_UNEVEN_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/once.cuh"

/* Rows of a warp, and of one in a strip at the left or right edge or at the top of another: 558 instructions for 4 rows there,
 * 768 here. */
struct shares {
    int rows, edge_rows;
};

typedef void (*uneven_kernel)(struct image, struct image, const struct harris_params, struct shares, float *);

/* The rows of the warp that is the `index`th from above in strip `strip` of `strips`: from *top on, *count of them. */
static __device__ inline void find_share(struct shares shares, int strip, int strips, int index, int *top, int *count)
{
    const bool side = strip == 0 || strip == strips - 1;
    const int rows = side ? shares.edge_rows : shares.rows, fewer = rows - shares.edge_rows;

    *top = max(index * rows - fewer, 0);
    *count = index == 0 ? shares.edge_rows : rows;
}

/* The fewest rows, a multiple of `turn`, with which a device has room for all warps at once: blocks of so many, one below the
 * other, each with a strip of so many columns. */
static enum status share_out_unevenly(uneven_kernel kernel, const struct image &in, int strip, int warps, int turn,
                                      dim3 *grid, struct shares *shares)
{
    enum status status = STATUS_OK;
    int device, multiprocessors, blocks, strips = (int)ceiling_divide(in.width, strip), sides = min(strips, 2), tall,
                                         most;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, 0));
    shares->rows = 0;
    do {
        shares->rows += turn;
        shares->edge_rows = (int)ceiling_divide(shares->rows * 7 / 10, turn) * turn;
        most = (int)ceiling_divide(in.height, shares->edge_rows * warps);
        tall = (int)ceiling_divide(in.height + shares->rows - shares->edge_rows, shares->rows * warps);
    } while (shares->rows < 4 ||
             ((strips - sides) * tall + sides * most > multiprocessors * blocks && shares->rows < in.height));
    *grid = dim3(strips, max(most, tall));
out:
    return status;
}

#endif
