/*
 * Idea:     a warp loads the next bands while it works on the present one, so that it need not wait for memory at each
 *           band.
 * Changed:  a warp keeps 4 bands in registers (RGB 2, or 1 with a wide halo), and loads into each as soon as its product is
 *           done. It goes down far enough that all blocks are resident at once: one wave, as many bands as that takes.
 * Expect:   kernel from latency to memory as its limit, 1.5 times v1.13: at 3840x2160 some 6 us, where a copy takes 5.4.
 *           A warp of v1.13 has 1 KB under way and waits for it; 16 warps a multiprocessor now have 64 KB.
 * Result:   7.8 us, 1.43 times v1.13 (results/h200/blur/blur_3840x2160_steps.json): 31 times as fast as NPP, and half
 *           of the speed of a copy that reads and writes.
 * From:     cuda/v1.13
 */
/* Try: make bench-blur VERSIONS=cuda/v2.0,cuda/v1.13,cuda/v2.1,peer/npp */
#include "common/algo/blur.h"
#include "common/cuda/device.h"
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */ };
/* Warps that a multiprocessor's 65536 registers allow, and bands that a warp loads before it needs them. */
template <int CHANNELS, int DOWN> constexpr int RESIDENT = CHANNELS + DOWN == 2 ? 16 : 12;
template <int CHANNELS, int DOWN> constexpr int AHEAD = CHANNELS + DOWN == 2 ? 4 : CHANNELS + DOWN == 5 ? 1 : 2;

struct state {
    struct blur_operands operands;
    int multiprocessors;
};

/* Moves the bands up by one and puts the latest sums below them, parted into bytes: [band][tile][half], 4 rows each. */
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

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void __launch_bounds__(32 * WARPS, RESIDENT<CHANNELS, DOWN> / WARPS)
    blur_kernel(struct image in, struct image out, const uint4 *weights, int kinds, int bands)
{
    constexpr int LOADS = (CHANNELS + 1) / 2; /* of 64 bytes, that the sums of a strip take */
    constexpr int SLOTS = AHEAD<CHANNELS, DOWN>;
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = blur_strip_kind(strip, strips, kinds);
    const int x = strip * STRIP + 8 * member, y0 = blockIdx.y * bands * BAND, top = y0 - 8 * DOWN + group;
    const int end = min(bands, (in.height - y0 + BAND - 1) / BAND) + DOWN;
    unsigned pixels[SLOTS][2][LOADS][4], along[2][2 * LOADS][4], down[DOWN][4];
    unsigned low[2 * DOWN][2][2] = {}, high[2 * DOWN][2][2] = {};
    uint8_t *first_out = keep_pointer((uint8_t *)out.data + x);
    const uint8_t *from[LOADS];

    if (strip >= strips)
        return;
    blur_sources<CHANNELS>(from, in, strip, member, row_bytes);
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        blur_load_band<LOADS>(pixels[k], in, top + BAND * k, from);
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = weights[32 * k + lane];
    blur_load_along<LOADS>(along, weights, DOWN, kind, lane);

    for (int first = 0; first < end; first += SLOTS)
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            const int band = first + slot;
            int sums[2][2][4] = {};
            unsigned bytes[2][2];
            if (band >= end)
                return;
            blur_along<LOADS>(sums, along, pixels[slot]);
            if (band + SLOTS < end)
                blur_load_band<LOADS>(pixels[slot], in, top + BAND * (band + SLOTS), from);
            push_band<DOWN>(low, high, sums);
            blur_down<DOWN>(bytes, down, low, high);
            blur_store_band(out, first_out, y0 + BAND * (band - DOWN) + group, x, row_bytes, bytes, band >= DOWN);
        }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    int device = 0;

    TRY(blur_operands_create(&state->operands, in, params));
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

    blur_kernel<CHANNELS, DOWN><<<dim3(across, ceiling_divide(down, bands)), dim3(32, WARPS), 0, stream>>>(
        in, out, state.operands.weights, state.operands.kinds, bands);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static decltype(&launch_kernel<1, 1>)
        const kernels[2][2] = {{launch_kernel<1, 1>, launch_kernel<1, 2>}, {launch_kernel<3, 1>, launch_kernel<3, 2>}};
    enum status status = STATUS_OK;

    if (state->operands.identity)
        return blur_copy(in, out, stream);
    kernels[in->channels == 3][params->ksize > 17](*in, *out, *state, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->operands.weights);
}

RUNGS_CUDA_VERSION(blur, .unavailable = blur_tensor_unavailable)
