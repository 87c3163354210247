/*
 * Idea:     u by plain matrices in register tiles: the tensor as R rows of S T samples, times the Khatri-Rao product of v
 *           and w, formed once an iteration.
 * Changed:  a block multiplies 64 rows by 16 columns, 32 terms at a time, which lie in shared memory; a thread sums a tile
 *           of 4x4 entries from two loads of 16 bytes. A launch forms the products. P is as it was.
 * Expect:   two loads for 16 multiply-adds instead of 32 for 32: u 40 us instead of 120. P's 60 us are most of an
 *           iteration then, the small kernels another 40.
 * Result:   150 us an iteration with K = 16, 1.5 times v2.0 (results/h200/ntf/ntf_24x16520_rank16.json, 5 iterations).
 */
/* Try: make bench-ntf VERSIONS=cuda/v1.3,cuda/v2.0,cuda/v2.1,cuda/v2.2,cuda/v2.3 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
    float *sums, *products; /* P, [k][sample]; v(s,k) w(t,k), [sample][k] */
};

enum { N = 8, ROWS = 64, COLUMNS = 16, TERMS = 32, TILE = 4, MULTIPLIERS = ROWS * COLUMNS / TILE / TILE };
enum { THREADS = 128, BLOCKS = 2048 /* of a pass at least */ };

/* Adds the tensor times the products to ROWS rows of u's numerators in COLUMNS columns, of every so many runs of TERMS terms. */
static __global__ void multiply_kernel(struct image in, const float *right, int rank, float *out)
{
    __shared__ __align__(16) float tensor[TERMS][ROWS + TILE], factor[TERMS][COLUMNS];
    const int rows = in.height, terms = in.width * in.channels, first = blockIdx.x * ROWS, from = blockIdx.y * COLUMNS;
    const int row = threadIdx.x / TILE * TILE, column = threadIdx.x % TILE * TILE;
    float tile[TILE][TILE] = {};

    for (int begin = blockIdx.z * TERMS; begin < terms; begin += (int)gridDim.z * TERMS) {
        __syncthreads();
        for (int entry = threadIdx.x; entry < TERMS * ROWS; entry += MULTIPLIERS) {
            const int r = first + entry / TERMS, at = begin + entry % TERMS;
            tensor[at - begin][r - first] = r < rows && at < terms ? ntf_sample(&in, 0, r, 0, at) : 0;
        }
        for (int entry = threadIdx.x; entry < TERMS * COLUMNS; entry += MULTIPLIERS) {
            const int term = begin + entry / COLUMNS, k = from + entry % COLUMNS;
            factor[term - begin][k - from] = term < terms && k < rank ? right[(size_t)term * rank + k] : 0;
        }
        __syncthreads();
        for (int term = 0; term < TERMS; term++) {
            const float4 left = *(const float4 *)&tensor[term][row], top = *(const float4 *)&factor[term][column];
            const float g[TILE] = {left.x, left.y, left.z, left.w}, f[TILE] = {top.x, top.y, top.z, top.w};
#pragma unroll
            for (int k = 0; k < TILE * TILE; k++)
                tile[k / TILE][k % TILE] += g[k / TILE] * f[k % TILE];
        }
    }
#pragma unroll
    for (int k = 0; k < TILE * TILE; k++) {
        const int i = first + row + k / TILE, j = from + column + k % TILE;
        if (i < rows && j < rank)
            atomicAdd(&out[(size_t)i * rank + j], tile[k / TILE][k % TILE]);
    }
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
    float *const sums = ((struct state *)state)->sums, *const products = ((struct state *)state)->products;
    const int rank = device->rank, samples = in->width * in->channels;
    const int high = ceiling_divide(in->height, ROWS), parts = ceiling_divide(BLOCKS, high);
    const int spans = ceiling_divide(samples, THREADS), runs = ceiling_divide(in->height, N);
    enum status status = STATUS_OK;
    dim3 grid(high, ceiling_divide(rank, COLUMNS), min(parts, (int)ceiling_divide(samples, TERMS)));

    if (mode == 0) {
        CUDA_TRY(cudaMemsetAsync(device->numerators[0], 0, (size_t)in->height * rank * sizeof(float), stream));
        TRY(ntf_device_products(device, products, stream));
        multiply_kernel<<<grid, MULTIPLIERS, 0, stream>>>(*in, products, rank, device->numerators[0]);
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

    if (!state->products && device_allocate((void **)&state->products, entries * sizeof *state->sums) != STATUS_OK)
        return STATUS_FAILED;
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
    device_free(state->products);
}

RUNGS_CUDA_VERSION(ntf)
