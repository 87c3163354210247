/*
 * Problem:  In cuda/v1.3 a block loads its tile, waits, and only then begins to sum.
 * Idea:     Double buffering (left open by Huet 2023): a block walks down 4 tiles. It loads the
 *           next to registers before it sums the present one, and to a second tile afterwards.
 * Expect:   0.9 to 1.0 times as fast: other blocks of the multiprocessor compute while one waits.
 * Result:   0.83 times as fast as cuda/v1.3, 674 us: 56 registers, not 30, so half as many blocks
 *           reside (results/h200/blur/blur_3840x2160_double_buffer.json).
 * Run:      make diff-blur A=cuda/v1.3 B=cuda/double_buffer
 * From:     cuda/v1.3
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

enum {
    WIDTH = 32,
    HEIGHT = 16, /* threads of a block */
    TILES = 4,   /* of a block, one below the other */
    HALO = BLUR_MAX_KSIZE - 1,
    MOST = (3 * (WIDTH + HALO) * (HEIGHT + HALO) + WIDTH * HEIGHT - 1) / (WIDTH * HEIGHT) /* samples of a thread */
};

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
};

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

/* Sample k of the tile whose upper left pixel is at (left, top); the picture's border goes on outside of it. */
static __device__ uint8_t sample(const struct image &in, int left, int top, int tile_width, int k)
{
    const int column = clamp(left + k % tile_width / in.channels, in.width - 1);
    const int line = clamp(top + k / tile_width, in.height - 1);

    return ((const uint8_t *)image_row(&in, line))[column * in.channels + k % in.channels];
}

static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    extern __shared__ uint8_t tiles[];
    const int threads = blockDim.x * blockDim.y, own = threadIdx.y * blockDim.x + threadIdx.x;
    const int tile_width = (blockDim.x + ksize - 1) * in.channels, samples = tile_width * (blockDim.y + ksize - 1);
    const int x = blockIdx.x * blockDim.x + threadIdx.x, left = blockIdx.x * blockDim.x - ksize / 2;
    const int first = blockIdx.y * TILES * blockDim.y, end = min(first + TILES * (int)blockDim.y, out.height);
    uint8_t *now = tiles, *next = tiles + samples;

    for (int k = own; k < samples; k += threads)
        now[k] = sample(in, left, first - ksize / 2, tile_width, k);
    for (int top = first; top < end; top += blockDim.y) {
        const int coming = top + (int)blockDim.y < end ? samples : 0, y = top + threadIdx.y;
        uint8_t early[MOST];

        __syncthreads(); /* all have stored to now, and read what was there before */
#pragma unroll
        for (int i = 0; i < MOST; i++)
            if (own + i * threads < coming)
                early[i] = sample(in, left, top + (int)blockDim.y - ksize / 2, tile_width, own + i * threads);
        for (int c = 0; c < out.channels && x < out.width && y < out.height; c++) {
            uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
            for (int j = 0; j < ksize; j++) {
                const uint8_t *row = now + (threadIdx.y + j) * tile_width + threadIdx.x * in.channels;
                for (int i = 0; i < ksize; i++)
                    sum += w.at[j] * w.at[i] * row[i * in.channels + c];
            }
            ((uint8_t *)image_row(&out, y))[x * out.channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
        }
#pragma unroll
        for (int i = 0; i < MOST; i++)
            if (own + i * threads < coming)
                next[own + i * threads] = early[i];
        uint8_t *const old = now;
        now = next;
        next = old;
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
    dim3 block(WIDTH, HEIGHT);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, TILES * block.y));
    size_t tile = (size_t)(block.x + params->ksize - 1) * (block.y + params->ksize - 1) * in->channels;

    blur_kernel<<<grid, block, 2 * tile, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
