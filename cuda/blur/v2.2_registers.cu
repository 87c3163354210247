/*
 * Problem:  Sums down columns take 15 loads and multiply-adds per pixel, and wait at a barrier.
 * Idea:     Tensor cores sum down columns, too: one product for the high bytes of the sums, one for
 *           the low. Each lane already has the sums that its next operand needs, so they stay in
 *           registers. A warp walks down its strip and prefetches 4 bands of 16 rows.
 * Expect:   6 us at 3840x2160: loads overlap with work, so bandwidth limits; a copy takes 5.4 us.
 * Result:   5.2 times as fast as cuda/v2.1, 8.9 us (results/h100/blur/blur_3840x2160.json); why it
 *           is not 6 us is not known.
 * Run:      make bench-blur VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2,peer/npp
 */
#include "common/cuda/bytes.cuh"
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */ };
/* Warps that a multiprocessor's 65536 registers allow, and bands that a warp loads before it needs them. */
template <int CHANNELS, int DOWN> constexpr int RESIDENT = CHANNELS + DOWN == 2 ? 16 : 12;
template <int CHANNELS, int DOWN> constexpr int AHEAD = CHANNELS + DOWN == 2 ? 4 : CHANNELS + DOWN == 5 ? 1 : 2;

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights;
    uint4 *matrices; /* in device memory, a uint4 a lane: [kind of strip][tile][step], then those of the columns */
    int multiprocessors;
};

/* Moves the bands up by one and puts the latest sums below them, as low and high bytes: [band][tile][half].
 *
 *     a thread has of a result D       rows 2m, 2m + 1 of both halves of the band, in one column
 *     the next product's operand B     needs 4 rows of one column in a word: these 4, so no lane needs another's sums
 */
template <int DOWN>
static __device__ void push_band(unsigned low[][2][2], unsigned high[][2][2], const int sums[2][2][4])
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int tile = k / 2, half = k % 2, *above = &sums[tile][0][2 * half], *below = &sums[tile][1][2 * half];
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
}

/* Sums down the columns of bands: bytes[row / 8][tile] of the result; the first band lies 8 * DOWN rows above it. */
template <int DOWN>
static __device__ void blur_down(unsigned bytes[2][2], const unsigned down[DOWN][4], const unsigned low[2 * DOWN][2][2],
                                 const unsigned high[2 * DOWN][2][2])
{
    for (int tile = 0; tile < 2; tile++) {
        int results[2][4];
        for (int half = 0; half < 2; half++) {
            int upper[4] = {}, lower[4] = {1 << 15, 1 << 15, 1 << 15, 1 << 15};
            for (int k = 0; k < DOWN; k++) {
                const unsigned highs[2] = {high[2 * k][tile][half], high[2 * k + 1][tile][half]};
                const unsigned lows[2] = {low[2 * k][tile][half], low[2 * k + 1][tile][half]};
                mma_m16n8k32_u8(upper, down[k], highs, upper);
                mma_m16n8k32_u8(lower, down[k], lows, lower);
            }
            for (int k = 0; k < 4; k++)
                results[half][k] = 256 * upper[k] + lower[k];
        }
        for (int k = 0; k < 2; k++)
            bytes[k][tile] =
                pack_byte2(results[0][2 * k], results[0][2 * k + 1], results[1][2 * k], results[1][2 * k + 1]);
    }
}

/* Rows y and y + 8 of the result, 8 bytes each from byte x on, those that the image has. */
static __device__ void store_band(const struct image &out, uint8_t *first, int y, int x, int row_bytes,
                                  const unsigned bytes[2][2])
{
    for (int k = 0; k < 2; k++) {
        uint8_t *to = device_row(first, out.stride, y + 8 * k);
        if (y + 8 * k >= out.height)
            continue;
        if (x + 8 <= row_bytes)
            *(uint2 *)to = make_uint2(bytes[k][0], bytes[k][1]);
        else
#pragma unroll 1 /* rare: unrolled, it makes the kernel slower */
            for (int b = 0; b < row_bytes - x; b++)
                to[b] = (uint8_t)((b < 4 ? bytes[k][0] : bytes[k][1]) >> 8 * (b % 4));
    }
}

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void __launch_bounds__(32 * WARPS, RESIDENT<CHANNELS, DOWN> / WARPS)
    blur_kernel(struct image in, struct image out, const uint4 *matrices, int bands)
{
    constexpr int LOADS = (CHANNELS + 1) / 2; /* of 64 bytes, that the sums of a strip take */
    constexpr int SLOTS = AHEAD<CHANNELS, DOWN>;
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = max(min(strip, LEFT_STRIPS), min(strip, strips - 1) - max(strips - KINDS, 0));
    const int x = strip * STRIP + 8 * member, y = blockIdx.y * bands * BAND, top = y - 8 * DOWN + group;
    const int end = min(bands, (in.height - y + BAND - 1) / BAND) + DOWN;
    unsigned weights[2][2 * LOADS][4], down[DOWN][4], pixels[SLOTS][2][LOADS][4];
    unsigned low[2 * DOWN][2][2] = {}, high[2 * DOWN][2][2] = {};
    uint8_t *first_out = keep_pointer((uint8_t *)out.data + x);
    const uint8_t *from[LOADS];

    if (strip >= strips)
        return;
    for (int k = 0; k < LOADS; k++)
        from[k] = keep_pointer((const uint8_t *)in.data +
                               border_source(strip * STRIP - 16 * CHANNELS + 64 * k + 16 * member, row_bytes, 16));
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++)
        blur_load_band<LOADS>(pixels[slot], in, top + BAND * slot, from);
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = matrices[32 * (MATRICES * KINDS + k) + lane];
    for (int k = 0; k < 4 * LOADS; k++)
        *(uint4 *)weights[k / (2 * LOADS)][k % (2 * LOADS)] = matrices[32 * (MATRICES * kind + k) + lane];
    for (int first = 0; first < end; first += SLOTS)
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            const int band = first + slot;
            int sums[2][2][4] = {};
            unsigned bytes[2][2];
            if (band >= end)
                return;
            for (int k = 0; k < 2 * LOADS; k++)
                for (int tile = 0; tile < 2; tile++)
                    for (int half = 0; half < 2; half++)
                        mma_m16n8k32_u8(sums[tile][half], weights[tile][k], &pixels[slot][half][k / 2][2 * (k % 2)],
                                        sums[tile][half]);
            if (band + SLOTS < end)
                blur_load_band<LOADS>(pixels[slot], in, top + BAND * (band + SLOTS), from);
            push_band<DOWN>(low, high, sums);
            blur_down<DOWN>(bytes, down, low, high);
            if (band >= DOWN)
                store_band(out, first_out, y + BAND * (band - DOWN) + group, x, row_bytes, bytes);
        }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    const int strips = ceiling_divide(in->width * in->channels, STRIP), ksize = params->ksize;
    uint8_t matrices[KINDS + 1][MATRICES][32][16] = {};
    int device = 0;

    blur_weights(params, state->weights.at);
    if (state->matrices)
        return STATUS_OK;
    for (int kind = 0; kind < KINDS && kind < strips; kind++)
        blur_matrices(matrices[kind], in, state->weights.at, params->ksize,
                      kind > LEFT_STRIPS && strips > KINDS ? kind + strips - KINDS : kind);
    /* Columns of the weights: in the order in which the first product leaves the rows of two bands. */
    for (int k = 0; k < 16 * ksize; k++) {
        const int m = k / ksize, tap = k % ksize, row = m + tap - ksize / 2 + (ksize > 17 ? 16 : 8);
        const int column = row % 32 / 16 * 16 + row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2;
        *mma_element_a(matrices[KINDS][row / 32], m, column) = (uint8_t)state->weights.at[tap];
    }
    TRY(device_allocate((void **)&state->matrices, sizeof matrices));
    TRY(device_upload_bytes(state->matrices, matrices, sizeof matrices));
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
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
    dim3 block(32, WARPS);
    dim3 grid(across, ceiling_divide(down, bands));

    blur_kernel<CHANNELS, DOWN><<<grid, block, 0, stream>>>(in, out, state.matrices, bands);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static decltype(&launch_kernel<1, 1>)
        const kernels[2][2] = {{launch_kernel<1, 1>, launch_kernel<1, 2>}, {launch_kernel<3, 1>, launch_kernel<3, 2>}};
    enum status status = STATUS_OK;

    if (state->weights.at[params->ksize / 2] == 256) /* no byte; all others are 0, and the result is the image */
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
    device_free(state->matrices);
}

RUNGS_CUDA_VERSION(blur, .unavailable = blur_tensor_unavailable, .staged = true)
