/*
 * Idea:     four pixels in a register: a comparison of four bytes with four others is five instructions of 32 bits.
 * Changed:  texton() gives the codes of a word; loads, comparisons and shifts are of four pixels.
 * Expect:   1.3 times v2.1: nine loads and eight comparisons for four pixels instead of one. What is left is one addition
 *           in shared memory a pixel, 32 at a time in three or four steps, as chance spreads them over 32 banks.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.2 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
};

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

/* Bytes: the highest bit set where a >= b, the others undefined. In a - b of the lower 7 bits, with bit 7 of a set, no byte
 * borrows from the next. */
static __device__ unsigned at_least(unsigned a, unsigned b)
{
    const unsigned lower = (a | 0x80808080) - (b & 0x7f7f7f7f);

    return (a & ~b) | (~(a ^ b) & lower);
}

/* The bit comes in from the left. */
static __device__ unsigned add_bit(unsigned codes, unsigned neighbours, unsigned pixels)
{
    return codes >> 1 | (at_least(neighbours, pixels) & 0x80808080);
}

static __device__ unsigned west(const unsigned *word)
{
    return __byte_perm(word[-1], word[0], 0x6543);
}

static __device__ unsigned east(const unsigned *word)
{
    return __byte_perm(word[0], word[1], 0x4321);
}

/* Codes of the four pixels of a word, from the lowest bit, W, to the highest, NW. */
static __device__ unsigned texton(const unsigned *word, int pitch)
{
    const unsigned *above = word - pitch, *below = word + pitch;
    unsigned codes = add_bit(0, west(word), *word);

    codes = add_bit(add_bit(codes, west(below), *word), *below, *word);
    codes = add_bit(add_bit(codes, east(below), *word), east(word), *word);
    codes = add_bit(add_bit(codes, east(above), *word), *above, *word);
    return add_bit(codes, west(above), *word);
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
    for (int i = lane; i < patch * wide; i += 32) {
        const unsigned codes = texton(tile + (i / wide + 1) * pitch + i % wide + 1, pitch);
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
                 warps *(LBP_BINS + tile_words(patch)) * sizeof(unsigned), stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
