/*
 * Idea:     the yardstick on the GPU: R as one matrix product of cuBLAS in f32, the transposed cube times the cube,
 *           without TF32 (cublasSgemm).
 * Changed:  the samples are the matrix as they lie, where rows have no padding; else a product for each row of the
 *           picture.
 * Expect:   a matrix of few columns and a million rows gives a product few tiles to share out, so that cuBLAS has to
 *           split the pixels; far from the time to read the cube at all numbers of bands.
 */
#include <cublas_v2.h>

#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    cublasHandle_t handle;
    float *matrix; /* in device memory */
};

static enum status check(cublasStatus_t error)
{
    return error == CUBLAS_STATUS_SUCCESS ? STATUS_OK
                                          : status_set(STATUS_FAILED, "cuBLAS: %s", cublasGetStatusString(error));
}

static const char *declines(const struct image in[], const void *params)
{
    if (in->type != PIXEL_F32)
        return "BLAS multiplies floats only";
    if (((const struct correlation_params *)params)->center)
        return "BLAS takes no mean off";
    return NULL;
}

static __global__ void finish_kernel(struct image in, const float *matrix, struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (u < in.channels && v < in.channels)
        ((double *)image_row(&out, u))[v] = matrix[u * in.channels + v] / ((double)in.width * in.height);
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (state->matrix)
        return STATUS_OK;
    TRY(check(cublasCreate(&state->handle)));
    TRY(check(cublasSetMathMode(state->handle, CUBLAS_PEDANTIC_MATH)));
    TRY(device_allocate((void **)&state->matrix, (size_t)in->channels * in->channels * sizeof *state->matrix));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int n = in->channels, whole = in->stride == image_row_bytes(in);
    const int rows = whole ? in->width * in->height : in->width;
    const float one = 1, zero = 0;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(n, block.x), ceiling_divide(n, block.y));

    (void)params;
    TRY(check(cublasSetStream(state->handle, stream)));
    for (int y = 0; y < (whole ? 1 : in->height); y++) {
        const float *samples = (const float *)image_row(in, y);
        TRY(check(cublasSgemm(state->handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, rows, &one, samples, n, samples, n,
                              y ? &one : &zero, state->matrix, n)));
    }
    finish_kernel<<<grid, block, 0, stream>>>(*in, state->matrix, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    if (state->handle)
        cublasDestroy(state->handle);
    device_free(state->matrix);
}

/* The order of its f32 sums is its own. */
RUNGS_CUDA_VERSION(correlation, .declines = declines, .tolerance = 16)
