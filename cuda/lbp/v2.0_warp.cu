/*
 * Idea:     a warp a patch: no barrier holds more than 32 threads, and while one warp waits for memory, others count.
 * Changed:  __syncwarp() for __syncthreads(); a lane has every 32nd pixel, and writes 8 bins as one store of 16 bytes. The
 *           tunable is how many warps share a block.
 * Expect:   1.5 times v1.3: four loads for each lane are in flight before the first is used, and the histograms, two
 *           thirds of what is moved, leave as 512 bytes a warp.
 * Result:   missed: 7 % slower than v1.3 (results/h200/lbp/lbp_4032x3024.json), probably because a warp reads lines of
 *           16 bytes where a block of v1.3 reads 64.
 */
/* Try: make bench-lbp VERSIONS=cuda
 *      make tune-lbp V=cuda/v2.0 SVG=heat.svg */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
};

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

/* A pixel of the patch, 0 outside. */
static __device__ int sample(const unsigned char *pixels, int patch, int x, int y)
{
    return x < 0 || y < 0 || x >= patch || y >= patch ? 0 : pixels[y * patch + x];
}

static __device__ int texton(const unsigned char *pixels, int patch, int x, int y)
{
    const int pixel = pixels[y * patch + x];
    int code = 0;

    code = 2 * code + (sample(pixels, patch, x - 1, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y - 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y) >= pixel);
    code = 2 * code + (sample(pixels, patch, x + 1, y + 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x, y + 1) >= pixel);
    code = 2 * code + (sample(pixels, patch, x - 1, y + 1) >= pixel);
    return 2 * code + (sample(pixels, patch, x - 1, y) >= pixel);
}

/* Warp threadIdx.y has a patch, and shared memory of its own, so that no warp waits for another. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    extern __shared__ uint4 shared[];
    unsigned *bins = (unsigned *)shared + threadIdx.y * LBP_BINS;
    unsigned char *pixels =
        (unsigned char *)shared + blockDim.y * LBP_BINS * sizeof *bins + threadIdx.y * patch * patch;
    const int lane = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y;
    const int left = column * patch, top = blockIdx.y * patch;

    if (column >= out.width)
        return;
    for (int i = lane; i < patch * patch; i += 32) {
        const int x = left + i % patch, y = top + i / patch;
        pixels[i] = x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    }
    for (int i = lane; i < LBP_BINS; i += 32)
        bins[i] = 0;
    __syncwarp();
    for (int i = lane; i < patch * patch; i += 32)
        atomicAdd(&bins[texton(pixels, patch, i % patch, i / patch)], 1);
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
                 warps *(LBP_BINS * sizeof(unsigned) + patch * patch), stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables)
