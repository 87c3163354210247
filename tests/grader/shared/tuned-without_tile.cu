/* expect: right 4..4 | few global loads 0..0 | speed 0..0 */
/*
 * Idea:     the kernel as it was handed out, without a tile: its blocks may have any shape, too.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
};

static int block_width = 32, block_height = 16;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

/* Tiles fit: RGB at ksize 31 takes 29 KB of shared memory at most. */
static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
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

    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++) {
            const uint8_t *row = (const uint8_t *)image_row(&in, clamp(y + j - ksize / 2, in.height - 1));
            for (int i = 0; i < ksize; i++)
                sum += w.at[j] * w.at[i] * row[clamp(x + i - ksize / 2, in.width - 1) * in.channels + c];
        }
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
    size_t shared = 0;

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur, .tunables = tunables, .illegal = illegal)
