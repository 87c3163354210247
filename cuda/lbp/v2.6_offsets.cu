/*
 * Idea:     the code is where its counter lies: with 4 for the last factor in the place of 2 the number is 1024 + 4 (code / 2) +
 *           code % 2, whose lower bits are the word, in bytes, and the half of it.
 * Changed:  lbp_pair_codes() with factor 4; the patch's part of the address is combined by an exclusive or.
 * Expect:   1.1 times v2.5: an increment takes 4.5 instructions in the place of 6 or 7, of some 20 a pixel.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.6 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/steps/halves.cuh"
#include "cuda/lbp/steps/lines.cuh"

struct state {
};

static int warps = 2;
static const int some_warps[] = {1, 2, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block"}, {}};

enum { PITCH = 2 * LBP_BINS / 16 /* of histograms, in 16 bytes */ };

/* Where 16 bytes of histogram `patch` lie: equal codes of 8 neighbours meet in no bank. */
static __device__ int place(int patch, int i)
{
    return patch * PITCH + (i ^ patch % 8);
}

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
    constexpr int LINES = lbp_lines_of(PATCH), PATCHES = lbp_patches_of(PATCH);
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x, warp = threadIdx.y * PATCHES, own = lane % PATCHES, share = lane / PATCHES;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, x = (first + own) * PATCH;
    const int y = blockIdx.y * PATCH + share * LINES;
    const unsigned start = 16 * place(warp + own, 0);
    lbp_line<PATCH> lines[3];

    for (int i = lane; i < PATCHES * PITCH; i += 32)
        shared[warp * PITCH + i] = {};
    __syncwarp();
    if (x < in.width) {
        load<PATCH>(in, x, y - 1, share > 0, lines[0]);
        load<PATCH>(in, x, y, true, lines[1]);
#pragma unroll
        for (int i = 1; i <= LINES; i++) {
            load<PATCH>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
            for (int p = 0; p < PATCH / 2; p++) {
                const unsigned codes = lbp_pair_codes<PATCH>(lines[0], lines[1], lines[2], p, 4);
#pragma unroll
                for (int shift = 0; shift < 32; shift += 16) {
                    const unsigned code = codes >> shift;
                    atomicAdd((unsigned *)((char *)shared + ((code & 508) ^ start)), 1 + (code & 1) * 65535);
                }
            }
            lines[0] = lines[1];
            lines[1] = lines[2];
        }
    }
    __syncwarp();
    for (int i = 0; i < PATCHES && first + i < out.width; i++)
        ((uint4 *)lbp_bins(&out, blockIdx.y, first + i))[lane] = shared[place(warp + i, lane)];
}

template <int PATCH> static void enqueue(const struct image *in, const struct image *out, cudaStream_t stream)
{
    const int patches = warps * lbp_patches_of(PATCH);

    lbp_kernel<PATCH><<<dim3(ceiling_divide(out->width, patches), out->height), dim3(32, warps),
                        patches * PITCH * sizeof(uint4), stream>>>(*in, *out);
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
