/*
 * entries.cuh: the matrix from the sums of products of planes, by a kernel of its own or by the last block of the one that sums.
 */
#ifndef RUNGS_CORRELATION_STEPS_ENTRIES_CUH
#define RUNGS_CORRELATION_STEPS_ENTRIES_CUH

#include "cuda/correlation/shared/operands.cuh"

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
}

/* Whoever sees that all other blocks have added their sums has the totals. It takes them to shared memory and leaves 0 for the
 * next launch, as in the count of blocks behind them; then it makes the matrix. */
static __device__ inline void finish_last(const struct plan &plan, const struct correlation_params &params,
                                          const struct image &out, double *sums, double *totals)
{
    const int n = plan.in.channels, products = plan.planes * plan.planes;
    unsigned *const done = (unsigned *)&totals[products];

    __threadfence();
    __syncthreads();
    if (!__syncthreads_or(threadIdx.x == 0 && atomicInc(done, gridDim.x - 1) == gridDim.x - 1)) /* and 0 again */
        return;
    __threadfence();
    for (int k = threadIdx.x; k < products; k += blockDim.x)
        sums[k] = __longlong_as_double((long long)atomicExch((unsigned long long *)&totals[k], 0));
    __syncthreads();
    for (int k = threadIdx.x; k < n * n; k += blockDim.x) {
        const int u = k / n, v = k % n;
        if (u > v)
            continue;
        const double entry = correlation_entry(sums, &plan.in, &params, u, v);
        ((double *)image_row(&out, u))[v] = entry;
        ((double *)image_row(&out, v))[u] = entry;
    }
}

#endif
