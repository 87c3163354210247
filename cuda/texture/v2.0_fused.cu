/*
 * Problem:  cuda/v1.3 moves 110 MB; 73 MB are gray and histograms, written and read again.
 * Idea:     Kernel fusion: a warp takes its patches from pixels to labels, so gray and histograms
 *           do not go to memory. A lane's counters lie in a bank of their own (no bank conflict),
 *           and shuffles make them operands of tensor cores. A queue of streams overlaps pictures.
 * Expect:   2 times as fast as cuda/v1.3: 36.6 MB instead of 110 MB move.
 * Result:   1.8 times as fast as cuda/v1.3, 30 us, the kernel
 *           (results/h100/texture/texture_4032x3024_climb.json).
 * Run:      make diff-texture A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/cuda/mma.cuh"
#include "common/cuda/streams_queue.h"
#include "cuda/texture/shared/gray_lines.cuh"
#include "cuda/texture/shared/operands.h"

enum {
    MOST_WARPS = 23 /* of a block: with 64 centroids they fill the shared memory of a multiprocessor, 227 KB */,
    PASS = 4 /* groups in shared memory at a time, 32 KB */,
    ROUND = 16 /* patches that a warp multiplies at a time */,
    LANE_WORDS = LBP_BINS / 4 /* counters of a lane, a byte each; word w of lane l is word 32 w + l of its warp */,
    WARP_PIECES = 32 * LANE_WORDS / 4 /* of 16 bytes: counters of a warp, 8 KB */
};

static int warps = MOST_WARPS;
static const int some_warps[] = {4, 8, 12, 16, 20, MOST_WARPS, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block at most, each with 16 patches"},
                                    {}};

struct state {
    struct texture_operands operands;
};

/*
 * Counts two codes of lbp_pair_codes() in counters of the lane's own, all of them in one bank of shared memory: no bank
 * conflicts.
 *
 *     word 0    lane 0  lane 1  ...  lane 31        a word is four counters: codes 4 w to 4 w + 3
 *     word 1    lane 0  lane 1  ...  lane 31
 *
 * `own` is the distance of the lane's word 0 in bytes; it shares no bit with the distance of a code's word, so a
 * bitwise or adds them. A shift takes 5 bits of its distance: code % 4 times 8, below which the upper code has the bits
 * of lbp_power(10), always the same. An atomic addition whose result is not used does not wait.
 */
static __device__ void count_pair(uint4 *counters, unsigned own, unsigned codes)
{
    uint8_t *bytes = (uint8_t *)counters;
    const uint64_t below = (1ull << 32) >> (lbp_power(10) >> 13 & 7);

    atomicAdd((unsigned *)(bytes + ((codes << 5 & 0x1f80) | own)), __funnelshift_l(0, 1, codes << 3));
    atomicAdd((unsigned *)(bytes + ((codes >> 11 & 0x1f80) | own)),
              __funnelshift_l((unsigned)below, (unsigned)(below >> 32), codes >> 13));
}

/* Counts a lane's lines of a patch; at most 128 pixels. */
template <int PATCH, int CHANNELS>
static __device__ void count(const struct image &in, int x, int y, int share, uint4 *counters, unsigned own)
{
    constexpr int LINES = lbp_lines_of(PATCH);
    lbp_line<PATCH> lines[3];

    texture_load_line<PATCH, CHANNELS>(in, x, y - 1, share > 0, lines[0]);
    texture_load_line<PATCH, CHANNELS>(in, x, y, true, lines[1]);
#pragma unroll
    for (int i = 1; i <= LINES; i++) {
        texture_load_line<PATCH, CHANNELS>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
        for (int p = 0; p < PATCH / 2; p++)
            count_pair(counters, own, lbp_pair_codes<PATCH>(lines[0], lines[1], lines[2], p));
        lines[0] = lines[1];
        lines[1] = lines[2];
    }
}

/* C of the last bin, from the fragments of its group: where mma_element_a() has put it. */
static __device__ int last_component(const uint4 *group, int j)
{
    const uint4 *lower = group + (TEXTURE_STEPS - 1) * 32 + 4 * (j % 8) + 3, *upper = lower + TEXTURE_STEPS * 32;

    return (int)(j < 8 ? lower->z >> 24 | upper->z >> 24 << 8 : lower->w >> 24 | upper->w >> 24 << 8);
}

/* The histograms of 16 patches as two operands B of 8 patches each, from the lanes' counters. A lane adds up the
 * counters of the two lanes of its patch (TWO); then shuffles transpose four words at a time, until lane 4 g + m has
 * word 4 u + m of patch g in b[0][u] and of patch 8 + g in b[1][u]. */
template <bool TWO> static __device__ void gather(const unsigned *counters, int first, unsigned b[2][2 * TEXTURE_STEPS])
{
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, turn = lane / 8;

#pragma unroll
    for (int v = 0; v < TEXTURE_STEPS; v++) {
        unsigned words[4], turned[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *row = counters + 32 * (4 * (2 * v + lane / 16) + (i + turn) % 4);
            words[i] = TWO ? row[lane] + row[lane ^ 16] : row[first + lane % 16];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) /* from lane 8 t + group, t = (member - i) % 4 */
            turned[(4 - i) % 4] = __shfl_sync(0xffffffff, words[i], 8 * ((member - i) & 3) + group);
#pragma unroll
        for (int t = 0; t < 4; t++)
            words[t] = member % 2 ? turned[(t + 3) % 4] : turned[t];
#pragma unroll
        for (int t = 0; t < 4; t++)
            b[t % 2][2 * v + t / 2] = member < 2 ? words[t] : words[(t + 2) % 4];
    }
}

/* A bit for each of 16 patches of 256 pixels of 0, whose code is 255. Only they have a bin of 256 (a corner that is not
 * 0 has a code that no other corner can have), which overflows a byte: the last of its word, so that no other counter
 * changes. */
static __device__ unsigned find_zeros(const unsigned *counters)
{
    const unsigned halves = __ballot_sync(0xffffffff, counters[32 * (LANE_WORDS - 1) + threadIdx.x] == 128u << 24);

    return halves & halves >> 16;
}

/* Of a group's centroids and those before: the smallest score for patches 2 member and 2 member + 1 of both eights. */
static __device__ void multiply(const uint4 *group, const int *norms, int first, const unsigned b[2][2 * TEXTURE_STEPS],
                                unsigned zeros, int smallest[2][2], int labels[2][2])
{
    int sums[2][2][4] = {};

#pragma unroll
    for (int plane = 0; plane < 2; plane++)
#pragma unroll
        for (int s = 0; s < TEXTURE_STEPS; s++) {
            const uint4 piece = group[(plane * TEXTURE_STEPS + s) * 32 + threadIdx.x];
            const unsigned a[4] = {piece.x, piece.y, piece.z, piece.w};
            mma_m16n8k32_u8(sums[plane][0], a, &b[0][2 * s], sums[plane][0]);
            mma_m16n8k32_u8(sums[plane][1], a, &b[1][2 * s], sums[plane][1]);
        }
#pragma unroll
    for (int at = 0; at < 8; at++) {
        const int eight = at / 4, r = at % 4, j = threadIdx.x / 4 + 8 * (r / 2);
        int product = sums[0][eight][r] + 256 * sums[1][eight][r];
        if (zeros >> (8 * eight + 2 * (threadIdx.x % 4) + r % 2) & 1)
            product += 256 * last_component(group, j);
        const int score = norms[first + j] - 2 * NEAREST_SCALE * product;
        if (score < smallest[eight][r % 2]) {
            smallest[eight][r % 2] = score;
            labels[eight][r % 2] = first + j;
        }
    }
}

/* Warp threadIdx.y has patches side by side; after the last of a row those of the next row. */
template <int PATCH, int CHANNELS>
static __global__ void __launch_bounds__(32 * MOST_WARPS)
    fused_kernel(struct texture_operands operands, struct image in, struct image out)
{
    constexpr int PATCHES = lbp_patches_of(PATCH);
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x, thread = threadIdx.y * 32 + lane, threads = blockDim.y * 32;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, all = out.width * out.height;
    const int own = first + lane % PATCHES, share = lane / PATCHES;
    uint4 *counters = shared + threadIdx.y * WARP_PIECES, *pieces = shared + blockDim.y * WARP_PIECES;

    const int x = own % out.width * PATCH, y = own / out.width * PATCH + share * lbp_lines_of(PATCH);

    for (int i = thread; i < min(operands.groups, PASS) * TEXTURE_PIECES; i += threads)
        pieces[i] = operands.fragments[i];
    for (int i = lane; i < WARP_PIECES; i += 32)
        counters[i] = {};
    __syncthreads();
    if (own < all)
        count<PATCH, CHANNELS>(in, x, y, share, shared, threadIdx.y * WARP_PIECES * 16 + lane * 4);
    __syncwarp();
    for (int round = 0; round < PATCHES; round += ROUND) {
        unsigned b[2][2 * TEXTURE_STEPS];
        int smallest[2][2] = {{INT32_MAX, INT32_MAX}, {INT32_MAX, INT32_MAX}}, labels[2][2] = {};
        const unsigned zeros = PATCHES == ROUND ? find_zeros((const unsigned *)counters) : 0;
        gather<PATCHES == ROUND>((const unsigned *)counters, round, b);
        for (int from = 0; from < operands.groups; from += PASS) {
            const int groups = min(operands.groups - from, PASS);
            if (from + round > 0 && operands.groups > PASS) {
                __syncthreads();
                for (int i = thread; i < groups * TEXTURE_PIECES; i += threads)
                    pieces[i] = operands.fragments[from * TEXTURE_PIECES + i];
                __syncthreads();
            }
            for (int group = 0; group < groups; group++)
                multiply(pieces + group * TEXTURE_PIECES, operands.norms, (from + group) * TEXTURE_GROUP, b, zeros,
                         smallest, labels);
        }
#pragma unroll
        for (int at = 0; at < 12; at++) { /* a reduction over lanes with other centroids of the same patches */
            int &least = smallest[at / 2 % 2][at % 2], &label = labels[at / 2 % 2][at % 2];
            const int score = __shfl_xor_sync(0xffffffff, least, 4 << at / 4);
            const int other = __shfl_xor_sync(0xffffffff, label, 4 << at / 4);
            if (score < least || (score == least && other < label)) {
                least = score;
                label = other;
            }
        }
        const int at = lane / 4, patch = first + round + 8 * (at / 2) + 2 * (lane % 4) + at % 2;
        const int label = at == 0 ? labels[0][0] : at == 1 ? labels[0][1] : at == 2 ? labels[1][0] : labels[1][1];
        if (at < 4 && patch < all)
            ((uint8_t *)image_row(&out, patch / out.width))[patch % out.width] = (uint8_t)label;
    }
}

static enum status setup(struct state *state, const struct image[], const struct texture_params *params)
{
    return texture_operands_create(&state->operands, &params->centroids);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct texture_params *params, cudaStream_t stream)
{
    const struct texture_operands *operands = &state->operands;
    const int patch = 8 << params->patch_index,
              tasks = (int)ceiling_divide(out->width * out->height, patch == 8 ? 32 : 16);
    const int pieces = min(operands->groups, PASS) * TEXTURE_PIECES;
    const auto gray_kernel = patch == 8 ? fused_kernel<8, 1> : fused_kernel<16, 1>;
    const auto colour_kernel = patch == 8 ? fused_kernel<8, 3> : fused_kernel<16, 3>;
    const auto kernel = in->channels == 1 ? gray_kernel : colour_kernel;
    enum status status = STATUS_OK;
    int device, multiprocessors, most, used, shared;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    used = min(min(warps, (most / 16 - pieces) / WARP_PIECES), (int)ceiling_divide(tasks, multiprocessors));
    shared = 16 * (pieces + used * WARP_PIECES);
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    kernel<<<ceiling_divide(tasks, used), dim3(32, used), shared, stream>>>(*operands, *in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_operands_free(&state->operands);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(texture, .unavailable = unavailable, .tunables = tunables, .staged = true, .queue = &streams_queue)
