/*
 * Problem:  A block of cuda/v1.2 reads rows of 16 bytes, half of a sector; a thread has one pixel.
 * Idea:     Thread coarsening: a block has several patches side by side and a thread several
 *           pixels. Patches per block and threads per column (`lines`) are tunables.
 * Expect:   1.5 times as fast as cuda/v1.2: four times the work between barriers, and a block of 4
 *           patches uses whole sectors.
 * Result:   1.4 times as fast as cuda/v1.2 with 4 patches and 4 threads per column, 65.8 us
 *           (results/h100/lbp/lbp_4032x3024_climb.json).
 * Run:      make tune-lbp V=cuda/v1.3 SVG=heat.svg
 */
#include "common/algo/lbp.h"
#include "common/cuda/device.h"

struct state {
};

static int lines = 4, patches = 4;
static const int some_lines[] = {1, 2, 4, 8, 0}, some_patches[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"lines", &lines, some_lines, "threads for each column of a patch"},
                                    {"patches", &patches, some_patches, "patches of a block, side by side"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    const int patch = lbp_patch((const struct lbp_params *)params);

    (void)in;
    return device_block_illegal(patch * lines * patches, patches * (LBP_BINS * sizeof(unsigned) + patch * patch));
}

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

/* Patch threadIdx.z of the block; each thread does the pixels of a column that are `lines` apart. */
static __global__ void lbp_kernel(struct image in, struct image out, int patch)
{
    extern __shared__ unsigned shared[];
    unsigned *bins = shared + threadIdx.z * LBP_BINS;
    unsigned char *pixels = (unsigned char *)(shared + blockDim.z * LBP_BINS) + threadIdx.z * patch * patch;
    const int column = blockIdx.x * blockDim.z + threadIdx.z, x = column * patch + threadIdx.x;
    const int thread = threadIdx.y * patch + threadIdx.x, threads = blockDim.y * patch;

    for (int i = threadIdx.y, y = blockIdx.y * patch + i; i < patch; i += blockDim.y, y += blockDim.y)
        pixels[i * patch + threadIdx.x] =
            x < in.width && y < in.height ? ((const unsigned char *)image_row(&in, y))[x] : 0;
    for (int i = thread; i < LBP_BINS; i += threads)
        bins[i] = 0;
    __syncthreads();
    for (int i = threadIdx.y; i < patch; i += blockDim.y)
        atomicAdd(&bins[texton(pixels, patch, threadIdx.x, i)], 1);
    __syncthreads();
    for (int i = thread; i < LBP_BINS && column < out.width; i += threads)
        lbp_bins(&out, blockIdx.y, column)[i] = (uint16_t)bins[i];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct lbp_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int patch = lbp_patch(params);

    (void)state;
    lbp_kernel<<<dim3(ceiling_divide(out->width, patches), out->height), dim3(patch, lines, patches),
                 patches *(LBP_BINS * sizeof(unsigned) + patch * patch), stream>>>(*in, *out, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(lbp, .tunables = tunables, .illegal = illegal)
