/*
 * Idea:     four pixels in a register: a comparison of four bytes with four others is five instructions of 32 bits.
 * Changed:  lbp_word_codes() gives the codes of a word; loads, comparisons and shifts are of four pixels.
 * Expect:   1.3 times v2.1: nine loads and eight comparisons for four pixels instead of one. What is left is one addition
 *           in shared memory a pixel, 32 at a time in three or four steps, as chance spreads them over 32 banks.
 * Result:   1.32 times v2.1, 49 us (results/h200/lbp/lbp_4032x3024.json), as expected.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.2 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/shared/words.cuh"

struct state {
};

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

/* Four pixels of the picture; x is a multiple of 4, and a row may be read up to a multiple of 64. */
static __device__ unsigned load(const struct image &in, int x, int y)
{
    const int left = in.width - x; /* pixels */

    if (left <= 0 || y >= in.height)
        return 0;
    return *(const unsigned *)((const unsigned char *)image_row(&in, y) + x) & (left < 4 ? (1u << 8 * left) - 1 : ~0u);
}

/* Warp threadIdx.y has a patch, and shared memory of its own, so that no warp waits for another. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    extern __shared__ uint4 shared[];
    unsigned *bins = (unsigned *)shared + threadIdx.y * LBP_BINS;
    unsigned *tile = (unsigned *)shared + blockDim.y * LBP_BINS + threadIdx.y * lbp_tile_words(patch);
    const int lane = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y;
    const int wide = patch / 4, pitch = lbp_tile_pitch(patch);

    if (column >= out.width)
        return;
    for (int i = lane; i < lbp_tile_words(patch); i += 32) {
        const int word = i % pitch - 1, y = i / pitch - 1;
        const bool inside = word >= 0 && word < wide && y >= 0 && y < patch;
        tile[i] = inside ? load(in, column * patch + 4 * word, blockIdx.y * patch + y) : 0;
    }
    for (int i = lane; i < LBP_BINS; i += 32)
        bins[i] = 0;
    __syncwarp();
    for (int i = lane; i < patch * wide; i += 32) {
        const unsigned codes = lbp_word_codes(tile + (i / wide + 1) * pitch + i % wide + 1, pitch);
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&bins[codes >> shift & 255], 1);
    }
    __syncwarp();
    const uint4 low = ((const uint4 *)bins)[2 * lane], high = ((const uint4 *)bins)[2 * lane + 1];
    ((uint4 *)lbp_bins(&out, blockIdx.y, column))[lane] =
        make_uint4(low.x | low.y << 16, low.z | low.w << 16, high.x | high.y << 16, high.z | high.w << 16);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct lbp_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int patch = lbp_patch(params);

    (void)state;
    lbp_kernel<<<dim3(ceiling_divide(out->width, warps), out->height), dim3(32, warps),
                 warps *(LBP_BINS + lbp_tile_words(patch)) * sizeof(unsigned), stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
