/*
 * Idea:     a dimension tree: P(s,t,k) = SUM over r of G(r,s,t) u(r,k) depends on u alone, and both v and w follow from
 *           it, for it has as many rows as a slice has samples. Two passes over the tensor are an iteration instead of
 *           three.
 * Changed:  a thread for each sample of a slice sums P over a part of the slices, with coalesced loads and the rows of u in
 *           shared memory; a thread for each entry of v and w adds up P. Tiles, of 8x8, are left for u alone.
 * Expect:   u takes 120 us, P half of that, since one factor of each product is in a register and the other is the same for
 *           the whole warp; v and w 5 us each: some 230 us an iteration with K = 16 instead of 400.
 * Result:   226 us an iteration with K = 16, 1.9 times v1.3 (results/h200/ntf/ntf_24x16520_rank16.json, 5 iterations).
 */
/* Try: make bench-ntf VERSIONS=cuda/v1.3,cuda/v2.0,cuda/v2.1,cuda/v2.2,cuda/v2.3 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
    float *sums; /* P, [k][sample] */
};

enum { N = 8, COLUMNS = 16, THREADS = 128, BLOCKS = 2048 /* of a pass at least */ };

/* Block (i, part) walks over its part of the tiles of slice i, whose rows of both factors lie in shared memory; a thread has a sum a column. */
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

/* Thread i: P of sample i in 16 columns, over every so many runs of N slices. */
static __global__ void sums_kernel(struct image in, const float *u, int rank, float *sums)
{
    __shared__ float rows[N][COLUMNS];
    const int samples = in.width * in.channels, i = blockIdx.x * THREADS + threadIdx.x, from = blockIdx.y * COLUMNS;
    const int s = i / in.channels, t = i % in.channels, count = min(COLUMNS, rank - from);
    float alpha[COLUMNS] = {};

    for (int r = blockIdx.z * N; r < in.height; r += (int)gridDim.z * N) {
        __syncthreads();
        for (int entry = threadIdx.x; entry < N * COLUMNS; entry += THREADS) {
            const int row = entry / COLUMNS, k = entry % COLUMNS;
            rows[row][k] = r + row < in.height && k < count ? u[(size_t)(r + row) * rank + from + k] : 0;
        }
        __syncthreads();
        for (int row = 0; i < samples && row < N && r + row < in.height; row++) {
            const float g = ntf_sample(&in, 0, r + row, s, t);
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                alpha[k] += g * rows[row][k];
        }
    }
#pragma unroll
    for (int k = 0; k < COLUMNS; k++)
        if (i < samples && k < count)
            atomicAdd(&sums[(size_t)(from + k) * samples + i], alpha[k]);
}

static enum status pass(void *state, struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    float *const sums = ((struct state *)state)->sums;
    const int rank = device->rank, samples = in->width * in->channels;
    const int tiles = ceiling_divide(in->width, N) * ceiling_divide(in->channels, N);
    const int parts = min(ceiling_divide(BLOCKS, device->sides[mode]), tiles);
    const int spans = ceiling_divide(samples, THREADS), runs = ceiling_divide(in->height, N);
    enum status status = STATUS_OK;
    dim3 grid(device->sides[mode], ceiling_divide(device->rank, COLUMNS), parts);

    if (mode == 0) {
        CUDA_TRY(cudaMemsetAsync(device->numerators[0], 0, (size_t)in->height * rank * sizeof(float), stream));
        numerators_kernel<<<grid, dim3(N, N), 0, stream>>>(*in, mode, device->factors[1], device->factors[2], in->width,
                                                           in->channels, rank, device->numerators[0]);
    } else if (mode == 1) {
        CUDA_TRY(cudaMemsetAsync(sums, 0, (size_t)samples * rank * sizeof(float), stream));
        sums_kernel<<<dim3(spans, grid.y, min(ceiling_divide(BLOCKS, spans), runs)), THREADS, 0, stream>>>(
            *in, device->factors[0], rank, sums);
    }
    CUDA_TRY(cudaGetLastError());
    return mode == 0 ? STATUS_OK : ntf_device_contract(device, mode, sums, stream);
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct ntf_params *params)
{
    const size_t entries = (size_t)in->width * in->channels * params->rank;

    if (!state->sums && device_allocate((void **)&state->sums, entries * sizeof *state->sums) != STATUS_OK)
        return STATUS_FAILED;
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
    device_free(state->sums);
}

RUNGS_CUDA_VERSION(ntf)
