/*
 * Idea:     the sums along a row are a product of matrices: its bytes times a banded matrix of weights. One instruction
 *           of the tensor cores' int8 units makes 16 x 8 sums of 32 bytes each.
 * Changed:  the tile of bytes and the sums along it: a warp loads 16 rows and a strip of 32 bytes with their halo as operands,
 *           straight from memory, 16 bytes a lane. The border is in the weights of the outer strips. Columns stay as they are.
 * Expect:   kernel twice as fast: filling the tile and 15 * 46 / 32 = 21 taps a pixel become 8 products for 512 pixels, and a
 *           load and a multiply-add for each of 15 taps down a column remain.
 * Result:   31.7 us, 3.1 times v1.5 (results/h200/blur/blur_3840x2160_steps.json), more than expected.
 * From:     cuda/v1.5
 */
/* Try: make bench-blur VERSIONS=cuda/v1.5,cuda/v1.10,cuda/v1.11 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */, ROWS = 32 };

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
    struct blur_operands operands;
};

template <int CHANNELS, int RADIUS> /* RADIUS: the next of 3, 7, 11, 15 from the true radius on */
static __global__ void __launch_bounds__(32 * WARPS)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w, struct blur_operands ops)
{
    constexpr int LOADS = (CHANNELS + 1) / 2, DOWN = RADIUS > 8 ? 2 : 1,
                  HALO = 8 * DOWN;                                  /* LOADS: of 64 bytes of a row */
    __shared__ uint16_t sums_along[ROWS + 2 * HALO][WARPS * STRIP]; /* at most 255 * 256 each */
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = blur_strip_kind(min(strip, strips - 1), strips, ops.kinds), y0 = blockIdx.y * ROWS;
    unsigned pixels[2][LOADS][4], along[2][2 * LOADS][4];
    const uint8_t *from[LOADS];

    blur_sources<CHANNELS>(from, in, strip, member, row_bytes);
    blur_load_along<LOADS>(along, ops.weights, ops.products, kind, lane);
    for (int row = 0; row < ROWS + 2 * HALO; row += BAND) {
        int sums[2][2][4] = {};
        blur_load_band<LOADS>(pixels, in, y0 - HALO + row + group, from);
        blur_along<LOADS>(sums, along, pixels);
        for (int k = 0; k < 16; k++) { /* where an element of a result belongs: mma.cuh, weights_along() */
            const int column = threadIdx.y * STRIP + group / 2 * 8 + k / 8 * 4 + k / 2 % 2 * 2 + group % 2;
            sums_along[row + k / 4 % 2 * 8 + member * 2 + k % 2][column] = (uint16_t)sums[k / 8][k / 4 % 2][k % 4];
        }
    }
    __syncthreads();
    for (int k = threadIdx.y * 32 + lane; k < ROWS * WARPS * STRIP; k += 32 * WARPS) {
        const int row = k / (WARPS * STRIP), column = k % (WARPS * STRIP), x = blockIdx.x * WARPS * STRIP + column;
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        if (x >= row_bytes || y0 + row >= out.height)
            continue;
        for (int j = 0; j <= 2 * RADIUS; j++)
            sum += w.at[j] * sums_along[row + HALO - RADIUS + j][column];
        ((uint8_t *)image_row(&out, y0 + row))[x] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    state->weights = {};
    blur_weights(params, state->weights.at + params->ksize / 8 * 4 + 3 - params->ksize / 2);
    return blur_operands_create(&state->operands, in, params);
}

template <int CHANNELS, int RADIUS>
static void launch_kernel(const struct image &in, const struct image &out, const struct state &state,
                          cudaStream_t stream)
{
    dim3 grid(ceiling_divide(out.width * CHANNELS, WARPS * STRIP), ceiling_divide(out.height, ROWS));

    blur_kernel<CHANNELS, RADIUS><<<grid, dim3(32, WARPS), 0, stream>>>(in, out, state.weights, state.operands);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static decltype(&launch_kernel<1, 3>)
        const kernels[2][4] = {{launch_kernel<1, 3>, launch_kernel<1, 7>, launch_kernel<1, 11>, launch_kernel<1, 15>},
                               {launch_kernel<3, 3>, launch_kernel<3, 7>, launch_kernel<3, 11>, launch_kernel<3, 15>}};
    enum status status = STATUS_OK;

    if (state->operands.identity)
        return blur_copy(in, out, stream);
    kernels[in->channels == 3][params->ksize / 8](*in, *out, *state, stream);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->operands.weights);
}

RUNGS_CUDA_VERSION(blur, .unavailable = blur_tensor_unavailable)
