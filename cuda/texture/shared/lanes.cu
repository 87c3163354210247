#include "cuda/texture/shared/lanes.h"

#include <stdlib.h>

#include "common/algo/grayscale.h"
#include "common/cuda/mma.cuh"
#include "cuda/lbp/shared/halves.cuh"
#include "cuda/texture/shared/lanes.cuh"
#include "cuda/lbp/shared/lines.cuh"

enum {
    GROUP = 16 /* centroids */,
    STEPS = LBP_BINS / 32 /* of a product of tensor cores */,
    PIECES = 2 * STEPS * 32 /* 16 bytes each, of a group */,
    PASS = 4 /* groups in shared memory at a time, 32 KB */,
    ROUND = 16 /* patches that a warp multiplies at a time */
};

/* ------------------------------------------------------------------------------------------- the centroids */

enum status texture_operands_create(struct texture_operands *operands, const struct model *model)
{
    const struct image centroids = texture_centroids(model);
    const int groups = (int)ceiling_divide(centroids.height, GROUP);
    const size_t pieces_bytes = (size_t)groups * PIECES * 16, norms_bytes = (size_t)groups * GROUP * sizeof(int);
    uint8_t(*pieces)[32][16] = (uint8_t(*)[32][16])calloc(1, pieces_bytes);
    int *norms = (int *)malloc(norms_bytes);
    enum status status = STATUS_OK;

    if (operands->norms)
        goto out;
    if (!pieces || !norms) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d centroids", centroids.height);
        goto out;
    }
    for (int j = 0; j < groups * GROUP; j++) {
        norms[j] = j < centroids.height ? 0 : INT32_MAX;
        for (int bin = 0; bin < LBP_BINS && j < centroids.height; bin++) {
            const int c = nearest_fixed(nearest_centroid(&centroids, j)[bin]);
            for (int plane = 0; plane < 2; plane++)
                *mma_element_a(pieces[(j / GROUP * 2 + plane) * STEPS + bin / 32], j % GROUP, bin % 32) =
                    (uint8_t)(c >> 8 * plane);
            norms[j] += c * c;
        }
    }
    operands->groups = groups;
    TRY(device_allocate((void **)&operands->fragments, pieces_bytes));
    TRY(device_upload_bytes(operands->fragments, pieces, pieces_bytes));
    TRY(device_allocate((void **)&operands->norms, norms_bytes));
    TRY(device_upload_bytes(operands->norms, norms, norms_bytes));
out:
    free(pieces);
    free(norms);
    return status;
}

void texture_operands_free(struct texture_operands *operands)
{
    device_free(operands->fragments);
    device_free(operands->norms);
    *operands = {};
}

/* C of the last bin, from the fragments of its group: where mma_element_a() has put it. */
static __device__ int last_component(const uint4 *group, int j)
{
    const uint4 *lower = group + (STEPS - 1) * 32 + 4 * (j % 8) + 3, *upper = lower + STEPS * 32;

    return (int)(j < 8 ? lower->z >> 24 | upper->z >> 24 << 8 : lower->w >> 24 | upper->w >> 24 << 8);
}

/* ----------------------------------------------------------------------------------------------- the codes */

/* Four gray pixels of the twelve bytes of three words: weights twice as large as grayscale.h's, so that a pixel is byte 2 of its sum. */
static __device__ unsigned gray_of(unsigned a, unsigned b, unsigned c)
{
    const unsigned red = 2 * GRAYSCALE_RED, green = 2 * GRAYSCALE_GREEN, blue = 2 * GRAYSCALE_BLUE, half = 1u << 15;
    const unsigned first = __dp2a_hi(blue, a, __dp2a_lo(red | green << 16, a, half));
    const unsigned second = __dp2a_lo(green | blue << 16, b, __dp2a_hi(red << 16, a, half));
    const unsigned third = __dp2a_lo(blue, c, __dp2a_hi(red | green << 16, b, half));
    const unsigned fourth = __dp2a_hi(green | blue << 16, c, __dp2a_lo(red << 16, c, half));

    return __byte_perm(__byte_perm(first, second, 0x0062), __byte_perm(third, fourth, 0x0062), 0x5410);
}

/* Line y of a patch, of a gray picture or one in colour. */
template <int PATCH, int CHANNELS>
static __device__ void load(const struct image &in, int x, int y, bool inside, lbp_line<PATCH> &line)
{
    unsigned words[PATCH / 4 + 2] = {};

    if constexpr (CHANNELS == 1) {
        lbp_load_line<PATCH>(in, x, y, inside, words);
    } else {
        constexpr int COUNT = PATCH / 4; /* words of a load */
        const lbp_loaded<PATCH> *from = (const lbp_loaded<PATCH> *)((const uint8_t *)image_row(&in, y) + 3 * x);
        unsigned rgb[3 * COUNT];
        for (int i = 0; i < 3; i++) {
            lbp_loaded<PATCH> loaded = {};
            if (inside && y < in.height && 3 * x + 4 * COUNT * i < (int)in.stride)
                loaded = from[i];
            for (int w = 0; w < COUNT; w++)
                rgb[COUNT * i + w] = loaded.words[w];
        }
        for (int w = 0; w < COUNT; w++) {
            const int left = in.width - x - 4 * w; /* pixels */
            const unsigned gray = gray_of(rgb[3 * w], rgb[3 * w + 1], rgb[3 * w + 2]);
            words[w + 1] = gray & (left >= 4 ? ~0u : left > 0 ? (1u << 8 * left) - 1 : 0);
        }
    }
    lbp_make_line<PATCH>(words, line);
}

/* Asks memory for a lane's lines of a patch, and waits for nothing. */
template <int PATCH, int CHANNELS> static __device__ void ask(const struct image &in, int x, int y, int share)
{
#if !defined(RUNGS_EMULATED)
    const int bytes = CHANNELS * PATCH;

    for (int i = share > 0 ? -1 : 0; i <= lbp_lines_of(PATCH) && share * lbp_lines_of(PATCH) + i < PATCH; i++)
        for (int at = 0; at < bytes; at += 32) /* a sector of the second-level cache */
            if (y + i < in.height && CHANNELS * x + at < (int)in.stride)
                asm volatile(
                    "prefetch.global.L2 [%0];" ::"l"((const uint8_t *)image_row(&in, y + i) + CHANNELS * x + at));
#else
    (void)in, (void)x, (void)y, (void)share;
#endif
}

/* Counts a lane's lines of a patch. */
template <int PATCH, int CHANNELS>
static __device__ void count(const struct image &in, int x, int y, int share, uint4 *counters, unsigned own)
{
    constexpr int LINES = lbp_lines_of(PATCH);
    lbp_line<PATCH> lines[3];

    load<PATCH, CHANNELS>(in, x, y - 1, share > 0, lines[0]);
    load<PATCH, CHANNELS>(in, x, y, true, lines[1]);
#pragma unroll
    for (int i = 1; i <= LINES; i++) {
        load<PATCH, CHANNELS>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
        for (int p = 0; p < PATCH / 2; p++)
            lbp_count_pair(counters, own, lbp_pair_codes<PATCH>(lines[0], lines[1], lines[2], p));
        lines[0] = lines[1];
        lines[1] = lines[2];
    }
}

/* ---------------------------------------------------------------------------------------------- the labels */

/* The histograms of 16 patches as operands B, 8 to each, from the lanes' counters. A lane adds up two lanes' of every other four words
 * of its patch, where there are two; then each four words of 32 lanes change places, so that lane 4 g + m has word 4 u + m of patches
 * g and 8 + g in b[0][u] and b[1][u]. */
template <bool TWO> static __device__ void gather(const unsigned *counters, int first, unsigned b[2][2 * STEPS])
{
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, turn = lane / 8;

#pragma unroll
    for (int v = 0; v < STEPS; v++) {
        unsigned words[4], turned[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned *row = counters + 32 * (4 * (2 * v + lane / 16) + (i + turn) % 4);
            words[i] = TWO ? row[lane] + row[lane ^ 16] : row[first + lane % 16];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) /* that of lane 8 t + group belongs to place t, (member - i) % 4 */
            turned[(4 - i) % 4] = __shfl_sync(0xffffffff, words[i], 8 * ((member - i) & 3) + group);
#pragma unroll
        for (int t = 0; t < 4; t++)
            words[t] = member % 2 ? turned[(t + 3) % 4] : turned[t];
#pragma unroll
        for (int t = 0; t < 4; t++)
            b[t % 2][2 * v + t / 2] = member < 2 ? words[t] : words[(t + 2) % 4];
    }
}

/* A bit for each of 16 patches of 256 pixels of 0, whose code is 255: no other histogram has a bin of 256 (a corner that is not 0 has
 * a code that no other corner can have), and that is no byte. It is the last one of a word, so it is carried nowhere. */
static __device__ unsigned find_zeros(const unsigned *counters)
{
    const unsigned halves = __ballot_sync(0xffffffff, counters[32 * (LBP_LANE_WORDS - 1) + threadIdx.x] == 128u << 24);

    return halves & halves >> 16;
}

/* The smallest score of a group's centroids and those before, for patches 2 member and 2 member + 1 of both eights. */
static __device__ void multiply(const uint4 *group, const int *norms, int first, const unsigned b[2][2 * STEPS],
                                unsigned zeros, int smallest[2][2], int labels[2][2])
{
    int sums[2][2][4] = {};

#pragma unroll
    for (int plane = 0; plane < 2; plane++)
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            const uint4 piece = group[(plane * STEPS + s) * 32 + threadIdx.x];
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

/* Warp threadIdx.y has patches side by side, and those of the next row behind the last of a row. AHEAD: all of their lines are asked
 * for before anything else, and the centroids are waited for when the codes are counted. */
template <int PATCH, int CHANNELS, bool AHEAD>
static __global__ void __launch_bounds__(32 * TEXTURE_LANES_WARPS)
    lanes_kernel(struct texture_operands operands, struct image in, struct image out)
{
    constexpr int PATCHES = lbp_patches_of(PATCH);
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x, thread = threadIdx.y * 32 + lane, threads = blockDim.y * 32;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, all = out.width * out.height;
    const int own = first + lane % PATCHES, share = lane / PATCHES;
    uint4 *counters = shared + threadIdx.y * LBP_WARP_PIECES, *pieces = shared + blockDim.y * LBP_WARP_PIECES;

    const int x = own % out.width * PATCH, y = own / out.width * PATCH + share * lbp_lines_of(PATCH);

    if (AHEAD && own < all)
        ask<PATCH, CHANNELS>(in, x, y, share);
    for (int i = thread; i < min(operands.groups, PASS) * PIECES; i += threads)
        pieces[i] = operands.fragments[i];
    lbp_clear_lanes(counters, lane);
    AHEAD ? __syncwarp() : __syncthreads();
    if (own < all)
        count<PATCH, CHANNELS>(in, x, y, share, shared, threadIdx.y * LBP_WARP_PIECES * 16 + lane * 4);
    AHEAD ? __syncthreads() : __syncwarp();
    for (int round = 0; round < PATCHES; round += ROUND) {
        unsigned b[2][2 * STEPS];
        int smallest[2][2] = {{INT32_MAX, INT32_MAX}, {INT32_MAX, INT32_MAX}}, labels[2][2] = {};
        const unsigned zeros = PATCHES == ROUND ? find_zeros((const unsigned *)counters) : 0;
        gather<PATCHES == ROUND>((const unsigned *)counters, round, b);
        for (int from = 0; from < operands.groups; from += PASS) {
            const int groups = min(operands.groups - from, PASS);
            if (from + round > 0 && operands.groups > PASS) {
                __syncthreads();
                for (int i = thread; i < groups * PIECES; i += threads)
                    pieces[i] = operands.fragments[from * PIECES + i];
                __syncthreads();
            }
            for (int group = 0; group < groups; group++)
                multiply(pieces + group * PIECES, operands.norms, (from + group) * GROUP, b, zeros, smallest, labels);
        }
#pragma unroll
        for (int at = 0; at < 12; at++) { /* among the lanes that have other centroids of the same patches */
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

template <bool AHEAD> static auto kernel_for(int patch, int channels)
{
    if (patch == 8)
        return channels == 1 ? lanes_kernel<8, 1, AHEAD> : lanes_kernel<8, 3, AHEAD>;
    return channels == 1 ? lanes_kernel<16, 1, AHEAD> : lanes_kernel<16, 3, AHEAD>;
}

enum status texture_lanes_launch(const struct texture_operands *operands, const struct image *in, struct image *labels,
                                 int patch, int warps, bool ahead, cudaStream_t stream)
{
    const int groups = operands->groups < PASS ? operands->groups : PASS, pieces = groups * PIECES;
    const int tasks = (int)ceiling_divide(labels->width * labels->height, patch == 8 ? 32 : 16);
    const auto kernel = ahead ? kernel_for<true>(patch, in->channels) : kernel_for<false>(patch, in->channels);
    enum status status = STATUS_OK;
    int device, multiprocessors, most, shared;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    warps = min(min(warps, (most / 16 - pieces) / LBP_WARP_PIECES), (int)ceiling_divide(tasks, multiprocessors));
    shared = 16 * (pieces + warps * LBP_WARP_PIECES);
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    kernel<<<ceiling_divide(tasks, warps), dim3(32, warps), shared, stream>>>(*operands, *in, *labels);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
