/*
 * Problem:  For factors v and w cuda/v1.2 has 24 blocks for 132 multiprocessors: most are idle.
 * Idea:     A slice of the tensor (samples of a row of the factor) is cut into parts, one block per
 *           part, so all multiprocessors work; blocks add sums by atomics. Number of blocks (at
 *           least 2048) and side of a tile (8 samples) are tunable.
 * Expect:   150 us per iteration with rank 16: v and w as fast as u, three reads of the tensor.
 * Result:   26 times as fast as cuda/v1.2, kernel, rank 16, 436 us per iteration
 *           (results/h100/ntf/ntf_24x16520_rank16.json); the reason for 436 is not known.
 * Run:      make tune-ntf V=cuda/v1.3 SVG=heat.svg
 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
};

enum { COLUMNS = 16 };

static int side = 8, blocks = 2048;
static const int side_legal[] = {8, 16, 0}, blocks_legal[] = {128, 256, 512, 1024, 2048, 4096, 8192, 0};
static struct tunable tunables[] = {{"side", &side, side_legal, "threads of a block along either side of a tile"},
                                    {"blocks", &blocks, blocks_legal, "blocks that a pass has at least"},
                                    {}};

/* Block (i, part) walks over its part of the tiles of slice i, whose rows of both factors lie in shared memory; a
 * thread has a sum a column. */
template <int N>
static __global__ void numerators_kernel(struct image in, int mode, const float *first, const float *second,
                                         int first_side, int second_side, int rank, float *numerators)
{
    __shared__ float rows[N][COLUMNS], columns[N][COLUMNS], sums[COLUMNS][N * N + 1];
    const int thread = threadIdx.y * N + threadIdx.x, i = blockIdx.x, from = blockIdx.y * COLUMNS;
    const int count = min(COLUMNS, rank - from);
    const int across = (second_side + N - 1) / N, down = (first_side + N - 1) / N;
    float alpha[COLUMNS] = {};

    for (int tile = blockIdx.z; tile < across * down; tile += (int)gridDim.z) {
        const int a = tile / across * N, b = tile % across * N;
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
    atomicAdd(&numerators[(size_t)i * rank + from + thread], sum);
}

template <int N>
static enum status launch_pass(struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    const int first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    const int tiles = ceiling_divide(device->sides[first], N) * ceiling_divide(device->sides[second], N);
    const int parts = min(ceiling_divide(device_blocks(blocks), device->sides[mode]), tiles);
    enum status status = STATUS_OK;
    dim3 grid(device->sides[mode], ceiling_divide(device->rank, COLUMNS), parts);

    CUDA_TRY(cudaMemsetAsync(device->numerators[mode], 0, (size_t)device->sides[mode] * device->rank * sizeof(float),
                             stream));
    numerators_kernel<N><<<grid, dim3(N, N), 0, stream>>>(*in, mode, device->factors[first], device->factors[second],
                                                          device->sides[first], device->sides[second], device->rank,
                                                          device->numerators[mode]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status pass(void *state, struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    (void)state;
    return side == 8 ? launch_pass<8>(device, in, mode, stream) : launch_pass<16>(device, in, mode, stream);
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

RUNGS_CUDA_VERSION(ntf, .tunables = tunables)
