/*
 * Problem:  One block of 128 threads per multiprocessor in cuda/v1.2 waits at its barriers.
 * Idea:     Threads (P times the band pairs), pixels (C) and blocks per multiprocessor are tunable:
 *           one block multiplies bands while another waits at a barrier (latency hiding,
 *           occupancy).
 * Expect:   2 to 4 times as fast; more pixels per block leave no shared memory for a second block.
 * Result:   1.5 times as fast as cuda/v1.2, kernel
 *           (results/h100/correlation/correlation_1024x1024.json).
 * Run:      make tune-correlation V=cuda/v1.3 SVG=heat.svg
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

static int threads = 256, pixels = 32, blocks = 4;
static const int threads_legal[] = {64, 128, 256, 512, 0}, pixels_legal[] = {4, 8, 16, 32, 64, 0},
                 blocks_legal[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"threads", &threads, threads_legal, "threads of a block that the groups fill"},
                                    {"pixels", &pixels, pixels_legal, "pixels of a group at a time"},
                                    {"blocks", &blocks, blocks_legal, "blocks for a multiprocessor"},
                                    {}};

enum { LARGEST = 512 /* pairs of a block */, PANEL = 40960 /* bytes of shared memory */ };

static __global__ void sum_kernel(struct image in, struct correlation_params params, double *totals, int pairs,
                                  int each, int repeats)
{
    extern __shared__ double sums[]; /* one for each thread; behind them the panel, [pixel][plane] */
    const int width = blockDim.x, groups = width / pairs, group = threadIdx.x / pairs;
    const int planes = correlation_planes(&in, &params), chunk = groups * each, stride = planes | 1;
    const int64_t count = (int64_t)in.width * in.height, begin = (int64_t)blockIdx.x * repeats * chunk;
    const float *shift = correlation_shift(&in, &params);
    float *panel = (float *)(sums + width);

    /* Pair k of the triangle: i planes' rows are full, the rest is the column. */
    int i = 0, j = blockIdx.y * pairs + threadIdx.x % pairs;
    for (; i < planes && j >= planes - i; i++)
        j -= planes - i;
    const bool real = i < planes;
    j += i;

    double total = 0;
    for (int repeat = 0; repeat < repeats && begin + repeat * chunk < count; repeat++) {
        __syncthreads();
        for (int k = threadIdx.x; k < chunk * planes; k += width) {
            const int64_t at = begin + repeat * chunk + k / planes;
            panel[k / planes * stride + k % planes] =
                at < count ? correlation_plane(&in, correlation_pixel(&in, at), shift, k % planes) : 0;
        }
        __syncthreads();
        float sum = 0;
        for (int c = group * each; real && c < (group + 1) * each; c++)
            sum += panel[c * stride + i] * panel[c * stride + j];
        total += sum;
    }

    sums[threadIdx.x] = total;
    for (int left = groups; left > 1; left = (left + 1) / 2) {
        __syncthreads();
        if (group < left / 2)
            sums[threadIdx.x] += sums[threadIdx.x + (left + 1) / 2 * pairs];
    }
    if (group == 0 && real)
        atomicAdd(&totals[i * planes + j], sums[threadIdx.x]);
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
    const int planes = correlation_planes(in, params), all = planes * (planes + 1) / 2;
    const int pairs = all < LARGEST ? all : LARGEST, groups = ceiling_divide(threads, pairs);
    const int room = PANEL / (groups * (planes | 1) * (int)sizeof(float)), each = room < pixels ? room : pixels; /* C */
    const int64_t chunks = ((int64_t)in->width * in->height + groups * each - 1) / (groups * each);
    const int repeats = (int)((chunks + blocks * state->multiprocessors - 1) / (blocks * state->multiprocessors));
    const size_t shared = groups * (pairs * sizeof(double) + each * (planes | 1) * sizeof(float));
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<dim3((chunks + repeats - 1) / repeats, ceiling_divide(all, pairs)), groups * pairs, shared, stream>>>(
        *in, *params, state->totals, pairs, each, repeats);
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

RUNGS_CUDA_VERSION(correlation, .tunables = tunables)
