/*
 * entries.cuh: the kernels of iterate.cu with a thread for each entry: of a factor, at the start or updated, of the
 * products of two factors, of the tensor that the factors stand for.
 */
#ifndef RUNGS_NTF_ENTRIES_CUH
#define RUNGS_NTF_ENTRIES_CUH

#include "common/algo/ntf.h"
#include "common/cuda/device.h"

static __global__ void start_kernel(struct ntf_params params, int mode, float *factor, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        factor[i] = ntf_start(&params, mode, i / params.rank, i % params.rank);
}

/* A thread for each entry; its row of the old factor is read by its neighbours, too. */
static __global__ void update_kernel(const float *factor, const float *numerators, const double *left,
                                     const double *right, float *next, int count, int rank, int update,
                                     const int *settled)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = at % rank;
    float denominator = 0;

    if (at >= count)
        return;
    for (int m = 0; m < rank; m++)
        denominator += factor[at - k + m] * (float)(left[m * rank + k] * right[m * rank + k]);
    next[at] = *settled ? factor[at] : ntf_updated(factor[at], numerators[at], denominator, update);
}

static __global__ void products_kernel(const float *v, const float *w, int t_side, int rank, int count, float *products)
{
    const int entry = blockIdx.x * blockDim.x + threadIdx.x, i = entry / rank, k = entry % rank;

    if (entry < count)
        products[entry] = v[(size_t)(i / t_side) * rank + k] * w[(size_t)(i % t_side) * rank + k];
}

static __global__ void approx_kernel(const float *u, const float *v, const float *w, int rank, struct image approx)
{
    const int samples = approx.width * approx.channels;
    const int r = blockIdx.x;

    for (int64_t i = blockIdx.y * blockDim.x + threadIdx.x; i < samples; i += gridDim.y * blockDim.x) {
        const int s = (int)i / approx.channels, t = (int)i % approx.channels;
        float sum = 0;
        for (int k = 0; k < rank; k++)
            sum += u[(size_t)r * rank + k] * v[(size_t)s * rank + k] * w[(size_t)t * rank + k];
        ((float *)image_row(&approx, r))[i] = sum;
    }
}

#endif
