/*
 * Problem:  cuda/v2.0 reads the tensor twice per iteration and multiplies by FMA, not tensor cores.
 * Idea:     Kernel fusion: 16 slices (24 x 24 samples of a row of factor u) stay in shared memory
 *           until their rows of u are known, and then are added to P, so the tensor is read once.
 *           Tensor cores multiply: a float is three bfloat16, a product six (shared/tensor.cuh).
 * Expect:   Factor u and P take 10 us with rank 16, 20 us with 49.
 * Result:   1.6 times as fast as cuda/v2.0, kernel, rank 16, 88 us per iteration
 *           (results/h100/ntf/ntf_24x16520_rank16.json); u and P alone are not timed there.
 * Run:      make bench-ntf VERSIONS=cuda/v2.0,cuda/v2.1
 */
#include "common/cuda/early.cuh"
#include "cuda/ntf/shared/iterate.h"
#include "cuda/ntf/shared/tensor.cuh"

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

/* u and P in SIDE * TILES columns, of the 16 slices from blockIdx.x * SLICES on and of each 16 that lie gridDim.x *
 * SLICES further. */
template <int TILES>
static __global__ void __launch_bounds__(FUSED, 1)
    fused_kernel(struct image in, struct ntf_device device, int update, float *sums)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct room<TILES> &own = *(struct room<TILES> *)memory;
    const int warp = threadIdx.x / 32, from = blockIdx.y * SIDE * TILES, steps = (device.rank + TERM - 1) / TERM;
    float sum[2][TILES][4] = {}, ahead[SLICES];

    allow_next();
    load_slices(in, blockIdx.x * SLICES, ahead); /* no kernel writes the tensor */
    wait_for_last();
    const bool settled = *device.settled;
    make_products<TILES>(device, from, own.products[warp]);
    make_weights<TILES>(device, from, own.weights);
    __syncthreads();
    for (int first = blockIdx.x * SLICES; first < in.height; first += (int)gridDim.x * SLICES) {
        multiply_old<TILES>(device, first, own);
        store_slices(ahead, own.slices[warp]);
        multiply_slices<TILES>(own.slices[warp], own.products[warp], own.shares[warp]);
        load_slices(in, first + (int)gridDim.x * SLICES, ahead);
        __syncthreads();
        for (int entry = threadIdx.x; entry < SLICES * (SIDE * TILES); entry += blockDim.x) {
            const int row = entry / (SIDE * TILES), column = entry % (SIDE * TILES), k = from + column;
            const float old = entry_of(device, 0, first + row, k);
            float numerator = 0, denominator = 0;
            for (int w = 0; w < (int)blockDim.x / 32; w++)
                numerator += own.shares[w][row][column];
            for (int s = 0; s < steps; s++)
                denominator += own.shares[WARPS + s][row][column];
            const float now = settled ? old : ntf_updated(old, numerator, denominator, update);
            const bool inside = first + row < in.height && k < device.rank;
            store_row<TILES>(!inside ? 0 : update == NTF_DAMPED ? old : now, row, column, own.rows);
            if (inside)
                device.next[0][(size_t)(first + row) * device.rank + k] = now;
        }
        __syncthreads();
        add_slices<TILES>(sum, own.slices[warp], own.rows);
    }
    add_sums<TILES>(sum, own.slices[warp], from, device.rank, in.width * in.channels, sums);
}

template <int TILES>
static enum status fuse(struct ntf_device *device, const struct image *in, int update, float *sums, cudaStream_t stream)
{
    const int chunks = ceiling_divide(device->rank, SIDE * TILES);
    const int blocks = min(max(device->multiprocessors / chunks, 1), ceiling_divide(in->height, SLICES));
    const int threads = 32 * ceiling_divide(in->width * in->channels, WIDTH);
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {dim3(blocks, chunks),    dim3(threads), sizeof(struct room<TILES>), stream, &early,
                                 early_attributes(&early)};
    enum status status = STATUS_OK;

    CUDA_TRY(cudaLaunchKernelEx(&config, fused_kernel<TILES>, *in, *device, update, sums));
out:
    return status;
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

    if (samples <= LARGEST && device->rank <= HIGHEST) {
        TRY((device->rank <= 2 * SIDE ? fuse<2> : fuse<4>)(device, in, params->update, state->sums, stream));
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
    enum status status = STATUS_OK;

    CUDA_TRY(
        cudaFuncSetAttribute(fused_kernel<2>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct room<2>)));
    CUDA_TRY(
        cudaFuncSetAttribute(fused_kernel<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct room<4>)));
    if (!state->products && device_allocate((void **)&state->products, entries * sizeof *state->sums) != STATUS_OK)
        return STATUS_FAILED;
    if (!state->sums && device_allocate((void **)&state->sums, entries * sizeof *state->sums) != STATUS_OK)
        return STATUS_FAILED;
    TRY(ntf_device_setup(&state->device, in, params));
out:
    return status;
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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(ntf, .unavailable = unavailable, .staged = true)
