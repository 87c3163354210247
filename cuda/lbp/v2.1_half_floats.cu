/*
 * Problem:  cuda/v2.0 keeps the integer units busy for two thirds of its time; comparisons of
 *           pixels, which make the texture codes, are half of that.
 * Idea:     q + (1 - p) as a half float, clamped to 0..1, is 1 where q >= p, else 0. A register
 *           holds two, and half floats have twice the rate of integers. The emulator runs integers.
 * Expect:   1.4 times as fast as cuda/v2.0: 8 instructions per pixel in both, at 128 lanes per
 *           cycle instead of 64.
 * Result:   1.17 times as fast as cuda/v2.0, 19.0 us (results/h100/lbp/lbp_4032x3024_climb.json).
 * Run:      make diff-lbp A=cuda/v2.0 B=cuda/v2.1
 */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/shared/halves.cuh"
#include "cuda/lbp/shared/lines.cuh"

struct state {
};

static int warps = 2;
static const int some_warps[] = {1, 2, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block"}, {}};

enum {
    PIECES = 33 /* of 16 bytes of a histogram; one more against bank conflicts of equal codes in neighbouring patches */
};

template <int PATCH>
static __device__ void load(const struct image &in, int x, int y, bool inside, lbp_line<PATCH> &line)
{
    unsigned words[PATCH / 4 + 2] = {};

    lbp_load_line<PATCH>(in, x, y, inside, words);
    lbp_make_line<PATCH>(words, line);
}

/*
 * A warp has PATCHES patches side by side: lane `own` + PATCHES `share` has LINES lines of patch `own`, and goes down
 * them with three lines in registers. With 16 patches of 16x16:
 *
 *     share 0    lanes  0  1  2 ... 15    lines 0 to 7
 *     share 1    lanes 16 17 18 ... 31    lines 8 to 15
 */
template <int PATCH> static __global__ void lbp_kernel(struct image in, struct image out)
{
    constexpr int LINES = lbp_lines_of(PATCH), PATCHES = lbp_patches_of(PATCH);
    extern __shared__ uint4 shared[];
    uint4 *bins = shared + threadIdx.y * PATCHES * PIECES;
    const int lane = threadIdx.x, own = lane % PATCHES, share = lane / PATCHES;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, x = (first + own) * PATCH;
    const int y = blockIdx.y * PATCH + share * LINES;
    unsigned *counters = (unsigned *)(bins + own * PIECES);
    lbp_line<PATCH> lines[3];

    for (int i = lane; i < PATCHES * PIECES; i += 32)
        bins[i] = {};
    __syncwarp();
    if (x < in.width) {
        load<PATCH>(in, x, y - 1, share > 0, lines[0]);
        load<PATCH>(in, x, y, true, lines[1]);
#pragma unroll
        for (int i = 1; i <= LINES; i++) {
            load<PATCH>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
            for (int p = 0; p < PATCH / 2; p++) {
                const unsigned codes = lbp_pair_codes<PATCH>(lines[0], lines[1], lines[2], p);
#pragma unroll
                for (int shift = 0; shift < 32; shift += 16) {
                    const unsigned code = codes >> shift & 255;
                    atomicAdd(&counters[code / 2], 1u << 16 * (code % 2));
                }
            }
            lines[0] = lines[1];
            lines[1] = lines[2];
        }
    }
    __syncwarp();
    for (int i = 0; i < PATCHES && first + i < out.width; i++)
        ((uint4 *)lbp_bins(&out, blockIdx.y, first + i))[lane] = bins[i * PIECES + lane];
}

template <int PATCH> static void enqueue(const struct image *in, const struct image *out, cudaStream_t stream)
{
    const int patches = warps * lbp_patches_of(PATCH);

    lbp_kernel<PATCH><<<dim3(ceiling_divide(out->width, patches), out->height), dim3(32, warps),
                        patches * PIECES * sizeof(uint4), stream>>>(*in, *out);
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

RUNGS_CUDA_VERSION(lbp, .tunables = tunables, .staged = true)
