/*
 * Idea:     one pass over the tensor is an iteration. A row of u needs nothing but its own slice: four slices wait in the
 *           registers of a block until their rows of u are there, and are added to P, which lies in registers, too.
 * Changed:  a thread holds 9 samples of each of four slices and P of these samples in 4 of 16 columns; the products of v
 *           and w lie in shared memory. Threads of a warp, then warps, add up their shares of the numerators. Slices of
 *           more than 576 samples go the way of v2.3.
 * Expect:   a load of 16 bytes from shared memory for 16 multiply-adds, and none of the tensor for 16 more; 4 launches
 *           less. With K = 16 25 us for u and P, 10 for what follows; with K = 49, in 4 times 16 columns, 90 and 15.
 * Result:   92 us an iteration with K = 16, 1.4 times v2.3 (results/h200/ntf/ntf_24x16520_rank16.json, 5 iterations): 50 us for
 *           u and P, 14 for what follows, 18 for the products of u with itself (profile_ntf_v2.4_rank16.txt beside it). With K =
 *           49 181 us and 58 us.
 */
/* Try: make bench-ntf VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2,cuda/v2.3,cuda/v2.4 */
#include "cuda/ntf/shared/iterate.h"
#include "cuda/ntf/shared/shares.cuh"

struct state {
    struct ntf_device device;
    float *sums, *products; /* P, [k][sample]; v(s,k) w(t,k), [sample][k] */
};

enum { ROWS = 64, COLUMNS = 16, TERMS = 32, TILE = 4, MULTIPLIERS = ROWS * COLUMNS / TILE / TILE };
enum { BLOCKS = 2048 /* of a pass at least */ };

/* Adds the tensor times the products to u's numerators, or its transpose times u to P: ROWS rows of them in COLUMNS columns,
 * of every so many runs of TERMS terms. */
template <bool TRANSPOSED>
static __global__ void multiply_kernel(struct image in, const float *right, int rank, float *out)
{
    __shared__ __align__(16) float tensor[TERMS][ROWS + TILE], factor[TERMS][COLUMNS];
    const int samples = in.width * in.channels, rows = TRANSPOSED ? samples : in.height;
    const int terms = TRANSPOSED ? in.height : samples, first = blockIdx.x * ROWS, from = blockIdx.y * COLUMNS;
    const int row = threadIdx.x / TILE * TILE, column = threadIdx.x % TILE * TILE;
    float tile[TILE][TILE] = {};

    for (int begin = blockIdx.z * TERMS; begin < terms; begin += (int)gridDim.z * TERMS) {
        __syncthreads();
        for (int entry = threadIdx.x; entry < TERMS * ROWS; entry += MULTIPLIERS) {
            const int i = TRANSPOSED ? entry % ROWS : entry / TERMS, term = TRANSPOSED ? entry / ROWS : entry % TERMS;
            const bool inside = first + i < rows && begin + term < terms;
            const int r = TRANSPOSED ? begin + term : first + i, at = TRANSPOSED ? first + i : begin + term;
            tensor[term][i] = inside ? ntf_sample(&in, 0, r, 0, at) : 0;
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
            atomicAdd(&out[TRANSPOSED ? (size_t)j * rows + i : (size_t)i * rank + j], tile[k / TILE][k % TILE]);
    }
}

enum { SLICES = 4, SAMPLES = 9, GROUPS = 64, LARGEST = GROUPS * SAMPLES, FUSED = 256 /* threads */ };

/* u and P of every so many slices, four at a time, in 16 columns: a thread has 9 samples of each and 4 columns. */
static __global__ void __launch_bounds__(FUSED, 2)
    fused_kernel(struct image in, struct ntf_device device, int update, float *sums)
{
    extern __shared__ __align__(16) float weights[]; /* [m][column]; behind them the products, [sample][column] */
    __shared__ __align__(16) float shares[FUSED / 32][SLICES][COLUMNS], rows[SLICES][COLUMNS];
    const int samples = in.width * in.channels, rank = device.rank, from = blockIdx.y * COLUMNS;
    const int group = threadIdx.x / TILE, column = threadIdx.x % TILE * TILE, warp = threadIdx.x / 32;
    const int slice = threadIdx.x / 64, part = threadIdx.x % 4; /* four threads sum an entry of u */
    const int own = threadIdx.x / 4 % COLUMNS, k = min(from + own, rank - 1);
    const bool settled = *device.settled;
    float *const products = weights + rank * COLUMNS, sum[SAMPLES][TILE] = {};

    for (int i = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS; i < LARGEST; i += blockDim.x / COLUMNS) {
        const int s = min(i, samples - 1) / in.channels, t = min(i, samples - 1) % in.channels,
                  at = min(from + c, rank - 1);
        products[i * COLUMNS + c] = device.factors[1][s * rank + at] * device.factors[2][t * rank + at];
    }
    for (int entry = threadIdx.x; entry < rank * COLUMNS; entry += FUSED) {
        const int at = entry / COLUMNS * rank + min(from + entry % COLUMNS, rank - 1);
        weights[entry] = (float)(device.grams[1][at] * device.grams[2][at]);
    }
    __syncthreads();
    for (int first = blockIdx.x * SLICES; first < in.height; first += (int)gridDim.x * SLICES) {
        float g[SLICES][SAMPLES], share[SLICES][TILE] = {}, denominator = 0;
        load_slices(in, first, group, samples, g);
        const float *const old = device.factors[0] + (size_t)min(first + slice, in.height - 1) * rank;
        for (int m = part; m < rank; m += 4)
            denominator += old[m] * weights[m * COLUMNS + own];
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) {
            const float4 product = *(const float4 *)&products[(group + i * GROUPS) * COLUMNS + column];
#pragma unroll
            for (int b = 0; b < SLICES; b++) {
                share[b][0] += g[b][i] * product.x;
                share[b][1] += g[b][i] * product.y;
                share[b][2] += g[b][i] * product.z;
                share[b][3] += g[b][i] * product.w;
            }
        }
        sum_of_lanes(share);
        if (threadIdx.x % 8 < 4)
            *(float4 *)&shares[warp][threadIdx.x % 32 / 8][column] = {share[0][0], share[0][1], share[0][2],
                                                                      share[0][3]};
        __syncthreads();
        const float numerator = sum_of_four(shares[part][slice][own] + shares[part + 4][slice][own]);
        const float now = ntf_updated(old[k], numerator, sum_of_four(denominator), update);
        if (part == 0)
            rows[slice][own] = first + slice >= in.height ? 0 : update == NTF_DAMPED || settled ? old[k] : now;
        if (part == 0 && first + slice < in.height && from + own < rank)
            device.next[0][(size_t)(first + slice) * rank + k] = settled ? old[k] : now;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < SLICES * SAMPLES; i++)
            for (int j = 0; j < TILE; j++)
                sum[i % SAMPLES][j] += g[i / SAMPLES][i % SAMPLES] * rows[i / SAMPLES][column + j];
    }
#pragma unroll
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < TILE; j++)
            if (group + i * GROUPS < samples && from + column + j < rank)
                atomicAdd(&sums[(size_t)(from + column + j) * samples + group + i * GROUPS], sum[i][j]);
}

static enum status iterate(void *erased, struct ntf_device *device, const struct image *in, struct image errors,
                           int iteration, const struct ntf_params *params, cudaStream_t stream)
{
    const struct state *state = (const struct state *)erased;
    const int samples = in->width * in->channels, chunks = ceiling_divide(device->rank, COLUMNS);
    const int high = ceiling_divide(in->height, ROWS), wide = ceiling_divide(samples, ROWS);
    enum status status = STATUS_OK;
    dim3 grid(high, chunks, min(ceiling_divide(BLOCKS, high), ceiling_divide(samples, TERMS)));
    dim3 transposed(wide, chunks, min(ceiling_divide(BLOCKS, wide), ceiling_divide(in->height, TERMS)));

    if (samples <= LARGEST) {
        const size_t shared = sizeof(float) * COLUMNS * (LARGEST + device->rank);
        const int blocks = min(ceiling_divide(2 * device->multiprocessors, chunks), ceiling_divide(in->height, SLICES));
        fused_kernel<<<dim3(blocks, chunks), FUSED, shared, stream>>>(*in, *device, params->update, state->sums);
        CUDA_TRY(cudaGetLastError());
        TRY(ntf_device_lead(device, true, params, stream));
        return ntf_device_follow(device, state->sums, errors, iteration, params, stream);
    }
    CUDA_TRY(cudaMemsetAsync(device->numerators[0], 0, sizeof(float) * in->height * device->rank, stream));
    TRY(ntf_device_products(device, state->products, stream));
    multiply_kernel<false><<<grid, MULTIPLIERS, 0, stream>>>(*in, state->products, device->rank, device->numerators[0]);
    CUDA_TRY(cudaGetLastError());
    TRY(ntf_device_lead(device, false, params, stream));
    multiply_kernel<true><<<transposed, MULTIPLIERS, 0, stream>>>(*in, device->factors[0], device->rank, state->sums);
    CUDA_TRY(cudaGetLastError());
    TRY(ntf_device_follow(device, state->sums, errors, iteration, params, stream));
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
    const size_t bytes = sizeof *state->sums * in->width * in->channels * params->rank;
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(state->sums, 0, bytes, stream));
    TRY(ntf_device_repeat(&state->device, in, out, params, iterate, state, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    ntf_device_teardown(&state->device);
    device_free(state->sums);
    device_free(state->products);
}

RUNGS_CUDA_VERSION(ntf)
