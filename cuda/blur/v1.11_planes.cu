/*
 * Idea:     the sums down the columns are a product with a banded matrix, too. The units take bytes, so each 16-bit sum
 *           is split into its high and its low byte, and each of the two is multiplied.
 * Changed:  the second pass. Sums along rows lie in shared memory as a plane of high bytes and one of low bytes; each goes
 *           through a product with the weights of the columns, and 256 times the one plus the other is the sum. A halo of up
 *           to 8 rows takes one product of 32 rows, a wider one two. A warp waits for none but itself.
 * Expect:   kernel 1.5 times as fast: 8 products for 512 pixels in place of 15 multiply-adds for each; but sums go to shared
 *           memory byte by byte, and 2 bytes at a time back.
 * Result:   12.0 us, 2.6 times v1.10 (results/h200/blur/blur_3840x2160_steps.json): probably what goes through
 *           shared memory costs less than multiply-adds.
 */
/* Try: make bench-blur VERSIONS=cuda/v1.10,cuda/v1.11,cuda/v1.12 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */, ROWS = 32 };

struct state {
    struct blur_operands operands;
};

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void __launch_bounds__(32 * WARPS)
    blur_kernel(struct image in, struct image out, const uint4 *weights, int kinds)
{
    constexpr int LOADS = (CHANNELS + 1) / 2; /* of 64 bytes, that the sums of a strip take */
    __shared__ __align__(4)
        uint8_t planes[2][WARPS * STRIP][ROWS + 16 * DOWN]; /* upper and lower bytes of the sums along rows */
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = blur_strip_kind(strip, strips, kinds), y0 = blockIdx.y * ROWS;
    unsigned pixels[2][LOADS][4], along[2][2 * LOADS][4], down[DOWN][4], bytes[2][2];
    unsigned low[2 * DOWN][2][2] = {}, high[2 * DOWN][2][2] = {};
    const uint8_t *from[LOADS];

    if (strip >= strips)
        return;
    blur_sources<CHANNELS>(from, in, strip, member, row_bytes);
    blur_load_along<LOADS>(along, weights, DOWN, kind, lane);
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = weights[32 * k + lane];
    for (int row = 0; row < ROWS + 16 * DOWN; row += BAND) {
        int sums[2][2][4] = {};
        blur_load_band<LOADS>(pixels, in, y0 - 8 * DOWN + row + group, from);
        blur_along<LOADS>(sums, along, pixels);
        for (int k = 0; k < 16; k++) { /* where an element of a result belongs: mma.cuh */
            const int sum = sums[k / 8][k / 4 % 2][k % 4],
                      column = threadIdx.y * STRIP + k / 8 * 16 + k / 2 % 2 * 8 + group;
            planes[0][column][row + k / 4 % 2 * 8 + member * 2 + k % 2] = (uint8_t)sum;
            planes[1][column][row + k / 4 % 2 * 8 + member * 2 + k % 2] = (uint8_t)(sum >> 8);
        }
    }
    __syncwarp();
    for (int row = 0; row < ROWS; row += BAND) {
        for (int k = 0; k < 4 * (DOWN + 1);
             k++) { /* 4 bytes of an operand: rows 0, 1, 8 and 9 from row 2 * member on */
            const int column = threadIdx.y * STRIP + k % 4 * 8 + group, first = row + k / 4 * BAND + 2 * member;
            const uint16_t *lower = (const uint16_t *)&planes[0][column][first],
                           *upper = (const uint16_t *)&planes[1][column][first];
            low[k / 4][k / 2 % 2][k % 2] = lower[0] | lower[4] << 16;
            high[k / 4][k / 2 % 2][k % 2] = upper[0] | upper[4] << 16;
        }
        blur_down<DOWN>(bytes, down, low, high);
        blur_store_band(out, (uint8_t *)out.data + strip * STRIP + 8 * member, y0 + row + group,
                        strip * STRIP + 8 * member, row_bytes, bytes, true);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    return blur_operands_create(&state->operands, in, params);
}

template <int CHANNELS, int DOWN>
static void launch_kernel(const struct image &in, const struct image &out, const struct state &state,
                          cudaStream_t stream)
{
    dim3 grid(ceiling_divide(out.width * CHANNELS, WARPS * STRIP), ceiling_divide(out.height, ROWS));

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
