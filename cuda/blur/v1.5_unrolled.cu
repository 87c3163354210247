/*
 * Idea:     with ksize, channels and the block as constants the compiler unrolls the loops over taps, and a tap is a load
 *           and a multiply-add.
 * Changed:  the kernel is a template, for 1 and 3 channels and radius 3, 7, 11 and 15; a smaller ksize has zeros beside its
 *           weights. Its arrays have fixed shapes, so that indices are divided by constants, and the block is v1.4's best.
 * Expect:   kernel twice as fast: a tap is 2 instructions in place of some 5, its address a constant in the load; filling the
 *           tile takes no division any more.
 * Result:   96.7 us, 1.8 times v1.4 (results/h200/blur/blur_3840x2160_steps.json).
 */
/* Try: make bench-blur VERSIONS=cuda/v1.4,cuda/v1.5,cuda/v1.6 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

enum { BLOCK = 32 /* threads along x and y */ };

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

template <int CHANNELS, int RADIUS> /* RADIUS: the next of 3, 7, 11, 15 from the true radius on */
static __global__ void __launch_bounds__(BLOCK *BLOCK)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w)
{
    constexpr int samples = BLOCK * CHANNELS, tile_width = samples + 2 * RADIUS * CHANNELS;
    constexpr int tile_height = BLOCK + 2 * RADIUS;
    __shared__ uint8_t tile[tile_width * tile_height];
    __shared__ uint16_t along[samples * tile_height]; /* at most 255 * 256 each */
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int column = clamp(x - (int)threadIdx.x + k % tile_width / CHANNELS - RADIUS, in.width - 1);
        int line = clamp(y - (int)threadIdx.y + k / tile_width - RADIUS, in.height - 1);
        tile[k] = ((const uint8_t *)image_row(&in, line))[column * CHANNELS + k % CHANNELS];
    }
    __syncthreads();
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < samples * tile_height; k += blockDim.x * blockDim.y) {
        const uint8_t *row = tile + k / samples * tile_width + k % samples;
        uint32_t sum = 0;
        for (int i = 0; i <= 2 * RADIUS; i++)
            sum += w.at[i] * row[i * CHANNELS];
        along[k] = (uint16_t)sum;
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < CHANNELS; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j <= 2 * RADIUS; j++)
            sum += w.at[j] * along[(threadIdx.y + j) * samples + threadIdx.x * CHANNELS + c];
        ((uint8_t *)image_row(&out, y))[x * CHANNELS + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    state->weights = {};
    blur_weights(params, state->weights.at + params->ksize / 8 * 4 + 3 - params->ksize / 2);
    return STATUS_OK;
}

template <int CHANNELS, int RADIUS>
static void launch_kernel(const struct image &in, const struct image &out, const struct state &state,
                          cudaStream_t stream)
{
    dim3 grid(ceiling_divide(out.width, BLOCK), ceiling_divide(out.height, BLOCK));

    blur_kernel<CHANNELS, RADIUS><<<grid, dim3(BLOCK, BLOCK), 0, stream>>>(in, out, state.weights);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static decltype(&launch_kernel<1, 3>)
        const kernels[2][4] = {{launch_kernel<1, 3>, launch_kernel<1, 7>, launch_kernel<1, 11>, launch_kernel<1, 15>},
                               {launch_kernel<3, 3>, launch_kernel<3, 7>, launch_kernel<3, 11>, launch_kernel<3, 15>}};
    enum status status = STATUS_OK;

    kernels[in->channels == 3][params->ksize / 8](*in, *out, *state, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
