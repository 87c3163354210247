/*
 * Idea:     the tensor cores leave the result of a product in just the lanes that must hold it as an operand of the
 *           next product, so the sums along the rows stay in registers and pass through no shared memory.
 * Changed:  split_sums() in place of shared memory: 4 sums of a thread become a word of high and a word of low bytes, rows in
 *           the order that the weights of the columns have. A warp gives 16 rows, and loads their halo.
 * Expect:   kernel twice as fast: 24 permutations for 512 pixels in place of 64 stores and 48 loads in shared memory.
 * Result:   9.00 us, 1.3 times v1.11 (results/h200/blur/blur_3840x2160_steps.json), not twice.
 */
/* Try: make bench-blur VERSIONS=cuda/v1.11,cuda/v1.12,cuda/v1.13 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */ };

struct state {
    struct blur_operands operands;
};

/* Parts the sums of a band into bytes, of 4 rows each: what a thread has of a result it has of an operand B. */
static __device__ void split_sums(unsigned low[2][2], unsigned high[2][2], const int sums[2][2][4])
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int tile = k / 2, half = k % 2, *above = &sums[tile][0][2 * half], *below = &sums[tile][1][2 * half];
        const unsigned rows01 = __byte_perm(above[0], above[1], 0x5140);
        const unsigned rows89 = __byte_perm(below[0], below[1], 0x5140);
        low[tile][half] = __byte_perm(rows01, rows89, 0x5410);
        high[tile][half] = __byte_perm(rows01, rows89, 0x7632);
    }
}

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void __launch_bounds__(32 * WARPS)
    blur_kernel(struct image in, struct image out, const uint4 *weights, int kinds)
{
    constexpr int LOADS = (CHANNELS + 1) / 2; /* of 64 bytes, that the sums of a strip take */
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = blur_strip_kind(strip, strips, kinds);
    const int x = strip * STRIP + 8 * member, y0 = blockIdx.y * BAND, top = y0 - 8 * DOWN + group;
    unsigned pixels[2][LOADS][4], along[2][2 * LOADS][4], down[DOWN][4], bytes[2][2];
    unsigned low[2 * DOWN][2][2] = {}, high[2 * DOWN][2][2] = {};
    uint8_t *first_out = keep_pointer((uint8_t *)out.data + x);
    const uint8_t *from[LOADS];

    if (strip >= strips)
        return;
    blur_sources<CHANNELS>(from, in, strip, member, row_bytes);
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = weights[32 * k + lane];
    blur_load_along<LOADS>(along, weights, DOWN, kind, lane);

#pragma unroll
    for (int band = 0; band <= DOWN; band++) {
        int sums[2][2][4] = {};
        blur_load_band<LOADS>(pixels, in, top + BAND * band, from);
        blur_along<LOADS>(sums, along, pixels);
        split_sums(low[band], high[band], sums);
    }
    blur_down<DOWN>(bytes, down, low, high);
    blur_store_band(out, first_out, y0 + group, x, row_bytes, bytes, true);
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    return blur_operands_create(&state->operands, in, params);
}

template <int CHANNELS, int DOWN>
static void launch_kernel(const struct image &in, const struct image &out, const struct state &state,
                          cudaStream_t stream)
{
    dim3 grid(ceiling_divide(out.width * CHANNELS, WARPS * STRIP), ceiling_divide(out.height, BAND));

    blur_kernel<CHANNELS, DOWN>
        <<<grid, dim3(32, WARPS), 0, stream>>>(in, out, state.operands.weights, state.operands.kinds);
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
