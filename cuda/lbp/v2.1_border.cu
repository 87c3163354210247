/*
 * Idea:     a border of zeros in place of tests: what a neighbour outside of the patch counts as lies in shared memory.
 * Changed:  the patch is loaded as words of four pixels into a tile with a line or a word of zeros on each side; texton()
 *           reads its nine bytes without a comparison of coordinates.
 * Expect:   1.5 times v2.0: 32 comparisons of coordinates a pixel are gone, and a lane loads two words instead of eight
 *           bytes.
 * Result:   missed: 1.07 times v2.0, 64 us (results/h200/lbp/lbp_4032x3024.json): the comparisons were not what it
 *           waited for.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.1 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
};

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

static __device__ int texton(const unsigned char *at, int pitch)
{
    const unsigned char *above = at - pitch, *below = at + pitch;
    const int pixel = *at;
    int code = 0;

    code = 2 * code + (above[-1] >= pixel);
    code = 2 * code + (above[0] >= pixel);
    code = 2 * code + (above[1] >= pixel);
    code = 2 * code + (at[1] >= pixel);
    code = 2 * code + (below[1] >= pixel);
    code = 2 * code + (below[0] >= pixel);
    code = 2 * code + (below[-1] >= pixel);
    return 2 * code + (at[-1] >= pixel);
}

/* Four pixels of the picture; x is a multiple of 4, and a row may be read up to a multiple of 64. */
static __device__ unsigned load(const struct image &in, int x, int y)
{
    const int left = in.width - x; /* pixels */

    if (left <= 0 || y >= in.height)
        return 0;
    return *(const unsigned *)((const unsigned char *)image_row(&in, y) + x) & (left < 4 ? (1u << 8 * left) - 1 : ~0u);
}

/* Words of a patch in shared memory: a line of zeros above and below, a word of zeros on either side. */
static HOST_DEVICE int tile_pitch(int patch)
{
    return patch / 4 + 2;
}
static HOST_DEVICE int tile_words(int patch)
{
    return (patch + 2) * tile_pitch(patch);
}

/* Warp threadIdx.y has a patch, and shared memory of its own, so that no warp waits for another. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    extern __shared__ uint4 shared[];
    unsigned *bins = (unsigned *)shared + threadIdx.y * LBP_BINS;
    unsigned *tile = (unsigned *)shared + blockDim.y * LBP_BINS + threadIdx.y * tile_words(patch);
    const int lane = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y;
    const int wide = patch / 4, pitch = tile_pitch(patch);

    if (column >= out.width)
        return;
    for (int i = lane; i < tile_words(patch); i += 32) {
        const int word = i % pitch - 1, y = i / pitch - 1;
        const bool inside = word >= 0 && word < wide && y >= 0 && y < patch;
        tile[i] = inside ? load(in, column * patch + 4 * word, blockIdx.y * patch + y) : 0;
    }
    for (int i = lane; i < LBP_BINS; i += 32)
        bins[i] = 0;
    __syncwarp();
    for (int i = lane; i < patch * patch; i += 32)
        atomicAdd(&bins[texton((unsigned char *)(tile + (i / patch + 1) * pitch + 1) + i % patch, 4 * pitch)], 1);
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
                 warps *(LBP_BINS + tile_words(patch)) * sizeof(unsigned), stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
