#include "common/cuda/early.cuh"
#include "cuda/ntf/shared/entries.cuh"
#include "cuda/ntf/shared/iterate.h"

enum {
    THREADS = 128,
    SLICE = 128 /* rows of a factor for one block */,
    COLUMN = 512 /* threads of a column at most */,
    MOST = 1024 /* threads of a block of a column of v or w at most */,
    TALL = 256
};

/* The sum of a value of each thread, in thread 0. */
static __device__ double sum_of_block(double value, double *parts)
{
    enum { LAST = 16 /* threads that add up all others */ };
    double sum = 0;

    parts[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x < LAST)
        for (int i = threadIdx.x; i < (int)blockDim.x; i += LAST)
            sum += parts[i];
    __syncthreads();
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int i = 1; i < LAST && threadIdx.x == 0; i++)
        sum += parts[i];
    return sum;
}

static __global__ void norm_kernel(struct image in, double *norm)
{
    __shared__ double parts[THREADS];
    const int samples = in.width * in.channels;
    double sum = 0;

    for (int r = blockIdx.x; r < in.height; r += gridDim.x)
        for (int i = threadIdx.x; i < samples; i += THREADS) {
            const double g = ntf_sample(&in, 0, r, i / in.channels, i % in.channels);
            sum += g * g;
        }
    sum = sum_of_block(sum, parts);
    if (threadIdx.x == 0)
        atomicAdd(norm, sum);
}

/* F'F of SLICE rows, through shared memory: a thread for each tile of TILE x TILE entries and part of the rows. */
static __global__ void gram_kernel(const float *factor, int side, int rank, double *gram)
{
    enum { TILE = 4, ROWS = 32, ROOM = 32 * NTF_MAX_RANK };
    __shared__ float rows[ROOM];
    const int across = (rank + TILE - 1) / TILE, tiles = across * across, parts = max(THREADS / tiles, 1);
    const int last = min((int)(blockIdx.x + 1) * SLICE, side), share = tiles * parts,
              part = threadIdx.x / min(tiles, THREADS);

    for (int round = 0; round < tiles; round += THREADS) {
        const int tile = round + threadIdx.x % min(tiles, THREADS);
        const int a = tile / across * TILE, b = tile % across * TILE;
        float sums[TILE][TILE] = {};
        for (int first = blockIdx.x * SLICE; first < last; first += ROWS) {
            const int count = min(ROWS, last - first);
            __syncthreads();
            for (int i = threadIdx.x; i < count * rank; i += THREADS)
                rows[i] = factor[(size_t)first * rank + i];
            __syncthreads();
            for (int i = part; i < count && tile < tiles; i += parts)
#pragma unroll
                for (int k = 0; k < TILE * TILE; k++)
                    sums[k / TILE][k % TILE] +=
                        rows[i * rank + min(a + k / TILE, rank - 1)] * rows[i * rank + min(b + k % TILE, rank - 1)];
        }
#pragma unroll
        for (int k = 0; k < TILE * TILE; k++) {
            float sum = sums[k / TILE][k % TILE];
            __syncthreads();
            rows[threadIdx.x] = sum;
            __syncthreads();
            for (int other = threadIdx.x + tiles; other < share; other += tiles)
                sum += rows[other];
            if (part == 0 && tile < tiles && a + k / TILE < rank && b + k % TILE < rank)
                atomicAdd(&gram[(a + k / TILE) * rank + b + k % TILE], (double)sum);
        }
    }
}

static __device__ void note_error(double product, double model, const struct ntf_params &params, double norm,
                                  const struct image &errors, int iteration, int *settled)
{
    const double before = iteration > 0 ? *(double *)image_row(&errors, iteration - 1) : INFINITY;
    const double now = *settled ? before : ntf_error(norm, product, model);

    *(double *)image_row(&errors, iteration) = now;
    *settled |= ntf_settled(before, now, &params);
}

/* One block: the error of this iteration, or the one before when all is settled. */
static __global__ void error_kernel(const float *w, const float *numerators, int count, struct ntf_params params,
                                    const double *gram_u, const double *gram_v, const double *gram_w,
                                    const double *norm, struct image errors, int iteration, int *settled)
{
    __shared__ double parts[THREADS];
    double product = 0, model = 0;

    for (int i = threadIdx.x; i < count; i += THREADS)
        product += (double)w[i] * numerators[i];
    product = sum_of_block(product, parts);
    __syncthreads();
    for (int i = threadIdx.x; i < params.rank * params.rank; i += THREADS)
        model += gram_u[i] * gram_v[i] * gram_w[i];
    model = sum_of_block(model, parts);
    if (threadIdx.x == 0)
        note_error(product, model, params, *norm, errors, iteration, settled);
}

/* ------------------------------------------------------------------------- what follows P, a block for each column */

/* The sum of a value of each lane, in all lanes. */
template <typename T> static __device__ T sum_of_warp(T value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

/* Of columns m and k of a factor; the same for k and m. Threads of neighbouring m read neighbouring entries. */
static __device__ double product_of_columns(const float *factor, int side, int rank, int m, int k)
{
    double sum = 0;
#pragma unroll 8
    for (int i = 0; i < side; i++)
        sum += factor[(size_t)i * rank + m] * factor[(size_t)i * rank + k];
    return sum;
}

/* F'F of TALL rows above the diagonal and on it: as gram_kernel, but for tiles of the upper triangle alone, whose
 * operands are loads of 16 bytes, and with one barrier for all sums. */
static __global__ void __launch_bounds__(COLUMN) triangle_kernel(const float *factor, int side, int rank, double *gram)
{
    enum { TILE = 4, ROOM = COLUMN * TILE * TILE };
    __shared__ __align__(16) float rows[ROOM];
    const int across = (rank + TILE - 1) / TILE, tiles = across * (across + 1) / 2, stride = across * TILE;
    const int parts = max(COLUMN / tiles, 1), part = threadIdx.x / min(tiles, COLUMN),
              height = min(ROOM / stride, TALL);
    const int last = min((int)(blockIdx.x + 1) * TALL, side);

    allow_next();
    wait_for_last();
    for (int round = 0; round < tiles; round += COLUMN) {
        const int tile = round + threadIdx.x % min(tiles, COLUMN);
        int a = 0, b = tile;
        for (; a < across && b >= across - a; a++)
            b -= across - a;
        a *= TILE, b = a + b * TILE;
        float sums[TILE][TILE] = {};
        for (int first = blockIdx.x * TALL; first < last; first += height) {
            const int count = min(height, last - first);
            __syncthreads();
            for (int i = threadIdx.x; i < count * stride; i += COLUMN)
                rows[i] = i % stride < rank ? factor[(size_t)(first + i / stride) * rank + i % stride] : 0;
            __syncthreads();
#pragma unroll 4
            for (int i = part; i < count && tile < tiles && part < parts; i += parts) {
                const float4 above = *(const float4 *)&rows[i * stride + a],
                             beside = *(const float4 *)&rows[i * stride + b];
                const float u[TILE] = {above.x, above.y, above.z, above.w},
                            v[TILE] = {beside.x, beside.y, beside.z, beside.w};
#pragma unroll
                for (int k = 0; k < TILE * TILE; k++)
                    sums[k / TILE][k % TILE] += u[k / TILE] * v[k % TILE];
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE * TILE; k++)
            rows[k * COLUMN + threadIdx.x] = sums[k / TILE][k % TILE];
        __syncthreads();
        for (int k = part; k < TILE * TILE && tile < tiles && part < parts; k += parts) {
            const int m = a + k / TILE, n = b + k % TILE;
            double sum = 0;
            for (int other = 0; other < parts; other++)
                sum += rows[k * COLUMN + other * tiles + tile - round];
            if (m <= n && n < rank)
                atomicAdd(&gram[m * rank + n], sum);
        }
    }
}

/* Column k = blockIdx.x of v or w: a warp for each row. The last threads compute the weights, so that these do not make
 * the first rows wait. */
static __global__ void __launch_bounds__(MOST)
    side_kernel(struct ntf_device device, int mode, int update, const float *sums)
{
    __shared__ float weights[NTF_MAX_RANK];
    const int k = blockIdx.x, rank = device.rank, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int t_side = device.sides[2], along = mode == 1 ? t_side : 1, step = mode == 1 ? 1 : t_side;
    const int length = device.sides[3 - mode];
    const float *const factor = device.factors[mode], *const column = sums + (size_t)k * device.sides[1] * t_side;
    const float *const other = mode == 1 || update == NTF_DAMPED ? device.factors[3 - mode] : device.next[1];

    allow_next();
    wait_for_last();
    for (int m = blockDim.x - 1 - threadIdx.x; m < rank; m += blockDim.x)
        weights[m] =
            (float)(device.grams[0][min(m, k) * rank + max(m, k)] * product_of_columns(other, length, rank, m, k));
    for (int i = warp; i < device.sides[mode]; i += blockDim.x / 32) {
        double sum = 0;
        for (int j = lane; j < length; j += 32)
            sum += column[(size_t)i * along + (size_t)j * step] * other[(size_t)j * rank + k];
        sum = sum_of_warp(sum);
        if (lane == 0)
            device.numerators[mode][i * rank + k] = (float)sum;
    }
    __syncthreads();
    for (int i = warp; i < device.sides[mode]; i += blockDim.x / 32) {
        const int at = i * rank + k;
        float denominator = 0;
        for (int m = lane; m < rank; m += 32)
            denominator += factor[i * rank + m] * weights[m];
        denominator = sum_of_warp(denominator);
        if (lane == 0)
            device.next[mode][at] = *device.settled
                                        ? factor[at]
                                        : ntf_updated(factor[at], device.numerators[mode][at], denominator, update);
    }
}

/* Column k = blockIdx.x of the products of v and of w with themselves, and its part of the error, which the last block
 * adds up. P and the products of u become zero. */
static __global__ void __launch_bounds__(MOST)
    finish_kernel(struct ntf_device device, struct ntf_params params, float *sums, struct image errors, int iteration)
{
    __shared__ double models[MOST / 32], squares[2][NTF_MAX_RANK];
    __shared__ bool is_last;
    const int k = blockIdx.x, rank = device.rank, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int samples = device.sides[1] * device.sides[2];
    const bool damped = params.update == NTF_DAMPED;
    const float *const w = damped ? device.factors[2] : device.next[2];
    double model = 0, product = 0;

    allow_next();
    wait_for_last();
    for (int i = threadIdx.x; i < 2 * 32 * ((rank + 31) / 32); i += blockDim.x) { /* a warp has v or w */
        const int m = i / 64 * 32 + lane, mode = 1 + i / 32 % 2;
        if (m < rank)
            squares[mode - 1][m] = product_of_columns(device.next[mode], device.sides[mode], rank, m, k);
    }
    for (int i = threadIdx.x; i < samples; i += blockDim.x)
        sums[(size_t)k * samples + i] = 0;
    for (int t = lane; t < device.sides[2] && warp == (int)blockDim.x / 32 - 1; t += 32)
        product += (double)w[(size_t)t * rank + k] * device.numerators[2][(size_t)t * rank + k];
    product = sum_of_warp(product);
    __syncthreads();
    for (int m = threadIdx.x; m < rank; m += blockDim.x) {
        const int at = m * rank + k;
        const double v_product = squares[0][m], w_product = squares[1][m];
        if (m <= k)
            model += (m < k ? 2 : 1) * device.grams[0][at] * (damped ? device.grams[1][at] : v_product) *
                     (damped ? device.grams[2][at] : w_product);
        device.grams[0][at] = 0;
        device.grams[1][at] = v_product;
        device.grams[2][at] = w_product;
    }
    model = sum_of_warp(model);
    if (lane == 0)
        models[warp] = model;
    if (threadIdx.x == blockDim.x - 32)
        device.parts[2 * k] = product;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < (int)blockDim.x / 32; i++)
            model += models[i];
        device.parts[2 * k + 1] = model;
        __threadfence();
        is_last = atomicAdd(device.arrived, 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || warp > 0)
        return;
    __threadfence();
    product = model = 0;
    for (int i = lane; i < rank; i += 32) {
        product += device.parts[2 * i];
        model += device.parts[2 * i + 1];
    }
    product = sum_of_warp(product);
    model = sum_of_warp(model);
    if (lane == 0) {
        note_error(product, model, params, *device.norm, errors, iteration, device.settled);
        *device.arrived = 0;
    }
}

enum status ntf_device_setup(struct ntf_device *device, const struct image *in, const struct ntf_params *params)
{
    const size_t entries = (size_t)params->rank * params->rank;
    size_t rows = 0, at = 0;
    enum status status = STATUS_OK;

    if (device->sums)
        return STATUS_OK;
    CUDA_TRY(cudaDeviceGetAttribute(&device->multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    device->rank = params->rank;
    for (int mode = 0; mode < 3; mode++)
        rows += device->sides[mode] = ntf_side(in, mode);
    TRY(device_allocate((void **)&device->floats, 3 * rows * params->rank * sizeof(float)));
    for (int mode = 0; mode < 3; mode++) {
        const size_t size = (size_t)device->sides[mode] * params->rank;
        device->factors[mode] = device->floats + at;
        device->next[mode] = device->floats + at + size;
        device->numerators[mode] = device->floats + at + 2 * size;
        at += 3 * size;
    }
    TRY(device_allocate((void **)&device->sums, (3 * entries + 2 * params->rank + 2) * sizeof(double)));
    for (int mode = 0; mode < 3; mode++)
        device->grams[mode] = device->sums + mode * entries;
    device->norm = device->sums + 3 * entries;
    device->settled = (int *)(device->norm + 1);
    device->arrived = device->settled + 1;
    device->parts = device->norm + 2;
out:
    return status;
}

enum status ntf_device_products(struct ntf_device *device, float *products, cudaStream_t stream)
{
    const int count = device->sides[1] * device->sides[2] * device->rank;
    enum status status = STATUS_OK;

    products_kernel<<<ceiling_divide(count, THREADS), THREADS, 0, stream>>>(
        device->factors[1], device->factors[2], device->sides[2], device->rank, count, products);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status make_gram(struct ntf_device *device, int mode, cudaStream_t stream)
{
    const int rank = device->rank, side = device->sides[mode];
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(device->grams[mode], 0, (size_t)rank * rank * sizeof(double), stream));
    gram_kernel<<<ceiling_divide(side, SLICE), THREADS, 0, stream>>>(device->factors[mode], side, rank,
                                                                     device->grams[mode]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status take_next(struct ntf_device *device, int mode, cudaStream_t stream)
{
    float *const old = device->factors[mode];

    device->factors[mode] = device->next[mode];
    device->next[mode] = old;
    return make_gram(device, mode, stream);
}

static enum status update(struct ntf_device *device, int mode, const struct ntf_params *params, cudaStream_t stream)
{
    const int count = device->sides[mode] * device->rank;
    enum status status = STATUS_OK;

    update_kernel<<<ceiling_divide(count, THREADS), THREADS, 0, stream>>>(
        device->factors[mode], device->numerators[mode], device->grams[mode == 0], device->grams[mode == 2 ? 1 : 2],
        device->next[mode], count, device->rank, params->update, device->settled);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

struct passes {
    ntf_device_pass pass;
    void *state;
};

static enum status iterate(void *erased, struct ntf_device *device, const struct image *in, struct image errors,
                           int iteration, const struct ntf_params *params, cudaStream_t stream)
{
    const struct passes *passes = (const struct passes *)erased;
    const bool damped = params->update == NTF_DAMPED;
    enum status status = STATUS_OK;

    for (int mode = 0; mode < 3; mode++) {
        TRY(passes->pass(passes->state, device, in, mode, stream));
        TRY(update(device, mode, params, stream));
        if (!damped)
            TRY(take_next(device, mode, stream));
    }
    error_kernel<<<1, THREADS, 0, stream>>>(device->factors[2], device->numerators[2], device->sides[2] * device->rank,
                                            *params, device->grams[0], device->grams[1], device->grams[2], device->norm,
                                            errors, iteration, device->settled);
    CUDA_TRY(cudaGetLastError());
    for (int mode = 0; damped && mode < 3; mode++)
        TRY(take_next(device, mode, stream));
out:
    return status;
}

enum status ntf_device_solve(struct ntf_device *device, const struct image *in, struct image out[],
                             const struct ntf_params *params, ntf_device_pass pass, void *state, cudaStream_t stream)
{
    struct passes passes = {pass, state};

    return ntf_device_repeat(device, in, out, params, iterate, &passes, stream);
}

/* The new u in place of the old one, and its products with itself added to zeros. */
static enum status take_u(struct ntf_device *device, cudaStream_t stream)
{
    float *const old = device->factors[0];
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {
        ceiling_divide(device->sides[0], TALL), COLUMN, 0, stream, &early, early_attributes(&early)};
    enum status status = STATUS_OK;

    device->factors[0] = device->next[0];
    device->next[0] = old;
    CUDA_TRY(cudaLaunchKernelEx(&config, triangle_kernel, device->factors[0], device->sides[0], device->rank,
                                device->grams[0]));
out:
    return status;
}

enum status ntf_device_lead(struct ntf_device *device, bool updated, const struct ntf_params *params,
                            cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (!updated)
        TRY(update(device, 0, params, stream));
    if (params->update == NTF_DAMPED)
        return STATUS_OK;
    TRY(take_u(device, stream));
out:
    return status;
}

enum status ntf_device_follow(struct ntf_device *device, float *sums, struct image errors, int iteration,
                              const struct ntf_params *params, cudaStream_t stream)
{
    /* A warp for each row, and one for the weights. */
    const int threads = min(+MOST, 32 * max(device->sides[1], device->sides[2]) + 32);
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {dim3(device->rank), dim3(threads), 0, stream, &early, early_attributes(&early)};
    enum status status = STATUS_OK;

    for (int mode = 1; mode < 3; mode++)
        CUDA_TRY(cudaLaunchKernelEx(&config, side_kernel, *device, mode, params->update, sums));
    CUDA_TRY(cudaLaunchKernelEx(&config, finish_kernel, *device, *params, sums, errors, iteration));
    for (int mode = 1; mode < 3; mode++) {
        float *const old = device->factors[mode];
        device->factors[mode] = device->next[mode];
        device->next[mode] = old;
    }
    if (params->update == NTF_DAMPED)
        TRY(take_u(device, stream));
out:
    return status;
}

enum status ntf_device_repeat(struct ntf_device *device, const struct image *in, struct image out[],
                              const struct ntf_params *params, ntf_device_iteration iteration, void *state,
                              cudaStream_t stream)
{
    const size_t row_bytes = device->rank * sizeof(float);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(device->norm, 0, 2 * sizeof(double), stream));
    norm_kernel<<<min((unsigned)in->height, device_blocks(1024)), THREADS, 0, stream>>>(*in, device->norm);
    CUDA_TRY(cudaGetLastError());
    for (int mode = 0; mode < 3; mode++) {
        const int count = device->sides[mode] * device->rank;
        start_kernel<<<ceiling_divide(count, THREADS), THREADS, 0, stream>>>(*params, mode, device->factors[mode],
                                                                             count);
        CUDA_TRY(cudaGetLastError());
        TRY(make_gram(device, mode, stream));
    }
    if (params->update != NTF_DAMPED)
        CUDA_TRY(cudaMemsetAsync(device->grams[0], 0, sizeof(double) * device->rank * device->rank, stream));
    for (int i = 0; i < params->iterations; i++)
        TRY(iteration(state, device, in, out[NTF_ERRORS], i, params, stream));
    for (int mode = 0; mode < 3; mode++)
        CUDA_TRY(cudaMemcpy2DAsync(out[NTF_U + mode].data, out[NTF_U + mode].stride, device->factors[mode], row_bytes,
                                   row_bytes, device->sides[mode], cudaMemcpyDeviceToDevice, stream));
    if (out[NTF_APPROX].data) {
        const unsigned across =
            min(ceiling_divide(in->width * in->channels, THREADS), device_blocks(65535)); /* a grid's most */
        approx_kernel<<<dim3(in->height, across), THREADS, 0, stream>>>(
            device->factors[0], device->factors[1], device->factors[2], device->rank, out[NTF_APPROX]);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

void ntf_device_teardown(struct ntf_device *device)
{
    device_free(device->floats);
    device_free(device->sums);
    *device = {};
}
