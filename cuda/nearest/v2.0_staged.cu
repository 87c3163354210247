/*
 * Problem:  In cuda/v1.3 a call takes 4.0 ms, its kernel 14 us: one thread of the driver copies 24
 *           MB of histograms to page-locked memory, 6 GB/s, and the bus waits for it.
 * Idea:     Staged copies: all threads of the host copy bands of rows to page-locked memory of our
 *           own, a band while the bus carries the one before.
 * Expect:   8 times as fast end to end, 0.5 ms: 24 MB take the bus 0.45 ms at 55 GB/s, and the
 *           first band is copied before that, 0.03 ms.
 * Result:   2.7 times, 1.13 ms (results/h200/nearest/nearest_252x189_staged.json).
 * Run:      make diff-nearest A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

enum {
    GROUP = 16 /* centroids at a time */,
    STRIDE = LBP_BINS + 64 /* bytes from a centroid to the next: no bank conflicts */
};

struct state {
};

static int threads = 256;
static const int some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"threads", &threads, some_threads, "threads of a block"}, {}};

/* GROUP centroids as bytes. A component C is below 2^15: C = lower + 256 upper. */
struct planes {
    uint4 bytes[2][GROUP][STRIDE / 16]; /* lower, upper */
    int norms[GROUP];                   /* |C|^2 */
};

/* A lane's quarter of a histogram: word[at] holds bins 64 at + 16 member + 0 ... 15, a byte each. A count of 256 does
 * not fit, its byte is 0; then all other bins are empty, and `full` is its number. Else `full` is -1. */
struct bins {
    uint4 word[LBP_BINS / 64];
    int full;
};

/* The whole block converts the centroids from `first` on, 16 threads each. Readers wait for the block before and
 * after. */
static __device__ void load_planes(const struct image &centroids, int first, struct planes *planes)
{
    const int lane = threadIdx.x % 16;

    for (int j = threadIdx.x / 16; j < GROUP; j += blockDim.x / 16) {
        const int cluster = min(first + j, centroids.height - 1);
        const float4 *from = (const float4 *)nearest_centroid(&centroids, cluster);
        int norm = 0;
        for (int at = lane; at < LBP_BINS / 4; at += 16) {
            const float4 c = from[at];
            const int fixed[4] = {nearest_fixed(c.x), nearest_fixed(c.y), nearest_fixed(c.z), nearest_fixed(c.w)};
            unsigned lower = 0, upper = 0;
            for (int b = 0; b < 4; b++) {
                lower |= (unsigned)(fixed[b] & 255) << 8 * b;
                upper |= (unsigned)(fixed[b] >> 8) << 8 * b;
                norm += fixed[b] * fixed[b];
            }
            ((unsigned *)planes->bytes[0][j])[at] = lower;
            ((unsigned *)planes->bytes[1][j])[at] = upper;
        }
        for (int step = 8; step > 0; step /= 2)
            norm += __shfl_xor_sync(0xffffffff, norm, step);
        if (lane == 0)
            planes->norms[j] = norm;
    }
}

/* Two words of two 16-bit counts to one word of four bytes. */
static __device__ unsigned pack(unsigned low, unsigned high)
{
    return __byte_perm(low, high, 0x6420);
}

/* Four lanes of a warp, `member` 0 to 3, load one histogram. */
static __device__ struct bins load_bins(const uint16_t *counts, int member)
{
    struct bins bins;

    bins.full = -1;
    for (int at = 0; at < LBP_BINS / 64; at++) {
        const uint4 *from = (const uint4 *)(counts + 64 * at + 16 * member), low = from[0], high = from[1];
        bins.word[at] = {pack(low.x, low.y), pack(low.z, low.w), pack(high.x, high.y), pack(high.z, high.w)};
        if ((low.x | low.y | low.z | low.w | high.x | high.y | high.z | high.w) & 0x01000100)
            for (int i = 0; i < 16; i++)
                if (counts[64 * at + 16 * member + i] == 256)
                    bins.full = 64 * at + 16 * member + i;
    }
    bins.full = max(bins.full, __shfl_xor_sync(0xffffffff, bins.full, 1));
    bins.full = max(bins.full, __shfl_xor_sync(0xffffffff, bins.full, 2));
    return bins;
}

/* Adds the products of 64 bins: centroids `group` and `group` + 8 of a plane by 8 histograms (layout: mma.cuh). */
static __device__ void multiply(int sums[4], const uint4 plane[][STRIDE / 16], int group, int word, const uint4 &bins)
{
    const uint4 c0 = plane[group][word], c8 = plane[group + 8][word];
    const unsigned left[2][4] = {{c0.x, c8.x, c0.y, c8.y}, {c0.z, c8.z, c0.w, c8.w}};
    const unsigned right[2][2] = {{bins.x, bins.y}, {bins.z, bins.w}};

    for (int half = 0; half < 2; half++)
        mma_m16n8k32_u8(sums, left[half], right[half], sums);
}

/* A warp has 8 patches of a row; beyond the row's end the last patch again. */
static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ struct planes planes;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8;
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4; /* as in mma.cuh */
    const struct bins bins = load_bins(lbp_bins(&histograms, blockIdx.y, min(first + group, out.width - 1)), member);
    int smallest[2] = {INT32_MAX, INT32_MAX}, labels[2] = {}; /* of patches first + 2 member + 0, 1 */

    for (int cluster = 0; cluster < centroids.height; cluster += GROUP) {
        int lower[4] = {}, upper[4] = {};
        load_planes(centroids, cluster, &planes);
        __syncthreads();
#pragma unroll
        for (int at = 0; at < LBP_BINS / 64; at++) {
            multiply(lower, planes.bytes[0], group, 4 * at + member, bins.word[at]);
            multiply(upper, planes.bytes[1], group, 4 * at + member, bins.word[at]);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int j = group + 8 * (r / 2), full = __shfl_sync(0xffffffff, bins.full, 4 * (2 * member + r % 2));
            const uint8_t *low = (const uint8_t *)planes.bytes[0][j], *high = (const uint8_t *)planes.bytes[1][j];
            const int apart = full < 0 ? 0 : 256 * (low[full] + 256 * high[full]);
            const int score = planes.norms[j] - 2 * NEAREST_SCALE * (lower[r] + 256 * upper[r] + apart);
            if (cluster + j < centroids.height && score < smallest[r % 2]) {
                smallest[r % 2] = score;
                labels[r % 2] = cluster + j;
            }
        }
        __syncthreads();
    }
    for (int step = 4; step < 32; step *= 2) /* a reduction over the groups */
        for (int p = 0; p < 2; p++) {
            const int score = __shfl_xor_sync(0xffffffff, smallest[p], step);
            const int label = __shfl_xor_sync(0xffffffff, labels[p], step);
            if (score < smallest[p] || (score == smallest[p] && label < labels[p])) {
                smallest[p] = score;
                labels[p] = label;
            }
        }
    const int column = first + 2 * member + group, label = group == 0 ? labels[0] : labels[1];
    if (group < 2 && column < out.width)
        ((uint8_t *)image_row(&out, blockIdx.y))[column] = (uint8_t)label;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(out->width, threads / 32 * 8), out->height);
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<grid, threads, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(nearest, .unavailable = unavailable, .tunables = tunables, .staged = true)
