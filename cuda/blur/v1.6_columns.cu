/*
 * Idea:     columns come first: a thread sums up the column of samples that it has loaded itself, so that only sums
 *           pass through shared memory, behind one barrier in place of two.
 * Changed:  blur_columns() in place of tile and first pass: a thread has 16 + ksize - 1 samples of a column in registers and
 *           sums 16 rows of them; a block gives 32 rows of 256 columns less the halo, one barrier in place of two. Sums lie
 *           channel by channel, so that channels are no distance in the second pass.
 * Expect:   kernel 1.5 times as fast: a tap down a column is a multiply-add without a load, and a sample is loaded 30 / 16
 *           times and never stored as it is.
 * Result:   52.8 us, 1.8 times v1.5 (results/h200/blur/blur_3840x2160_steps.json).
 */
/* Try: make bench-blur VERSIONS=cuda/v1.5,cuda/v1.6,cuda/v1.7 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

enum { THREADS = 128, TILE_WIDTH = 256, TILE_HEIGHT = 32, ROWS = 16 /* of a tile for one thread */ };

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

/* Sums ROWS rows from tile row `first`, image row y on, into tile[channel][row][pixel], which begins at pixel x. */
template <int CHANNELS, int RADIUS>
static __device__ void blur_columns(const struct image &in, const struct weights &w, int x, int y, int first,
                                    uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH])
{
    for (int k = threadIdx.x % (THREADS * ROWS / TILE_HEIGHT); k < TILE_WIDTH * CHANNELS;
         k += THREADS * ROWS / TILE_HEIGHT) {
        const int at = clamp(x + k / CHANNELS, in.width - 1) * CHANNELS + k % CHANNELS;
        unsigned samples[ROWS + 2 * RADIUS];
#pragma unroll
        for (int i = 0; i < ROWS + 2 * RADIUS; i++)
            samples[i] = ((const uint8_t *)image_row(&in, clamp(y - RADIUS + i, in.height - 1)))[at];
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            unsigned sum = 0;
#pragma unroll
            for (int j = 0; j <= 2 * RADIUS; j++)
                sum += w.at[j] * samples[row + j];
            tile[k % CHANNELS][first + row][k / CHANNELS] = (uint16_t)sum; /* at most 255 * 256 */
        }
    }
}

template <int CHANNELS, int RADIUS> /* RADIUS: the next of 3, 7, 11, 15 from the true radius on */
static __global__ void __launch_bounds__(THREADS)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w)
{
    constexpr int HALO = RADIUS + 1, WIDTH = TILE_WIDTH - 2 * HALO; /* pixels that the tile gives */
    __shared__ uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH];
    const int x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * TILE_HEIGHT;
    const int first = threadIdx.x / (THREADS * ROWS / TILE_HEIGHT) * ROWS;

    blur_columns<CHANNELS, RADIUS>(in, w, x0 - HALO, y0 + first, first, tile);
    __syncthreads();
    for (int k = threadIdx.x; k < TILE_HEIGHT * WIDTH * CHANNELS; k += THREADS) {
        const int row = k / (WIDTH * CHANNELS), x = k % (WIDTH * CHANNELS) / CHANNELS, c = k % CHANNELS;
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        if (x0 + x >= out.width || y0 + row >= out.height)
            continue;
#pragma unroll
        for (int i = 0; i <= 2 * RADIUS; i++)
            sum += w.at[i] * tile[c][row][x + 1 + i];
        ((uint8_t *)image_row(&out, y0 + row))[(x0 + x) * CHANNELS + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
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
    dim3 grid(ceiling_divide(out.width, TILE_WIDTH - 2 * (RADIUS + 1)), ceiling_divide(out.height, TILE_HEIGHT));

    blur_kernel<CHANNELS, RADIUS><<<grid, THREADS, 0, stream>>>(in, out, state.weights);
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
