/*
 * Problem:  A CPU computes the eigenvectors of a batch of matrices one matrix after the other.
 * Idea:     Jacobi rotations, one block per matrix. In a step, n / 2 pairs of axes without a common
 *           axis (cpu/omp) get angles, then rows rotate, then columns; a barrier follows each.
 * Expect:   No faster than cpu/omp for one matrix: only one of 132 multiprocessors works, waiting
 *           for barriers and memory. A thousand small ones at once: 50 times as fast as one by one.
 * Result:   0.10 times as fast as cpu/omp with 16 threads for one matrix, n=198
 *           (results/h100/eigen/eigen_198x198.json); a thousand are not measured there.
 * Run:      make bench-eigen VERSIONS=cuda/v1.0,cuda/v1.1 SIZE=31x3100
 */
#include "common/algo/eigen.h"
#include "common/cuda/device.h"
#include "cuda/eigen/shared/unit.cuh"

struct state {
    double *work; /* in device memory: a matrix and the rows of its vectors, for each block */
    struct image in, out[2];
};

enum { THREADS = 256 };

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
    __shared__ double parts[THREADS], turn[EIGEN_MAX_SIDE / 2][2];
    const int n = in.width, pairs = (n + 1) / 2, top = blockIdx.x * n;
    double *matrix = work + (size_t)blockIdx.x * 2 * n * n, *rows = matrix + n * n;
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
    (void)params;
    if (state->work)
        return STATUS_OK;
    return device_allocate((void **)&state->work, 2 * (size_t)in->width * in->height * sizeof *state->work);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct eigen_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)params;
    solve_kernel<<<in->height / in->width, THREADS, 0, stream>>>(*in, state->work, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->work);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct eigen_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int i = 0; i < 2; i++)
        TRY(device_image_create(&state->out[i], &out[i]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        TRY(device_download(&out[i], &state->out[i]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(eigen)
