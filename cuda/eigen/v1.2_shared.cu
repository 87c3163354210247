/*
 * Problem:  Each part of a Jacobi step in cuda/v1.1 waits 250 cycles for the L2 cache.
 * Idea:     A matrix of up to 160 columns lies in shared memory. Its eigenvectors stay in global
 *           memory, as nothing waits for them.
 * Expect:   2 times as fast at least with 31 columns: shared memory answers in some 30 cycles.
 * Result:   Kernel 1.01 times as fast as cuda/v1.1, 637 us (results/h100/eigen/eigen_31x31.json),
 *           probably because a step waits for its angles, a chain of f64 roots and quotients.
 * Run:      make diff-eigen A=cuda/v1.1 B=cuda/v1.2 SIZE=31x31
 */
#include "common/algo/eigen.h"
#include "common/cuda/device.h"
#include "cuda/eigen/shared/unit.cuh"

struct state {
    double *work; /* in device memory: a matrix and the rows of its vectors, for each block */
};

enum { THREADS = 256, LARGEST = 160 /* columns of a matrix in shared memory */ };

/* The sum of a value of each thread, for all threads. */
static __device__ double sum_of_block(double value, double *parts)
{
    double sum = 0;

    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int i = 0; i < THREADS; i++)
        sum += parts[i];
    return sum;
}

static __device__ void rotate(double *p, double *q, const double turn[2])
{
    const double a = *p, b = *q;

    *p = turn[0] * a - turn[1] * b;
    *q = turn[1] * a + turn[0] * b;
}

static __global__ void solve_kernel(struct image in, double *work, struct image values, struct image vectors)
{
    extern __shared__ double shared[];
    __shared__ double parts[THREADS], turn[EIGEN_MAX_SIDE / 2][2];
    const int n = in.width, pairs = (n + 1) / 2, top = blockIdx.x * n;
    double *own = work + (size_t)blockIdx.x * 2 * n * n, *rows = own + n * n, *matrix = n <= LARGEST ? shared : own;
    const double unit = unit_of_block(&in, top, parts);
    double sum = 0;
    int p, q;
    for (int i = threadIdx.x; i < n * n; i += THREADS) {
        const int y = i / n, x = i % n;
        matrix[i] = ((const double *)image_row(&in, top + min(x, y)))[max(x, y)] / unit;
        rows[i] = x == y;
        sum += matrix[i] * matrix[i];
    }
    const double norm = sum_of_block(sum, parts);
    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS; sweep++) {
        double rest = 0;
        for (int i = threadIdx.x; i < n * n; i += THREADS)
            rest += i / n == i % n ? 0 : matrix[i] * matrix[i];
        if (sum_of_block(rest, parts) <= EIGEN_REST * norm)
            break;
        for (int step = 0; step < 2 * pairs - 1; step++) {
            for (int k = threadIdx.x; k < pairs; k += THREADS) {
                eigen_pair(n, step, k, &p, &q);
                turn[k][0] = 1, turn[k][1] = 0;
                if (q < n)
                    eigen_rotation(matrix[p * n + p], matrix[q * n + q], matrix[p * n + q], &turn[k][0], &turn[k][1]);
            }
            __syncthreads();
            for (int i = threadIdx.x; i < pairs * n; i += THREADS) {
                eigen_pair(n, step, i / n, &p, &q);
                if (q < n) {
                    rotate(&matrix[p * n + i % n], &matrix[q * n + i % n], turn[i / n]);
                    rotate(&rows[p * n + i % n], &rows[q * n + i % n], turn[i / n]);
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < pairs * n; i += THREADS) {
                eigen_pair(n, step, i % pairs, &p, &q);
                if (q < n)
                    rotate(&matrix[i / pairs * n + p], &matrix[i / pairs * n + q], turn[i % pairs]);
            }
            __syncthreads();
        }
    }

    /* The largest value first, the largest component of its vector positive. */
    for (int k = threadIdx.x; k < n; k += THREADS) {
        const double value = matrix[k * n + k];
        double largest = 0;
        int place = 0;

        for (int i = 0; i < n; i++) {
            place += matrix[i * n + i] > value || (!(matrix[i * n + i] < value) && i < k); /* NaNs: by axis */
            largest = fabs(rows[k * n + i]) > fabs(largest) ? rows[k * n + i] : largest;
        }
        *(double *)image_row(&values, top + place) = value * unit;
        for (int y = 0; y < n; y++)
            ((double *)image_row(&vectors, top + y))[place] = largest < 0 ? -rows[k * n + y] : rows[k * n + y];
    }
}

static enum status setup(struct state *state, const struct image in[], const struct eigen_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (state->work)
        return STATUS_OK;
    CUDA_TRY(cudaFuncSetAttribute(solve_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  LARGEST * LARGEST * sizeof(double)));
    TRY(device_allocate((void **)&state->work, 2 * (size_t)in->width * in->height * sizeof *state->work));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct eigen_params *params, cudaStream_t stream)
{
    const size_t bytes = in->width <= LARGEST ? sizeof(double) * in->width * in->width : 0;
    enum status status = STATUS_OK;

    (void)params;
    solve_kernel<<<in->height / in->width, THREADS, bytes, stream>>>(*in, state->work, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->work);
}

RUNGS_CUDA_VERSION(eigen)
