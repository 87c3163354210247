/*
 * Problem:  A Jacobi step of cuda/v1.2 has three barriers, and a barrier of more warps costs more.
 * Idea:     Kernel fusion: a thread holds the 2x2 entries where two pairs of axes meet in registers
 *           and rotates rows and columns at once, so one barrier goes. The number of threads is
 *           tunable.
 * Expect:   1.5 times as fast with 31 columns: 2 barriers instead of 3, half the accesses.
 * Result:   Kernel 1.5 times as fast as cuda/v1.2 with 256 threads, 425 us
 *           (results/h100/eigen/eigen_31x31.json).
 * Run:      make tune-eigen V=cuda/v1.3 SIZE=198x198
 */
#include "common/algo/eigen.h"
#include "common/cuda/device.h"
#include "cuda/eigen/shared/unit.cuh"

struct state {
    double *work; /* in device memory: a matrix and the rows of its vectors, for each block */
};

enum { MOST = 1024 /* threads */, LARGEST = 160 /* columns of a matrix in shared memory */ };

static int threads = 256;
static const int threads_legal[] = {64, 128, 256, 512, MOST, 0};
static struct tunable tunables[] = {{"threads", &threads, threads_legal, "threads of a block, which has one matrix"},
                                    {}};

/* The sum of a value of each thread, for all threads. */
static __device__ double sum_of_block(double value, double *parts)
{
    double sum = 0;

    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int i = 0; i < (int)blockDim.x; i++)
        sum += parts[i];
    return sum;
}

static __device__ void rotate(double *p, double *q, const double turn[2])
{
    const double a = *p, b = *q;

    *p = turn[0] * a - turn[1] * b;
    *q = turn[1] * a + turn[0] * b;
}

/* The 2 x 2 entries where lines a[0], a[1] meet columns b[0], b[1]: no other two pairs touch them. A line without a
 * partner has the partner n and no turn.
 *
 *                b[0]     b[1]
 *        a[0]   entry    entry     turned by turn_a along the columns,
 *        a[1]   entry    entry     by turn_b along the lines
 */
static __device__ void rotate_both(double *matrix, int n, const short a[2], const short b[2], const double turn_a[2],
                                   const double turn_b[2])
{
    double entries[2][2];

    for (int k = 0; k < 4; k++)
        entries[k / 2][k % 2] = a[k / 2] < n && b[k % 2] < n ? matrix[a[k / 2] * n + b[k % 2]] : 0;
    rotate(&entries[0][0], &entries[1][0], turn_a);
    rotate(&entries[0][1], &entries[1][1], turn_a);
    rotate(&entries[0][0], &entries[0][1], turn_b);
    rotate(&entries[1][0], &entries[1][1], turn_b);
    for (int k = 0; k < 4; k++)
        if (a[k / 2] < n && b[k % 2] < n)
            matrix[a[k / 2] * n + b[k % 2]] = entries[k / 2][k % 2];
}

static __global__ void solve_kernel(struct image in, double *work, struct image values, struct image vectors)
{
    extern __shared__ double shared[];
    __shared__ double parts[MOST], turn[EIGEN_MAX_SIDE / 2][2];
    __shared__ short pair[EIGEN_MAX_SIDE / 2][2];
    const int n = in.width, pairs = (n + 1) / 2, top = blockIdx.x * n;
    double *own = work + (size_t)blockIdx.x * 2 * n * n, *rows = own + n * n, *matrix = n <= LARGEST ? shared : own;
    const double unit = unit_of_block(&in, top, parts);
    double sum = 0;
    int p, q;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        const int y = i / n, x = i % n;
        matrix[i] = ((const double *)image_row(&in, top + min(x, y)))[max(x, y)] / unit;
        rows[i] = x == y;
        sum += matrix[i] * matrix[i];
    }
    const double norm = sum_of_block(sum, parts);
    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS; sweep++) {
        double rest = 0;
        for (int i = threadIdx.x; i < n * n; i += blockDim.x)
            rest += i / n == i % n ? 0 : matrix[i] * matrix[i];
        if (sum_of_block(rest, parts) <= EIGEN_REST * norm)
            break;
        for (int step = 0; step < 2 * pairs - 1; step++) {
            for (int k = threadIdx.x; k < pairs; k += blockDim.x) {
                eigen_pair(n, step, k, &p, &q);
                pair[k][0] = p, pair[k][1] = q;
                turn[k][0] = 1, turn[k][1] = 0;
                if (q < n)
                    eigen_rotation(matrix[p * n + p], matrix[q * n + q], matrix[p * n + q], &turn[k][0], &turn[k][1]);
            }
            __syncthreads();
            for (int i = threadIdx.x; i < pairs * pairs; i += blockDim.x)
                rotate_both(matrix, n, pair[i / pairs], pair[i % pairs], turn[i / pairs], turn[i % pairs]);
            for (int i = threadIdx.x; i < pairs * n; i += blockDim.x)
                if (pair[i / n][1] < n)
                    rotate(&rows[pair[i / n][0] * n + i % n], &rows[pair[i / n][1] * n + i % n], turn[i / n]);
            __syncthreads();
        }
    }
    /* The largest value first, the largest component of its vector positive. */
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
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
    solve_kernel<<<in->height / in->width, threads, bytes, stream>>>(*in, state->work, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->work);
}

RUNGS_CUDA_VERSION(eigen, .tunables = tunables)
