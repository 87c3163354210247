/*
 * Idea:     P is a product of matrices, too: the tensor's transpose times u. One kernel does both.
 * Changed:  the kernel has a form in which rows and terms change places; sums_kernel() is gone. The tensor is loaded along
 *           its rows in either form, so that loads stay coalesced.
 * Expect:   P 40 us like u, instead of 60: 80 us an iteration with K = 16 are passes, another 40 the small kernels between
 *           them.
 * Result:   156 us an iteration with K = 16, 4 % slower than v2.1 (results/h200/ntf/ntf_24x16520_rank16.json, 5 iterations).
 */
/* Try: make bench-ntf VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2,cuda/v2.3,cuda/v2.4 */
#include "cuda/ntf/shared/iterate.h"

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

static enum status pass(void *state, struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    float *const sums = ((struct state *)state)->sums, *const products = ((struct state *)state)->products;
    const int rank = device->rank, samples = in->width * in->channels;
    const int high = ceiling_divide(mode == 0 ? in->height : samples, ROWS), parts = ceiling_divide(BLOCKS, high);
    const int runs = ceiling_divide(mode == 0 ? samples : in->height, TERMS);
    enum status status = STATUS_OK;
    dim3 grid(high, ceiling_divide(rank, COLUMNS), min(parts, runs));

    if (mode == 0) {
        CUDA_TRY(cudaMemsetAsync(device->numerators[0], 0, (size_t)in->height * rank * sizeof(float), stream));
        TRY(ntf_device_products(device, products, stream));
        multiply_kernel<false><<<grid, MULTIPLIERS, 0, stream>>>(*in, products, rank, device->numerators[0]);
    } else if (mode == 1) {
        CUDA_TRY(cudaMemsetAsync(sums, 0, (size_t)samples * rank * sizeof(float), stream));
        multiply_kernel<true><<<grid, MULTIPLIERS, 0, stream>>>(*in, device->factors[0], rank, sums);
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
