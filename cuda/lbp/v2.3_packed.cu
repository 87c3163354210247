/*
 * Idea:     the compiler knows the side of a patch, and two counters share a word. Most of the 770 instructions of a
 *           patch found out by divisions where a word of the tile lies, or cleared and packed counters.
 * Changed:  lbp_kernel<PATCH>; counters of 16 bits, two a word, leave shared memory as they are written.
 * Expect:   1.8 times v2.2, which issues 3.1 instructions a cycle and multiprocessor: a division by a number that is known is a
 *           shift or a multiplication, where one of any two numbers is some 20 instructions, six times a word.
 * Result:   missed: 1.07 times v2.2, 45 us (results/h200/lbp/lbp_4032x3024.json). Instructions were not what it waited for,
 *           but probably shared memory: v2.4 has no tile there.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.3 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"
#include "cuda/lbp/shared/words.cuh"

struct state {
};

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

enum { PIECES = 32 /* of a histogram, 16 bytes each */ };

/* Four pixels of the picture; x is a multiple of 4, and a row may be read up to a multiple of 64. */
static __device__ unsigned load(const struct image &in, int x, int y)
{
    const int left = in.width - x; /* pixels */

    if (left <= 0 || y >= in.height)
        return 0;
    return *(const unsigned *)((const unsigned char *)image_row(&in, y) + x) & (left < 4 ? (1u << 8 * left) - 1 : ~0u);
}

/* Warp threadIdx.y has a patch, and shared memory of its own, so that no warp waits for another. */
template <int PATCH> static __global__ void lbp_kernel(struct image in, struct image out)
{
    extern __shared__ uint4 shared[];
    uint4 *bins = shared + threadIdx.y * PIECES;
    unsigned *counters = (unsigned *)bins;
    unsigned *tile = (unsigned *)(shared + blockDim.y * PIECES) + threadIdx.y * lbp_tile_words(PATCH);
    const int lane = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y;
    constexpr int wide = PATCH / 4, pitch = lbp_tile_pitch(PATCH);

    if (column >= out.width)
        return;
    for (int i = lane; i < lbp_tile_words(PATCH); i += 32) {
        const int word = i % pitch - 1, y = i / pitch - 1;
        const bool inside = word >= 0 && word < wide && y >= 0 && y < PATCH;
        tile[i] = inside ? load(in, column * PATCH + 4 * word, blockIdx.y * PATCH + y) : 0;
    }
    bins[lane] = {};
    __syncwarp();
    for (int i = lane; i < PATCH * wide; i += 32) {
        const unsigned codes = lbp_word_codes(tile + (i / wide + 1) * pitch + i % wide + 1, pitch);
        for (int shift = 0; shift < 32; shift += 8) {
            const unsigned code = codes >> shift & 255;
            atomicAdd(&counters[code / 2], 1u << 16 * (code % 2));
        }
    }
    __syncwarp();
    ((uint4 *)lbp_bins(&out, blockIdx.y, column))[lane] = bins[lane];
}

template <int PATCH> static void enqueue(const struct image *in, const struct image *out, cudaStream_t stream)
{
    const size_t bytes = PIECES * sizeof(uint4) + lbp_tile_words(PATCH) * sizeof(unsigned);

    lbp_kernel<PATCH>
        <<<dim3(ceiling_divide(out->width, warps), out->height), dim3(32, warps), warps * bytes, stream>>>(*in, *out);
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
