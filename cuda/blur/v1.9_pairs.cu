/*
 * Idea:     two 16-bit sums are the halves of a word, and one instruction, dp2a, multiplies both by their weights and
 *           adds them up. A thread that gives 8 neighbouring pixels loads each word once for all of them.
 * Changed:  the second pass. A thread loads the sums of 8 pixels and their halo 16 bytes at a time into registers; weights are
 *           there at 2 displacements; 8 results are stored as two words where they end inside the image.
 * Expect:   kernel 3 times as fast: 8 dp2a a pixel and 3 loads for 8 pixels in place of 15 multiply-adds and 15 loads; fewer stores.
 * Result:   13.0 us, 2.5 times v1.8 (results/h200/blur/blur_3840x2160_steps.json).
 */
/* Try: make bench-blur VERSIONS=cuda/v1.8,cuda/v1.9,cuda/v2.0 */
#include "common/cuda/border.cuh"
#include "common/cuda/device.h"
#include "cuda/blur/shared/packed.cuh"

enum { THREADS = 128, TILE_WIDTH = 256, TILE_HEIGHT = 32, ROWS = 16 /* of a tile for one thread */ };

struct state {
    struct packed_weights weights;
    bool identity;
};

/* Sums ROWS rows from tile row `first`, image row y on, of the thread's 4 pixels, which start `offset` bytes into the
 * image row, into tile[channel][row][pixel]. */
template <int CHANNELS, int RADIUS>
static __device__ void blur_columns(const struct image &in, const struct packed_weights &weights, int offset, int y,
                                    int first, int column, uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH])
{
    constexpr int SPAN = (RADIUS + 1) / 2 + 1; /* words of 4 rows that one sum touches */
    const int row_bytes = in.width * CHANNELS;

#pragma unroll 1 /* or 3 channels take 3 times the registers */
    for (int start = 0; start < 4 * CHANNELS; start += 4) {
        const int source = border_source(offset + start, row_bytes, 4);
        const unsigned select = border_select<CHANNELS>(offset + start, row_bytes);
        unsigned words[4][SPAN - 1 + ROWS / 4]; /* [byte column][k]: rows 4k to 4k + 3 from y - RADIUS - 1 on */
#pragma unroll
        for (int k = 0; k < SPAN - 1 + ROWS / 4; k++) {
            unsigned line[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = min(max(y - RADIUS - 1 + 4 * k + i, 0), in.height - 1);
                const uint8_t *row = device_row((const uint8_t *)in.data, in.stride, at);
                line[i] = __byte_perm(*(const unsigned *)(row + source),
                                      border_pixel<CHANNELS>(row, offset + start, row_bytes), select);
            }
            transpose_bytes(line);
#pragma unroll
            for (int c = 0; c < 4; c++)
                words[c][k] = line[c];
            const int ready = k - (SPAN - 1);
#pragma unroll
            for (int i = 0; i < 4 && ready >= 0; i++) {
                unsigned sums[4] = {0, 0, 0, 0};
#pragma unroll
                for (int c = 0; c < 4; c++)
#pragma unroll
                    for (int w = i == 3; w < SPAN - (i == 0); w++) /* outside these all four weights are 0 */
                        sums[c] = __dp4a(words[c][ready + w], weights.down[i][w], sums[c]);
                const int tile_row = first + 4 * ready + i;
                if (CHANNELS == 1)
                    *(uint2 *)&tile[0][tile_row][column] =
                        make_uint2(__byte_perm(sums[0], sums[1], 0x5410), __byte_perm(sums[2], sums[3], 0x5410));
                else
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        tile[(start + c) % CHANNELS][tile_row][column + (start + c) / CHANNELS] = (uint16_t)sums[c];
            }
        }
    }
}

template <int CHANNELS, int RADIUS> /* RADIUS: the next of 3, 7, 11, 15 from the true radius on */
static __global__ void __launch_bounds__(THREADS, CHANNELS == 1 ? 4 : 3)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct packed_weights weights)
{
    constexpr int HALO = RADIUS + 1, WIDTH = TILE_WIDTH - 2 * HALO; /* pixels that the tile gives */
    __shared__ __align__(16) uint16_t tile[CHANNELS][TILE_HEIGHT][TILE_WIDTH];
    const int x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * TILE_HEIGHT;
    const int column = threadIdx.x % (TILE_WIDTH / 4) * 4, first = threadIdx.x / (TILE_WIDTH / 4) * ROWS;
    const int offset = (x0 - HALO + column) * CHANNELS;

    blur_columns<CHANNELS, RADIUS>(in, weights, offset, y0 + first, first, column, tile);
    __syncthreads();

    const int x = x0 + threadIdx.x % 32 * 8; /* 8 pixels a thread, a warp a row; WIDTH / 8 of its threads have work */
    if (x >= min(x0 + WIDTH, out.width))
        return;
    for (int row = threadIdx.x / 32; row < TILE_HEIGHT && y0 + row < out.height; row += THREADS / 32) {
        unsigned sums[CHANNELS][8], bytes[2 * CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            uint4 pairs[HALO / 4 + 1]; /* of pixels: x - HALO to x + HALO + 7 */
#pragma unroll
            for (int k = 0; k < HALO / 4 + 1; k++)
                pairs[k] = ((const uint4 *)&tile[c][row][x - x0])[k];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                sums[c][i] = 1 << (2 * BLUR_WEIGHT_BITS - 1);
#pragma unroll
                for (int k = i % 2; k < HALO + i % 2; k++)
                    sums[c][i] = __dp2a_lo(((const unsigned *)pairs)[i / 2 + k], weights.along[i % 2][k], sums[c][i]);
            }
        }
        uint8_t *to = device_row((uint8_t *)out.data, out.stride, y0 + row) + x * CHANNELS;
        blur_pack<CHANNELS>(sums, bytes);
#pragma unroll
        for (int k = 0; k < 2 * CHANNELS; k += 2)
            if (x + 8 <= out.width)
                *(uint2 *)(to + 4 * k) = make_uint2(bytes[k], bytes[k + 1]);
            else
#pragma unroll 1
                for (int b = 4 * k; b < min(4 * k + 8, (out.width - x) * CHANNELS); b++)
                    to[b] = (uint8_t)((b < 4 * k + 4 ? bytes[k] : bytes[k + 1]) >> 8 * (b % 4));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    state->identity = blur_pack_weights(&state->weights, params);
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

    if (state->identity)
        CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, in->data, in->stride, image_row_bytes(in), in->height,
                                   cudaMemcpyDeviceToDevice, stream));
    else
        kernels[in->channels == 3][params->ksize / 8](*in, *out, *state, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
