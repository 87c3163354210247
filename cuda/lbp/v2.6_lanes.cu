/*
 * Idea:     counters of a byte that each lane has for itself, all in one bank of shared memory: whatever codes 32 lanes have, their
 *           additions meet in no bank, where two lanes to a patch and patches at random met some three at a time.
 * Changed:  lbp_count_pair() (shared/lanes.cuh), 5 instructions a pixel in the place of 7; lanes of a patch add up their counters and
 *           write their 16 bytes in turn, to all patches of the warp at once.
 * Expect:   1.2 times v2.5, 14 us: additions take 128 cycles of a warp in the place of 450 where codes are random, and the writes,
 *           of which each instruction now goes to 16 places, some 200 more.
 * Result:   missed: no different from v2.5 on an H100, 19 us (results/h100/lbp/lbp_4032x3024.json). Additions that meet in banks
 *           were not what it waits for. Where no histogram is written the bytes are operands of the tensor cores as they are:
 *           texture's v2.4.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.6 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/shared/lanes.cuh"
#include "cuda/lbp/shared/lines.cuh"

struct state {
};

static int warps = 2;
static const int some_warps[] = {1, 2, 4, 6, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block"}, {}};

template <int PATCH>
static __device__ void load(const struct image &in, int x, int y, bool inside, lbp_line<PATCH> &line)
{
    unsigned words[PATCH / 4 + 2] = {};

    lbp_load_line<PATCH>(in, x, y, inside, words);
    lbp_make_line<PATCH>(words, line);
}

/* A warp has patches side by side; its lanes share out the lines of each. */
template <int PATCH> static __global__ void lbp_kernel(struct image in, struct image out)
{
    constexpr int LINES = lbp_lines_of(PATCH), PATCHES = lbp_patches_of(PATCH), SHARES = 32 / PATCHES;
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x, own = lane % PATCHES, share = lane / PATCHES;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, x = (first + own) * PATCH;
    const int y = blockIdx.y * PATCH + share * LINES;
    const unsigned *counters = (const unsigned *)(shared + threadIdx.y * LBP_WARP_PIECES);
    lbp_line<PATCH> lines[3];

    lbp_clear_lanes(shared + threadIdx.y * LBP_WARP_PIECES, lane);
    __syncwarp();
    if (x < in.width) {
        load<PATCH>(in, x, y - 1, share > 0, lines[0]);
        load<PATCH>(in, x, y, true, lines[1]);
#pragma unroll
        for (int i = 1; i <= LINES; i++) {
            load<PATCH>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
            for (int p = 0; p < PATCH / 2; p++)
                lbp_count_pair(shared, threadIdx.y * LBP_WARP_PIECES * 16 + lane * 4,
                               lbp_pair_codes<PATCH>(lines[0], lines[1], lines[2], p));
            lines[0] = lines[1];
            lines[1] = lines[2];
        }
    }
    __syncwarp();
    if (x >= in.width)
        return;
#pragma unroll
    for (int piece = share; piece < LBP_BINS / 8; piece += SHARES) {
        uint4 sums = {};
#pragma unroll
        for (int i = 0; i < SHARES; i++) {
            const unsigned low = counters[32 * 2 * piece + (lane ^ PATCHES * i)];
            const unsigned high = counters[32 * (2 * piece + 1) + (lane ^ PATCHES * i)];
            sums.x += __byte_perm(low, 0, 0x4140);
            sums.y += __byte_perm(low, 0, 0x4342);
            sums.z += __byte_perm(high, 0, 0x4140);
            sums.w += __byte_perm(high, 0, 0x4342);
        }
        ((uint4 *)lbp_bins(&out, blockIdx.y, first + own))[piece] = sums;
    }
}

template <int PATCH> static void enqueue(const struct image *in, const struct image *out, cudaStream_t stream)
{
    const int patches = warps * lbp_patches_of(PATCH);

    lbp_kernel<PATCH><<<dim3(ceiling_divide(out->width, patches), out->height), dim3(32, warps),
                        warps * LBP_WARP_PIECES * sizeof(uint4), stream>>>(*in, *out);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct lbp_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int patch = lbp_patch(params);

    (void)state;
    (patch == 8 ? enqueue<8> : patch == 16 ? enqueue<16> : enqueue<32>)(in, out, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
