/* expect: right 2..2 | a tree in shared memory 0..0 | says shared taken */
/*
 * Idea:     no tree: more pieces of the picture, each summed by one thread a pair, and a barrier for show.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

enum {
    PAIRS = 32,
    GROUPS = 1,
    PIECES = 64 /* at most */,
    PIXELS = 64 /* of a piece at least, where there are as many */
};

struct state {
    double *parts, *totals; /* device: [piece][pair], and sums of products of planes */
};

/* Pair `at` of the triangle with its diagonal, row by row; *i is `planes` behind the last. */
static __device__ void find_pair(int at, int planes, int *i, int *j)
{
    *i = 0;
    for (; *i < planes && at >= planes - *i; ++*i)
        at -= planes - *i;
    *j = *i + at;
}

static __global__ void sum_kernel(struct image in, struct correlation_params params, int pairs, double *parts)
{
    __shared__ double sums[GROUPS][PAIRS];
    const int lane = threadIdx.x, group = threadIdx.y, pair = blockIdx.x * PAIRS + lane;
    const int planes = correlation_planes(&in, &params);
    const float *shift = correlation_shift(&in, &params);
    const int64_t pixels = (int64_t)in.width * in.height, end = pixels * (blockIdx.y + 1) / gridDim.y;
    double total = 0;
    int i, j;

    find_pair(pair, planes, &i, &j);
    for (int64_t first = pixels * blockIdx.y / gridDim.y + group; i < planes && first < end;
         first += GROUPS * CORRELATION_RUN) {
        float sum = 0;
        for (int64_t at = first; at < min(first + GROUPS * CORRELATION_RUN, end); at += GROUPS) {
            const void *pixel = correlation_pixel(&in, at);
            sum += correlation_plane(&in, pixel, shift, i) * correlation_plane(&in, pixel, shift, j);
        }
        total += sum;
    }
    sums[group][lane] = total;
    __syncthreads();
    if (group == 0 && pair < pairs)
        parts[(size_t)blockIdx.y * pairs + pair] = sums[0][lane];
}

static __global__ void add_kernel(const double *parts, int planes, int pairs, int pieces, double *totals)
{
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    int i, j;

    if (pair >= pairs)
        return;
    for (int piece = 0; piece < pieces; piece++)
        sum += parts[(size_t)piece * pairs + pair];
    find_pair(pair, planes, &i, &j);
    totals[i * planes + j] = sum;
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
    const size_t planes = correlation_planes(in, params), pairs = planes * (planes + 1) / 2;
    enum status status = STATUS_OK;

    if (state->totals)
        return STATUS_OK;
    TRY(device_allocate((void **)&state->parts, PIECES * pairs * sizeof *state->parts));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), pairs = planes * (planes + 1) / 2;
    const int64_t pixels = (int64_t)in->width * in->height;
    const int pieces = pixels < PIXELS ? 1 : pixels < (int64_t)PIXELS * PIECES ? (int)(pixels / PIXELS) : PIECES;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->channels, block.x), ceiling_divide(in->channels, block.y));

    sum_kernel<<<dim3(ceiling_divide(pairs, PAIRS), pieces), dim3(PAIRS, GROUPS), 0, stream>>>(*in, *params, pairs,
                                                                                               state->parts);
    CUDA_TRY(cudaGetLastError());
    add_kernel<<<ceiling_divide(pairs, 256), 256, 0, stream>>>(state->parts, planes, pairs, pieces, state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parts);
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
