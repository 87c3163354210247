/*
 * Problem:  A thread of cuda/v1.1 has a column of a factor (matrix): 16 read a sample with rank 16.
 * Idea:     One block per row of a factor (Jošth 2014, algorithm 3) walks over tiles of 8 x 8
 *           samples of the tensor, with the rows of the other two factors in shared memory. A
 *           thread has 16 columns, so it reads a sample once instead of 16 times.
 * Expect:   5 to 10 times as fast for factor u; v and w have 24 blocks instead of 2.
 * Result:   11 times as fast as cuda/v1.1, kernel, rank 16
 *           (results/h100/ntf/ntf_24x16520_rank16.json).
 * Run:      make diff-ntf A=cuda/v1.1 B=cuda/v1.2
 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
};

enum { N = 8, COLUMNS = 16 };

/* Block i walks over the tiles of slice i, whose rows of both factors lie in shared memory; a thread has a sum a
 * column. */
static __global__ void numerators_kernel(struct image in, int mode, const float *first, const float *second,
                                         int first_side, int second_side, int rank, float *numerators)
{
    __shared__ float rows[N][COLUMNS], columns[N][COLUMNS], sums[COLUMNS][N * N + 1];
    const int thread = threadIdx.y * N + threadIdx.x, i = blockIdx.x, from = blockIdx.y * COLUMNS;
    const int count = min(COLUMNS, rank - from);
    float alpha[COLUMNS] = {};

    for (int a = 0; a < first_side; a += N)
        for (int b = 0; b < second_side; b += N) {
            __syncthreads();
            for (int entry = thread; entry < N * COLUMNS; entry += N * N) {
                const int row = entry / COLUMNS, k = entry % COLUMNS;
                rows[row][k] = a + row < first_side && k < count ? first[(size_t)(a + row) * rank + from + k] : 0;
                columns[row][k] = b + row < second_side && k < count ? second[(size_t)(b + row) * rank + from + k] : 0;
            }
            __syncthreads();
            const int row = a + (int)threadIdx.y, column = b + (int)threadIdx.x;
            if (row >= first_side || column >= second_side)
                continue;
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                alpha[k] += ntf_sample(&in, mode, i, row, column) * rows[threadIdx.y][k] * columns[threadIdx.x][k];
        }
#pragma unroll
    for (int k = 0; k < COLUMNS; k++)
        sums[k][thread] = alpha[k];
    __syncthreads();
    if (thread >= count)
        return;
    float sum = 0;
    for (int other = 0; other < N * N; other++)
        sum += sums[thread][other];
    numerators[(size_t)i * rank + from + thread] = sum;
}

static enum status pass(void *state, struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    const int first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    enum status status = STATUS_OK;

    (void)state;
    numerators_kernel<<<dim3(device->sides[mode], ceiling_divide(device->rank, COLUMNS)), dim3(N, N), 0, stream>>>(
        *in, mode, device->factors[first], device->factors[second], device->sides[first], device->sides[second],
        device->rank, device->numerators[mode]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct ntf_params *params)
{
    return ntf_device_setup(&state->device, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct ntf_params *params, cudaStream_t stream)
{
    return ntf_device_solve(&state->device, in, out, params, pass, state, stream);
}

static void teardown(struct state *state)
{
    ntf_device_teardown(&state->device);
}

RUNGS_CUDA_VERSION(ntf)
