/*
 * Idea:     two products of matrices on the tensor cores, in which no warp waits for another: 16 slices and half of their samples are
 *           one warp's for u, 32 samples of every so many slices one warp's for P. Samples go from memory to registers.
 * Changed:  from v2.5: multiply_kernel has two of its own in its place up to 576 samples a slice and rank 56. The first updates u, so
 *           that its numerators are never stored; the second multiplies u by itself, too, for it has the operands on either side.
 * Expect:   v2.6 reads the tensor once, but its 18 warps wait for each other three times for every 16 slices. Here it is read twice,
 *           10 us each; 12,100 products of a multiprocessor for 49 columns are 11 us, the products of v and w 4, what follows P
 *           11, launches 5: 60 us an iteration with K = 49 in place of 190, 45 with K = 16 in place of 65.
 * From:     cuda/v2.5
 */
/* Try: make bench-ntf VERSIONS=cuda/v2.3,cuda/v2.5,cuda/v2.6,cuda/v2.7 */
#include "cuda/ntf/shared/iterate.h"
#include "cuda/ntf/shared/products.cuh"

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

/* u of GROUPS times 16 slices: two warps share the samples of 16. */
template <int TILES>
static __global__ void __launch_bounds__(MULTIPLY, 1) lead_kernel(struct image in, struct ntf_device device, int update)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct factors<TILES> &own = *(struct factors<TILES> *)memory;
    const int group = threadIdx.x / 32 / HALVES, first = (blockIdx.x * GROUPS + group) * +SLICES;
    const int steps = (in.width * in.channels + WIDTH - 1) / WIDTH, middle = (steps + 1) / 2;
    const bool upper = threadIdx.x / 32 % HALVES == 0;
    float sums[TILES][4] = {}, below[TILES][4] = {};

    make_terms<TILES>(device, own);
    make_weights<TILES>(device, 0, own.weights);
    __syncthreads();
    add_numerators<TILES>(in, first, upper ? 0 : PAIR * middle, PAIR * (upper ? middle : steps), own, sums);
    if (!upper)
        add_denominators<TILES>(device, first, own, below);
    update_rows<TILES>(device, first, in.height, update, upper, own.sums[group], sums, below);
}

/* P and, where it is asked for, u'u, of every so many times 16 slices. */
template <int TILES>
static __global__ void __launch_bounds__(ADDERS, 1)
    add_kernel(struct image in, struct ntf_device device, bool squares, float *sums)
{
    __shared__ struct operand rows[GROUPS][TILES][32];
    const int samples = in.width * in.channels, by = gridDim.x * SLICES, from = threadIdx.x / 32 * SHARE;
    float sum[PARTS][TILES][4] = {}, terms[PARTS][2][4];

    for (int p = 0; p < PARTS; p++)
        load_rows(in, blockIdx.x * SLICES, from + p * TERM, terms[p]);
    for (int begin = blockIdx.x * SLICES; begin < in.height; begin += GROUPS * by) {
        __syncthreads();
        make_rows<TILES>(device, begin, by, rows);
        __syncthreads();
#pragma unroll 1
        for (int g = 0; g < GROUPS && begin + g * by < in.height; g++)
#pragma unroll
            for (int p = 0; p < PARTS; p++)
                multiply_rows<TILES>(sum[p], in, begin + (g + 1) * by, from + p * TERM, terms[p], rows[g]);
        if (squares)
            add_squares<TILES>(rows, device);
    }
    store_products<TILES>(sum, from, samples, device.rank, sums);
}

template <int TILES>
static enum status multiply(struct ntf_device *device, const struct image *in, int update, float *sums,
                            cudaStream_t stream)
{
    const int bytes = sizeof(struct factors<TILES>), groups = ceiling_divide(in->height, SLICES),
              warps = ceiling_divide(in->width * in->channels, SHARE);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaFuncSetAttribute(lead_kernel<TILES>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    lead_kernel<TILES><<<ceiling_divide(groups, GROUPS), MULTIPLY, bytes, stream>>>(*in, *device, update);
    CUDA_TRY(cudaGetLastError());
    if (update != NTF_DAMPED)
        std::swap(device->factors[0], device->next[0]);
    add_kernel<TILES>
        <<<min(device->multiprocessors, groups), 32 * warps, 0, stream>>>(*in, *device, update != NTF_DAMPED, sums);
    CUDA_TRY(cudaGetLastError());
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
    dim3 grid(high, chunks, min(ceiling_divide(BLOCKS, high), ceiling_divide(samples, TERMS)));
    dim3 transposed(wide, chunks, min(ceiling_divide(BLOCKS, wide), ceiling_divide(in->height, TERMS)));

    if (samples <= LARGEST && device->rank <= TOP * +SIDE) {
        TRY((device->rank <= 2 * SIDE ? multiply<2> : multiply<TOP>)(device, in, params->update, state->sums, stream));
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
    state->device.columns = true;
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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(ntf, .unavailable = unavailable)
