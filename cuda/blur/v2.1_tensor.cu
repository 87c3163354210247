/*
 * Idea:     both passes are products with a banded matrix of weights, done by the int8 units of the tensor cores.
 * Changed:  the kernel. Along rows first, from bytes as they come from memory; the result registers of that product,
 *           split into high and low bytes, are operands of the next. No shared memory, no barrier, no shuffle; the
 *           border is in the weights. A warp goes down a strip and loads 4 bands ahead.
 * Expect:   kernel from arithmetic to memory as its limit, 12 us to 6 at 3840x2160, where a copy takes 5.4: 16 products
 *           of 4096 MACs and some 100 other instructions for 512 pixels are 7 instructions a pixel in place of 25.
 */
/* Try: make bench-blur VERSIONS=cuda/v2.0,cuda/v2.1,peer/npp */
#include "common/algo/blur.h"
#include "common/cuda/border.cuh"
#include "common/cuda/bytes.cuh"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

/* A warp gives a strip of 32 bytes, band by band of 16 rows. */
enum { STRIP = 32, BAND = 16, WARPS = 4 /* of a block */ };
/* Sums of the first 2 and last 3 strips may reach past the image: these have weights of their own, the others share. */
enum { LEFT_STRIPS = 2, STRIP_KINDS = 6 };
/* Warps that a multiprocessor's 65536 registers allow, and bands that a warp loads before it needs them. */
template <int CHANNELS, int DOWN> constexpr int RESIDENT = CHANNELS + DOWN == 2 ? 16 : 12;
template <int CHANNELS, int DOWN> constexpr int AHEAD = CHANNELS + DOWN == 2 ? 4 : CHANNELS + DOWN == 5 ? 1 : 2;

struct state {
    uint4
        *weights; /* device: operands A, a uint4 a lane: for the columns [DOWN], then for the rows [kind][tile][step] */
    bool identity;
    int kinds, multiprocessors;
};

/* Rows y and y + 8: 16 bytes each, at from[k] in the image's first row; above and below the image its border rows. */
template <int LOADS>
static __device__ void load_band(unsigned pixels[2][LOADS][4], const struct image &in, int y,
                                 const uint8_t *const from[LOADS])
{
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            *(uint4 *)pixels[half][k] =
                *(const uint4 *)device_row(from[k], in.stride, min(max(y + 8 * half, 0), in.height - 1));
}

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void __launch_bounds__(32 * WARPS, RESIDENT<CHANNELS, DOWN> / WARPS)
    blur_kernel(struct image in, struct image out, const uint4 *weights, int kinds, int bands)
{
    constexpr int LEFT = 16 * CHANNELS, LOADS = (CHANNELS + 1) / 2; /* a product reads 64 * LOADS bytes from -LEFT on */
    constexpr int SLOTS = AHEAD<CHANNELS, DOWN>;
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = strip < LEFT_STRIPS ? strip : max((int)LEFT_STRIPS, strip - (strips - kinds));
    const int x = strip * STRIP + 8 * member, y0 = blockIdx.y * bands * BAND, top = y0 - 8 * DOWN + group;
    const int end = min(bands, (in.height - y0 + BAND - 1) / BAND) + DOWN;
    unsigned pixels[SLOTS][2][LOADS][4], along[2][2 * LOADS][4], down[DOWN][4];
    unsigned low[2 * DOWN][2][2] = {}, high[2 * DOWN][2][2] = {}; /* [band][tile][half]: of 4 rows, a byte each */
    uint8_t *first_out = keep_pointer((uint8_t *)out.data + x);
    const uint8_t *from[LOADS];

    if (strip >= strips)
        return;
#pragma unroll
    for (int k = 0; k < LOADS; k++)
        from[k] = keep_pointer((const uint8_t *)in.data +
                               border_source(strip * STRIP - LEFT + 64 * k + 16 * member, row_bytes, 16));
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        load_band<LOADS>(pixels[k], in, top + BAND * k, from);
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = weights[32 * k + lane];
#pragma unroll
    for (int k = 0; k < 4 * LOADS; k++)
        *(uint4 *)along[k / (2 * LOADS)][k % (2 * LOADS)] = weights[32 * (DOWN + kind * 4 * LOADS + k) + lane];

    for (int first = 0; first < end; first += SLOTS)
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            const int band = first + slot;
            int sums[2][2][4] = {}; /* [tile][half] */
            unsigned bytes[2][2];   /* [row / 8][tile] */
            if (band >= end)
                return;
#pragma unroll
            for (int k = 0; k < 2 * LOADS; k++)
#pragma unroll
                for (int tile = 0; tile < 2; tile++)
#pragma unroll
                    for (int half = 0; half < 2; half++)
                        mma_m16n8k32_u8(sums[tile][half], along[tile][k], &pixels[slot][half][k / 2][2 * (k % 2)],
                                        sums[tile][half]);
            if (band + SLOTS < end)
                load_band<LOADS>(pixels[slot], in, top + BAND * (band + SLOTS), from);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int tile = k / 2, half = k % 2, *above = &sums[tile][0][2 * half],
                          *below = &sums[tile][1][2 * half];
                const unsigned rows01 = __byte_perm(above[0], above[1], 0x5140);
                const unsigned rows89 = __byte_perm(below[0], below[1], 0x5140);
#pragma unroll
                for (int b = 0; b < DOWN; b++) {
                    low[b][tile][half] = low[b + 1][tile][half];
                    high[b][tile][half] = high[b + 1][tile][half];
                }
                low[DOWN][tile][half] = __byte_perm(rows01, rows89, 0x5410);
                high[DOWN][tile][half] = __byte_perm(rows01, rows89, 0x7632);
            }
#pragma unroll
            for (int tile = 0; tile < 2; tile++) {
                int results[2][4];
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    int upper[4] = {}, lower[4] = {1 << 15, 1 << 15, 1 << 15, 1 << 15};
#pragma unroll
                    for (int k = 0; k < DOWN; k++) {
                        const unsigned highs[2] = {high[2 * k][tile][half], high[2 * k + 1][tile][half]};
                        const unsigned lows[2] = {low[2 * k][tile][half], low[2 * k + 1][tile][half]};
                        mma_m16n8k32_u8(upper, down[k], highs, upper);
                        mma_m16n8k32_u8(lower, down[k], lows, lower);
                    }
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        results[half][k] = 256 * upper[k] + lower[k];
                }
#pragma unroll
                for (int k = 0; k < 2; k++)
                    bytes[k][tile] =
                        pack_byte2(results[0][2 * k], results[0][2 * k + 1], results[1][2 * k], results[1][2 * k + 1]);
            }
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const int y = y0 + BAND * (band - DOWN) + 8 * k + group;
                uint8_t *to = device_row(first_out, out.stride, y);
                if (band < DOWN || y >= out.height)
                    continue;
                if (x + 8 <= row_bytes)
                    *(uint2 *)to = make_uint2(bytes[k][0], bytes[k][1]);
                else
#pragma unroll 1
                    for (int b = 0; b < row_bytes - x; b++) /* rare: unrolled, it would only part what is used */
                        to[b] = (uint8_t)((b < 4 ? bytes[k][0] : bytes[k][1]) >> 8 * (b % 4));
            }
        }
}

/* The order of a product's rows and columns is free. Rows: thread `member` shall end up with 8 neighbouring bytes.
 * Columns: as load_band() leaves the bytes of a row. Past the ends of the image, a weight counts the border pixel. */
static void weights_along(uint8_t matrices[][32][16], const struct image *in, const uint16_t *weights, int ksize,
                          int strip)
{
    const int row_bytes = in->width * in->channels, steps = (in->channels + 1) / 2 * 2;

    for (int k = 0; k < 32 * ksize; k++) {
        const int column = k / ksize, tap = k % ksize, byte = strip * STRIP + column, c = byte % in->channels;
        int pixel = byte / in->channels + tap - ksize / 2, at;
        if (byte >= row_bytes)
            break;
        pixel = pixel < 0 ? 0 : pixel < in->width ? pixel : in->width - 1;
        at = pixel * in->channels + c - strip * STRIP + 16 * in->channels;
        /* All weights of an image 1 pixel wide count that pixel; their sum, 256, is no byte. It was loaded twice. */
        at -= in->width == 1 && tap % 2 ? 16 : 0;
        *mma_element_a(matrices[column / 4 % 2 * steps + at / 64 * 2 + at % 16 / 8],
                       column / 8 * 2 + column % 2 + column / 2 % 2 * 8, at % 8 / 4 * 16 + at % 64 / 16 * 4 + at % 4) +=
            weights[tap];
    }
}

/* Columns of operand A here: as the first product leaves the rows of two bands. */
static void weights_down(uint8_t matrices[][32][16], const uint16_t *weights, int ksize, int products)
{
    for (int k = 0; k < 16 * ksize; k++) {
        const int m = k / ksize, tap = k % ksize, row = m + tap - ksize / 2 + 8 * products;
        *mma_element_a(matrices[row / 32], m, row % 32 / 16 * 16 + row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2) =
            (uint8_t)weights[tap];
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    const int strips = (in->width * in->channels + STRIP - 1) / STRIP, rows = in->channels == 1 ? 4 : 8;
    const int products = params->ksize > 17 ? 2 : 1;
    uint16_t weights[BLUR_MAX_KSIZE];
    uint8_t matrices[2 + STRIP_KINDS * 8][32][16] = {};
    int device = 0;

    if (state->weights)
        return STATUS_OK;
    blur_weights(params, weights);
    state->identity = weights[params->ksize / 2] == 256; /* the others are 0; 256 is the one weight that is no byte */
    state->kinds = strips < STRIP_KINDS ? strips : STRIP_KINDS;
    weights_down(matrices, weights, params->ksize, products);
    for (int k = 0; k < state->kinds; k++)
        weights_along(&matrices[products + k * rows], in, weights, params->ksize,
                      k <= LEFT_STRIPS ? k : k + strips - state->kinds);
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_allocate((void **)&state->weights, sizeof matrices));
    TRY(device_upload_bytes(state->weights, matrices, sizeof matrices));
out:
    return status;
}

template <int CHANNELS, int DOWN>
static void launch_kernel(const struct image &in, const struct image &out, const struct state &state,
                          cudaStream_t stream)
{
    const int across = ceiling_divide(out.width * CHANNELS, WARPS * STRIP), down = ceiling_divide(out.height, BAND);
    const int blocks = state.multiprocessors * RESIDENT<CHANNELS, DOWN> / WARPS;
    /* As many bands for each warp as it takes for all blocks to be resident at once: one wave, no idle end. */
    const int bands = ceiling_divide(down, blocks > across ? blocks / across : 1);

    blur_kernel<CHANNELS, DOWN><<<dim3(across, ceiling_divide(down, bands)), dim3(32, WARPS), 0, stream>>>(
        in, out, state.weights, state.kinds, bands);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static void (*const kernels[2][2])(const struct image &, const struct image &, const struct state &,
                                       cudaStream_t) = {{launch_kernel<1, 1>, launch_kernel<1, 2>},
                                                        {launch_kernel<3, 1>, launch_kernel<3, 2>}};
    enum status status = STATUS_OK;

    if (state->identity)
        CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, in->data, in->stride, image_row_bytes(in), in->height,
                                   cudaMemcpyDeviceToDevice, stream));
    else
        kernels[in->channels == 3][params->ksize > 17](*in, *out, *state, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->weights);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(blur, .unavailable = unavailable)
