/*
 * Idea:     the yardstick on the GPU: cuSOLVER's cusolverDnDsyevjBatched for up to 32 columns, its batched Jacobi, and
 *           one cusolverDnDsyevd after the other for more.
 * Changed:  matrices are packed for it, and its values, which rise, and its vectors, which are columns of Fortran's,
 *           put into the contract's order.
 * Expect:   made for large matrices, where it is far ahead; one of 31 columns is a chain of small kernels.
 */
#include <cusolverDn.h>

#include "common/algo/eigen.h"
#include "common/cuda/device.h"

struct state {
    cusolverDnHandle_t handle;
    syevjInfo_t settings;
    double *matrices, *values, *work; /* in device memory */
    int *info, room;
};

enum { BATCHED = 32 /* columns at most */ };

static enum status check(cusolverStatus_t error)
{
    return error == CUSOLVER_STATUS_SUCCESS ? STATUS_OK : status_set(STATUS_FAILED, "cuSOLVER: status %d", (int)error);
}

static __global__ void pack_kernel(struct image in, double *matrices)
{
    const int n = in.width, x = blockIdx.y * blockDim.x + threadIdx.x, row = blockIdx.x;

    if (x < n)
        matrices[(size_t)row * n + x] =
            ((const double *)image_row(&in, row / n * n + min(x, row % n)))[max(x, row % n)];
}

static __global__ void unpack_kernel(const double *matrices, const double *from, struct image values,
                                     struct image vectors)
{
    const int n = vectors.width, x = blockIdx.y * blockDim.x + threadIdx.x, row = blockIdx.x, top = row / n * n;

    if (x >= n)
        return;
    ((double *)image_row(&vectors, row))[x] = matrices[(size_t)(top + n - 1 - x) * n + row % n];
    if (x == 0)
        *(double *)image_row(&values, row) = from[top + n - 1 - row % n];
}

static enum status setup(struct state *state, const struct image in[], const struct eigen_params *params)
{
    const int n = in->width;
    enum status status = STATUS_OK;

    (void)params;
    if (state->work)
        return STATUS_OK;
    TRY(check(cusolverDnCreate(&state->handle)));
    TRY(check(cusolverDnCreateSyevjInfo(&state->settings)));
    TRY(check(cusolverDnXsyevjSetSortEig(state->settings, 1)));
    TRY(device_allocate((void **)&state->matrices, (size_t)n * in->height * sizeof *state->matrices));
    TRY(device_allocate((void **)&state->values, in->height * sizeof *state->values));
    TRY(device_allocate((void **)&state->info, in->height * sizeof *state->info));
    if (n <= BATCHED)
        TRY(check(cusolverDnDsyevjBatched_bufferSize(state->handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                                     state->matrices, n, state->values, &state->room, state->settings,
                                                     in->height / n)));
    else
        TRY(check(cusolverDnDsyevd_bufferSize(state->handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                              state->matrices, n, state->values, &state->room)));
    TRY(device_allocate((void **)&state->work, state->room * sizeof *state->work));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct eigen_params *params, cudaStream_t stream)
{
    const int n = in->width;
    const dim3 grid(in->height, ceiling_divide(n, 128));
    enum status status = STATUS_OK;

    (void)params;
    TRY(check(cusolverDnSetStream(state->handle, stream)));
    pack_kernel<<<grid, 128, 0, stream>>>(*in, state->matrices);
    CUDA_TRY(cudaGetLastError());
    if (n <= BATCHED)
        TRY(check(cusolverDnDsyevjBatched(state->handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                          state->matrices, n, state->values, state->work, state->room, state->info,
                                          state->settings, in->height / n)));
    for (int top = 0; n > BATCHED && top < in->height; top += n)
        TRY(check(cusolverDnDsyevd(state->handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                   state->matrices + (size_t)top * n, n, state->values + top, state->work, state->room,
                                   state->info)));
    unpack_kernel<<<grid, 128, 0, stream>>>(state->matrices, state->values, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    if (state->settings)
        cusolverDnDestroySyevjInfo(state->settings);
    if (state->handle)
        cusolverDnDestroy(state->handle);
    device_free(state->matrices);
    device_free(state->values);
    device_free(state->work);
    device_free(state->info);
}

RUNGS_CUDA_VERSION(eigen)
