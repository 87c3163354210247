/*
 * Problem:  cuda/v1.3 loads two samples from shared memory for each product of two bands.
 * Idea:     Register tile: a thread has 8x8 sums of the correlation matrix, so 16 loads serve 64
 *           products. Meanwhile it prefetches its 9 samples of the next pixels to registers.
 * Expect:   60 us, half of it to bring samples in: fewer loads per product, no wait for memory.
 * Result:   1.4 times as fast as cuda/v1.3, kernel, 298 us
 *           (results/h100/correlation/correlation_1024x1024.json); 128 registers per thread
 *           leave an occupancy of 25 %.
 * Run:      make diff-correlation A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { SIDE = 8, THREADS = 256, LARGEST = 256 /* tiles of a block */, PANEL = 32768 /* bytes of shared memory */ };
enum { LOADS = 9 /* samples of a thread in a panel */ };
enum { RUN_WHOLE = 256, RUN_REAL = 1024 /* products in an f32 sum: u8 stays exact, f32 within the contract */ };

/* Sample l of this thread in a panel: its pixel and its plane. */
static __device__ int place(int l, int planes, float inverse, int *plane)
{
    const int k = threadIdx.x + l * blockDim.x, pixel = (int)((k + 0.5f) * inverse);

    *plane = k - pixel * planes;
    return pixel;
}

/* This thread's samples of the panel that begins at pixel `first`, and 0 behind the last pixel. */
static __device__ void fetch(const struct image &in, int64_t first, int chunk, int planes, const float *shift,
                             float ahead[LOADS])
{
    const int64_t left = (int64_t)in.width * in.height - first;
    const unsigned size = in.channels * (in.type == PIXEL_U8 ? 1 : in.type == PIXEL_U16 ? 2 : 4);
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
        int plane, pixel = place(l, planes, 1.0f / planes, &plane);
        const unsigned at = (unsigned)first + pixel, y = in.height > 1 ? at / (unsigned)in.width : 0;
        const char *samples = (const char *)image_row(&in, y) + (size_t)(at - y * in.width) * size;
        ahead[l] = pixel < min((int64_t)chunk, left) ? correlation_plane(&in, samples, shift, plane) : 0;
    }
}

static __global__ void __launch_bounds__(LARGEST, 2)
    sum_kernel(struct image in, struct correlation_params params, const float *shift, double *totals, int pairs,
               int chunk, int repeats)
{
    extern __shared__ __align__(16) float panel[]; /* [pixel][plane] */
    const int width = blockDim.x, groups = width / pairs, group = threadIdx.x / pairs;
    const int planes = correlation_planes(&in, &params), sides = (planes + SIDE - 1) / SIDE, stride = sides * SIDE;
    const int64_t count = (int64_t)in.width * in.height, begin = (int64_t)blockIdx.x * repeats * chunk;
    float ahead[LOADS];

    /* Pair k of the triangle: i sides' rows are full, the rest is the column. */
    int i = 0, j = blockIdx.y * pairs + threadIdx.x % pairs;
    for (; i < sides && j >= sides - i; i++)
        j -= sides - i;
    const bool real = i < sides;
    j += i;

    float tile[SIDE][SIDE] = {};
    fetch(in, begin, chunk, planes, shift, ahead);
    for (int repeat = 0; repeat < repeats && begin + repeat * chunk < count; repeat++) {
        __syncthreads();
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            int plane, pixel = place(l, planes, 1.0f / planes, &plane);
            if (pixel < chunk)
                panel[pixel * stride + plane] = ahead[l];
        }
        if (repeat + 1 < repeats)
            fetch(in, begin + (repeat + 1) * chunk, chunk, planes, shift, ahead);
        __syncthreads();
        for (int pixel = group; real && pixel < chunk; pixel += groups) {
            const float *above = panel + pixel * stride + i * SIDE, *beside = panel + pixel * stride + j * SIDE;
            float u[SIDE], v[SIDE];
#pragma unroll
            for (int k = 0; k < SIDE; k += 4) {
                *(float4 *)&u[k] = *(const float4 *)&above[k];
                *(float4 *)&v[k] = *(const float4 *)&beside[k];
            }
#pragma unroll
            for (int k = 0; k < SIDE * SIDE; k++)
                tile[k / SIDE][k % SIDE] += u[k / SIDE] * v[k % SIDE];
        }
    }

#pragma unroll
    for (int row = 0; row < SIDE; row++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            panel[k * width + threadIdx.x] = tile[row][k];
        __syncthreads();
        for (int k = group; real && k < SIDE; k += groups) {
            const int u = i * SIDE + row, v = j * SIDE + k;
            double sum = 0;
            for (int other = threadIdx.x % pairs; other < width; other += pairs)
                sum += panel[k * width + other];
            if (u < planes && v < planes)
                atomicAdd(&totals[u * planes + v], sum);
        }
    }
}

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params);
    enum status status = STATUS_OK;
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), sides = ceiling_divide(planes, SIDE);
    const int all = sides * (sides + 1) / 2, pairs = ceiling_divide(all, ceiling_divide(all, LARGEST));
    const int groups = pairs < THREADS ? THREADS / pairs : 1;
    const int run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE, blocks = 2 * state->multiprocessors;
    const int room = PANEL / (sides * SIDE * (int)sizeof(float)); /* at least 3 pixels, of 2049 planes */
    const int chunk = min(room, LOADS * groups * pairs / planes);
    const int64_t chunks = ((int64_t)in->width * in->height + chunk - 1) / chunk;
    const int repeats = (int)min((chunks + blocks - 1) / blocks, (int64_t)(run / ceiling_divide(chunk, groups)));
    const size_t shared = max(chunk, ceiling_divide(groups * pairs, sides)) * sides * SIDE * sizeof(float);
    const bool one_row = in->stride == image_row_bytes(in);
    const struct image flat = {one_row ? in->width * in->height : in->width,
                               one_row ? 1 : in->height,
                               in->channels,
                               in->type,
                               in->stride,
                               in->data};
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<dim3((chunks + repeats - 1) / repeats, ceiling_divide(all, pairs)), groups * pairs, shared, stream>>>(
        flat, *params, correlation_shift(in, params), state->totals, pairs, chunk, repeats);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
