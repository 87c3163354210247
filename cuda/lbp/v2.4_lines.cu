/*
 * Idea:     a thread goes down half a patch line by line: what is left and right of a line are zeros, what is above and below it
 *           is in registers, and no tile lies in shared memory.
 * Changed:  16 patches a warp, 8 lines of 16 pixels a lane, loaded as 16 bytes each (shared/lines.cuh).
 * Expect:   1.3 times v2.3: the tile's words, nine loads for every four pixels and what fills it, are a third of the instructions.
 *           (Written after a first form was measured.)
 * Result:   2.2 times v2.3, 21 us (results/h200/lbp/lbp_4032x3024.json): the tile also kept shared memory busy, which the
 *           additions need.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.4 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/shared/lines.cuh"
#include "cuda/lbp/shared/words.cuh"

struct state {
};

static int warps = 2;
static const int some_warps[] = {1, 2, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block"}, {}};

enum { PIECES = 33 /* of a histogram, 16 bytes each; one more, so that equal codes of neighbours meet in no bank */ };

/* A warp has patches side by side; its lanes share out the lines of each. */
template <int PATCH> static __global__ void lbp_kernel(struct image in, struct image out)
{
    constexpr int WORDS = PATCH / 4, LINES = lbp_lines_of(PATCH), PATCHES = lbp_patches_of(PATCH);
    extern __shared__ uint4 shared[];
    uint4 *bins = shared + threadIdx.y * PATCHES * PIECES;
    const int lane = threadIdx.x, own = lane % PATCHES, share = lane / PATCHES;
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * PATCHES, x = (first + own) * PATCH;
    const int y = blockIdx.y * PATCH + share * LINES;
    unsigned *counters = (unsigned *)(bins + own * PIECES), lines[3][WORDS + 2] = {};

    for (int i = lane; i < PATCHES * PIECES; i += 32)
        bins[i] = {};
    __syncwarp();
    if (x < in.width) {
        lbp_load_line<PATCH>(in, x, y - 1, share > 0, lines[0]);
        lbp_load_line<PATCH>(in, x, y, true, lines[1]);
#pragma unroll
        for (int i = 1; i <= LINES; i++) {
            lbp_load_line<PATCH>(in, x, y + i, i < LINES || (share + 1) * LINES < PATCH, lines[2]);
#pragma unroll
            for (int w = 1; w <= WORDS; w++) {
                const unsigned codes = lbp_word_codes(&lines[1][w], WORDS + 2);
#pragma unroll
                for (int shift = 0; shift < 32; shift += 8) {
                    const unsigned code = codes >> shift & 255;
                    atomicAdd(&counters[code / 2], 1u << 16 * (code % 2));
                }
            }
#pragma unroll
            for (int w = 1; w <= WORDS; w++) {
                lines[0][w] = lines[1][w];
                lines[1][w] = lines[2][w];
            }
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

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
