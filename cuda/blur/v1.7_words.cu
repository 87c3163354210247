/*
 * Idea:     a 32-bit register holds two sums of 16 bits, and one multiply-add serves both: no sum exceeds 255 * 256.
 * Changed:  blur_columns(). A thread loads 4 bytes of a row at once and parts them into two registers of two samples; it sums
 *           its 4 columns as 2. The border is a selector that puts the border pixel in place of the bytes outside.
 * Expect:   first pass twice as fast, kernel 1.3 times: 7.5 multiply-adds a pixel down a column in place of 15, a quarter of
 *           the loads. The second pass stays, with 15 loads from shared memory and 15 multiply-adds a pixel.
 * Result:   32.2 us, 1.6 times v1.6 (results/h200/blur/blur_3840x2160_steps.json).
 */
/* Try: make bench-blur VERSIONS=cuda/v1.6,cuda/v1.7,cuda/v1.8 */
#include "common/algo/blur.h"
#include "common/cuda/border.cuh"
#include "common/cuda/device.h"

enum { THREADS = 128, TILE_WIDTH = 256, TILE_HEIGHT = 32, ROWS = 16 /* of a tile for one thread */ };

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
};

/* Sums ROWS rows from tile row `first`, image row y on, of the thread's 4 pixels, which start `offset` bytes into the
 * image row, into tile[channel][row][pixel]. */
template <int CHANNELS, int RADIUS>
static __device__ void blur_columns(const struct image &in, const struct weights &weights, int offset, int y, int first,
                                    int column, uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH])
{
    const int row_bytes = in.width * CHANNELS;

#pragma unroll 1 /* or 3 channels take 3 times the registers */
    for (int start = 0; start < 4 * CHANNELS; start += 4) {
        const int source = border_source(offset + start, row_bytes, 4);
        const unsigned select = border_select<CHANNELS>(offset + start, row_bytes);
        unsigned samples[2][ROWS + 2 * RADIUS]; /* of columns 0 and 2, and of columns 1 and 3 */
#pragma unroll
        for (int i = 0; i < ROWS + 2 * RADIUS; i++) {
            const int at = min(max(y - RADIUS + i, 0), in.height - 1);
            const uint8_t *row = device_row((const uint8_t *)in.data, in.stride, at);
            const unsigned line = __byte_perm(*(const unsigned *)(row + source),
                                              border_pixel<CHANNELS>(row, offset + start, row_bytes), select);
            samples[0][i] = line & 0x00ff00ff;
            samples[1][i] = line >> 8 & 0x00ff00ff;
        }
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            unsigned sums[2] = {0, 0}; /* at most 255 * 256 in each half */
#pragma unroll
            for (int j = 0; j <= 2 * RADIUS; j++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    sums[c] += weights.at[j] * samples[c][row + j];
#pragma unroll
            for (int c = 0; c < 4; c++)
                tile[(start + c) % CHANNELS][first + row][column + (start + c) / CHANNELS] =
                    (uint16_t)(sums[c % 2] >> 16 * (c / 2));
        }
    }
}

template <int CHANNELS, int RADIUS> /* RADIUS: the next of 3, 7, 11, 15 from the true radius on */
static __global__ void __launch_bounds__(THREADS)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights weights)
{
    constexpr int HALO = RADIUS + 1, WIDTH = TILE_WIDTH - 2 * HALO; /* pixels that the tile gives */
    __shared__ uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH];
    const int x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * TILE_HEIGHT;
    const int column = threadIdx.x % (TILE_WIDTH / 4) * 4, first = threadIdx.x / (TILE_WIDTH / 4) * ROWS;
    const int offset = (x0 - HALO + column) * CHANNELS;

    blur_columns<CHANNELS, RADIUS>(in, weights, offset, y0 + first, first, column, tile);
    __syncthreads();
    for (int k = threadIdx.x; k < TILE_HEIGHT * WIDTH * CHANNELS; k += THREADS) {
        const int row = k / (WIDTH * CHANNELS), x = k % (WIDTH * CHANNELS) / CHANNELS, c = k % CHANNELS;
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        if (x0 + x >= out.width || y0 + row >= out.height)
            continue;
#pragma unroll
        for (int i = 0; i <= 2 * RADIUS; i++)
            sum += weights.at[i] * tile[c][row][x + 1 + i];
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
