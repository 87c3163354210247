/*
 * Problem:  cuda/v1.3 passes over the tensor 3 times, with a shared-memory load per multiplication.
 * Idea:     Dimension tree, as in cpu/dimension_tree: two passes instead of three; factors v and w
 *           follow in 3 launches, not 11 (with memsets). Register tile: a thread holds 4 x 4 sums,
 *           so 8 numbers from shared memory serve 16 multiply-adds.
 * Expect:   Per iteration 120 us with rank 16, 190 us with rank 49.
 * Result:   4.6 times as fast as cuda/v1.3, kernel, rank 49: 354 us, the reason is not known
 *           (results/h100/ntf/ntf_24x16520_rank49.json).
 * Run:      make bench-ntf VERSIONS=cuda/v1.3,cuda/v2.0
 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
    float *sums, *products; /* P, [k][sample]; v(s,k) w(t,k), [sample][k] */
};

enum { ROWS = 64, COLUMNS = 16, TERMS = 32, TILE = 4, MULTIPLIERS = ROWS * COLUMNS / TILE / TILE };
enum { BLOCKS = 2048 /* of a pass at least */ };

/* Adds the tensor times the products to u's numerators, or its transpose times u to P: ROWS rows of them in COLUMNS
 * columns, over the runs blockIdx.z, blockIdx.z + gridDim.z ... of TERMS terms.
 *
 *                       S T terms                  COLUMNS
 *                  +-----------------+          +----------+          +----------+
 *      ROWS of R   |  run  |  run  | |   times  |  v w     |  TERMS   | 4x4 sums |  a thread
 *      slices      |       |       | |          +----------+          +----------+
 *                  +-----------------+          |          |
 */
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

static enum status iterate(void *erased, struct ntf_device *device, const struct image *in, struct image errors,
                           int iteration, const struct ntf_params *params, cudaStream_t stream)
{
    const struct state *state = (const struct state *)erased;
    const int samples = in->width * in->channels, chunks = ceiling_divide(device->rank, COLUMNS);
    const int high = ceiling_divide(in->height, ROWS), wide = ceiling_divide(samples, ROWS);
    enum status status = STATUS_OK;
    dim3 grid(high, chunks, min(ceiling_divide(device_blocks(BLOCKS), high), ceiling_divide(samples, TERMS)));
    dim3 transposed(wide, chunks, min(ceiling_divide(device_blocks(BLOCKS), wide), ceiling_divide(in->height, TERMS)));

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
