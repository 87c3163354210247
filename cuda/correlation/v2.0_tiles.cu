/*
 * Idea:     register tiles: a thread sums an 8x8 tile of the matrix, so that 16 samples, four loads of 16 bytes from
 *           shared memory, serve 64 multiply-adds. A block ends after so many pixels that f32 sums stay within the
 *           contract: one addition in f64 for each entry and block.
 * Changed:  from a product, and two loads, for each pair. All 8x8 tiles on the diagonal are summed whole, and what lies behind
 *           the last plane, too: sums that nobody takes. At the end the groups add up one row of all tiles at a time.
 * Expect:   31 bands: 640 multiply-adds for each pixel of 124 bytes, 25 us of arithmetic for a million on 132
 *           multiprocessors; loading, with a division for each sample and few loads in flight, takes 200 us.
 * Result:   411 us, 1.55 times v1.2 (results/h200/correlation/correlation_1024x1024.json): twice the 200 us.
 * From:     cuda/v1.2
 */
/* Try: make bench-correlation VERSIONS=cuda/v1.3,cuda/v2.0,cuda/v2.1,cuda/v2.2 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { SIDE = 8, THREADS = 256, LARGEST = 384 /* tiles of a block */, PANEL = 32768 /* bytes of shared memory */ };
enum { RUN_WHOLE = 256, RUN_REAL = 1024 /* products in an f32 sum: u8 stays exact, f32 within the contract */ };

static __global__ void __launch_bounds__(LARGEST)
    sum_kernel(struct image in, struct correlation_params params, double *totals, int pairs, int chunk, int repeats)
{
    extern __shared__ __align__(16) float panel[]; /* [pixel][plane] */
    const int width = blockDim.x, groups = width / pairs, group = threadIdx.x / pairs;
    const int planes = correlation_planes(&in, &params), sides = (planes + SIDE - 1) / SIDE, stride = sides * SIDE;
    const int64_t count = (int64_t)in.width * in.height, begin = (int64_t)blockIdx.x * repeats * chunk;
    const float *shift = correlation_shift(&in, &params);

    /* Pair k of the triangle: i sides' rows are full, the rest is the column. */
    int i = 0, j = blockIdx.y * pairs + threadIdx.x % pairs;
    for (; i < sides && j >= sides - i; i++)
        j -= sides - i;
    const bool real = i < sides;
    j += i;

    float tile[SIDE][SIDE] = {};
    for (int repeat = 0; repeat < repeats && begin + repeat * chunk < count; repeat++) {
        __syncthreads();
        for (int k = threadIdx.x; k < chunk * planes; k += width) {
            const int64_t at = begin + repeat * chunk + k / planes;
            panel[k / planes * stride + k % planes] =
                at < count ? correlation_plane(&in, correlation_pixel(&in, at), shift, k % planes) : 0;
        }
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
    const int all = sides * (sides + 1) / 2, pairs = all < LARGEST ? all : LARGEST;
    const int groups = pairs < THREADS ? THREADS / pairs : 1;
    const int run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE, blocks = 2 * state->multiprocessors;
    const int chunk = PANEL / (sides * SIDE * (int)sizeof(float)); /* at least 3 pixels, of 2049 planes */
    const int64_t chunks = ((int64_t)in->width * in->height + chunk - 1) / chunk;
    const int repeats = (int)min((chunks + blocks - 1) / blocks, (int64_t)(run / ceiling_divide(chunk, groups)));
    const size_t shared = max(chunk, ceiling_divide(groups * pairs, sides)) * sides * SIDE * sizeof(float);
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<dim3((chunks + repeats - 1) / repeats, ceiling_divide(all, pairs)), groups * pairs, shared, stream>>>(
        *in, *params, state->totals, pairs, chunk, repeats);
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
