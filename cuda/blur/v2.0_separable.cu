/*
 * Problem:  Compute-bound: 225 multiplications per sample.
 * Idea:     A Gaussian is separable: a block sums along the rows of its tile, waits, then sums
 *           those sums down the columns, 2 ksize multiplications per sample. Halo rows are summed
 *           too, so a tall block is the fastest: 32x32 threads instead of 32x16.
 * Expect:   4 times as fast: 46 rows are summed for 32, so 15 * 46 / 32 + 15 = 37 multiplications
 *           replace 225; the barrier takes a part of that gain.
 * Result:   Kernel 3.2 times as fast as cuda/v1.3, 172 us (results/h100/blur/blur_3840x2160.json).
 * Run:      make diff-blur A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
};

static int block_width = 32, block_height = 32;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

/* Bytes of the tile, rounded up to even, and of the sums of its rows. */
static size_t shared_bytes(const struct image *in, const struct blur_params *params)
{
    size_t tile_height = block_height + params->ksize - 1, tile_width = block_width + params->ksize - 1;

    return (tile_width * tile_height + 1) * in->channels + block_width * tile_height * in->channels * sizeof(uint16_t);
}

static const char *illegal(const struct image in[], const void *params)
{
    return device_block_illegal(block_width * block_height, shared_bytes(in, (const struct blur_params *)params));
}

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ uint8_t tile[];
    int tile_width = (blockDim.x + ksize - 1) * in.channels, tile_height = blockDim.y + ksize - 1;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int column = clamp(x - (int)threadIdx.x + k % tile_width / in.channels - ksize / 2, in.width - 1);
        int line = clamp(y - (int)threadIdx.y + k / tile_width - ksize / 2, in.height - 1);
        tile[k] = ((const uint8_t *)image_row(&in, line))[column * in.channels + k % in.channels];
    }
    __syncthreads();
    int samples = blockDim.x * in.channels;
    uint16_t *along = (uint16_t *)(tile + (tile_width * tile_height + 1) / 2 * 2); /* at most 255 * 256 each */
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < samples * tile_height; k += blockDim.x * blockDim.y) {
        const uint8_t *row = tile + k / samples * tile_width + k % samples;
        uint32_t sum = 0;
        for (int i = 0; i < ksize; i++)
            sum += w.at[i] * row[i * in.channels];
        along[k] = (uint16_t)sum;
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++)
            sum += w.at[j] * along[(threadIdx.y + j) * samples + threadIdx.x * in.channels + c];
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = shared_bytes(in, params);

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur, .tunables = tunables, .illegal = illegal)
