/*
 * Idea:     both passes are products with a banded matrix of weights, done by the int8 units of the tensor cores.
 * Changed:  the kernel. Along rows first, from bytes as they come from memory; the result registers of that product,
 *           split into high and low bytes, are operands of the next. No shared memory, no barrier, no shuffle.
 * Expect:   kernel from arithmetic to memory as its limit, 10 us to 6 at 3840x2160: 16 products of 4096 MACs, 44 byte
 *           permutes and sums and 4 loads for 512 pixels are 5 instructions a pixel in place of 25.
 */
/* Try: make bench-blur VERSIONS=cuda/v2.0,cuda/v2.1,peer/npp */
#include "common/algo/blur.h"
#include "common/cuda/border.cuh"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

/* A warp gives 32 bytes x BANDS * 16 rows. */
enum { BANDS = 3, WARP_BYTES = 32, WARPS_ACROSS = 4, WARPS_DOWN = 1 };

struct state {
    uint4 *weights; /* device: the A operands of the products, [matrix][lane] */
    bool identity;
    struct image in, out;
};

/* DOWN: products of 32 rows that a sum down a column takes, 1 up to radius 8, else 2. It starts 8 * DOWN rows above. */
template <int CHANNELS, int DOWN>
static __global__ void blur_kernel(struct image in, struct image out, const uint4 *weights)
{
    constexpr int LEFT = 16 * CHANNELS,
                  LOADS = (CHANNELS + 1) / 2; /* a product's window: 64 * LOADS from x0 - LEFT on */
    constexpr int READ = BANDS + DOWN;
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int x0 = (blockIdx.x * WARPS_ACROSS + threadIdx.y) * WARP_BYTES;
    const int y0 = (blockIdx.y * WARPS_DOWN + threadIdx.z) * BANDS * 16;

    if (x0 >= row_bytes || y0 >= in.height)
        return;

    unsigned pixels[READ][2][LOADS][4]; /* of row 16 * band + 8 * half + group: 16 bytes at 64 * load + 16 * member */
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int source = border_source(x0 - LEFT + 64 * load + 16 * member, row_bytes, 16);
#pragma unroll
        for (int band = 0; band < READ; band++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int y = min(max(y0 - 8 * DOWN + 16 * band + 8 * half + group, 0), in.height - 1);
                *(uint4 *)pixels[band][half][load] = *(const uint4 *)(device_row(in, y) + source);
            }
    }
    unsigned along[2][2 * LOADS][4], down[DOWN][4];
#pragma unroll
    for (int k = 0; k < 4 * LOADS; k++)
        *(uint4 *)along[k / (2 * LOADS)][k % (2 * LOADS)] = weights[32 * k + lane];
#pragma unroll
    for (int k = 0; k < DOWN; k++)
        *(uint4 *)down[k] = weights[32 * (4 * LOADS + k) + lane];

    if (x0 < LEFT || x0 - LEFT + 64 * LOADS > row_bytes)
#pragma unroll
        for (int k = 0; k < 4 * LOADS; k++) {
            const int offset = x0 - LEFT + 64 * (k / 4) + 16 * member + 4 * (k % 4);
            const unsigned select = border_select<CHANNELS>(offset, row_bytes);
#pragma unroll
            for (int band = 0; band < READ; band++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int y = min(max(y0 - 8 * DOWN + 16 * band + 8 * half + group, 0), in.height - 1);
                    unsigned *word = &pixels[band][half][k / 4][k % 4];
                    *word = __byte_perm(*word, border_pixel<CHANNELS>(device_row(in, y), offset, row_bytes), select);
                }
        }

    unsigned low[READ + DOWN - 1][2][2] = {}, high[READ + DOWN - 1][2][2] = {}; /* [band][tile][half]: 4 rows' bytes */
#pragma unroll
    for (int band = 0; band < READ; band++) {
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
            int sums[2][4] = {};
#pragma unroll
            for (int half = 0; half < 2; half++)
#pragma unroll
                for (int k = 0; k < 2 * LOADS; k++)
                    mma_m16n8k32_u8(sums[half], along[tile][k], &pixels[band][half][k / 2][2 * (k % 2)], sums[half]);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const unsigned top = __byte_perm(sums[0][2 * half], sums[0][2 * half + 1], 0x5140);
                const unsigned bottom = __byte_perm(sums[1][2 * half], sums[1][2 * half + 1], 0x5140);
                low[band][tile][half] = __byte_perm(top, bottom, 0x5410);
                high[band][tile][half] = __byte_perm(top, bottom, 0x7632);
            }
        }
        const int ready = band - DOWN;
        if (ready < 0)
            continue;
        unsigned bytes[2][2]; /* [row / 8][tile] */
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
            int sums[2][4];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int upper[4] = {}, lower[4] = {1 << 15, 1 << 15, 1 << 15, 1 << 15};
#pragma unroll
                for (int k = 0; k < DOWN; k++) {
                    const unsigned highs[2] = {high[ready + 2 * k][tile][half], high[ready + 2 * k + 1][tile][half]};
                    const unsigned lows[2] = {low[ready + 2 * k][tile][half], low[ready + 2 * k + 1][tile][half]};
                    mma_m16n8k32_u8(upper, down[k], highs, upper);
                    mma_m16n8k32_u8(lower, down[k], lows, lower);
                }
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sums[half][k] = 256 * upper[k] + lower[k];
            }
#pragma unroll
            for (int k = 0; k < 2; k++)
                bytes[k][tile] = __byte_perm(__byte_perm(sums[0][2 * k], sums[0][2 * k + 1], 0x0062),
                                             __byte_perm(sums[1][2 * k], sums[1][2 * k + 1], 0x0062), 0x5410);
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int y = y0 + 16 * ready + 8 * k + group, x = x0 + 8 * member;
            uint8_t *to = device_row(out, y) + x;
            if (y < out.height && x + 8 <= row_bytes)
                *(uint2 *)to = make_uint2(bytes[k][0], bytes[k][1]);
            else if (y < out.height)
                for (int b = 0; b < row_bytes - x; b++)
                    to[b] = (uint8_t)((b < 4 ? bytes[k][0] : bytes[k][1]) >> 8 * (b % 4));
        }
    }
}

/* The weight of a sample `distance` pixels away, 0 where that is none. */
static uint8_t weight_at(const uint16_t *weights, int ksize, int distance, int channels)
{
    const int k = distance / channels + ksize / 2;

    return distance % channels == 0 && k >= 0 && k < ksize ? (uint8_t)weights[k] : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    const int channels = in->channels, steps = (channels + 1) / 2 * 2, products = params->ksize > 17 ? 2 : 1;
    uint16_t weights[BLUR_MAX_KSIZE];
    uint8_t matrices[2 * 4 + 2][32][16];

    if (state->weights)
        return STATUS_OK;
    blur_weights(params, weights);
    state->identity = weights[params->ksize / 2] == 256; /* the others are 0; 256 is the one weight that is no byte */
    for (int k = 0; k < 32 * 16; k++) {
        const int lane = k / 16, member = lane % 4, r = k % 16 / 4, b = k % 4, m = lane / 4 + 8 * (r & 1);
        /* The order of the products' rows and columns is free. Sums: thread `member` shall end up with 8 neighbouring
         * bytes. What is summed: as the load leaves it along a row, as the first product leaves it down a column. */
        for (int tile = 0; tile < 2; tile++)
            for (int step = 0; step < steps; step++)
                matrices[tile * steps + step][lane][k % 16] =
                    weight_at(weights, params->ksize,
                              64 * (step / 2) + 16 * member + 8 * (step % 2) + 4 * (r >> 1) + b - 16 * channels -
                                  (m % 8 / 2 * 8 + 4 * tile + m / 8 * 2 + m % 2),
                              channels);
        for (int product = 0; product < products; product++)
            matrices[2 * steps + product][lane][k % 16] =
                weight_at(weights, params->ksize,
                          32 * product + 16 * (r >> 1) + b / 2 * 8 + 2 * member + b % 2 - 8 * products - m, 1);
    }
    TRY(device_allocate((void **)&state->weights, sizeof matrices));
    TRY(device_upload_bytes(state->weights, matrices, (2 * steps + products) * sizeof matrices[0]));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    static void (*const kernels[2][2])(struct image, struct image, const uint4 *) = {
        {blur_kernel<1, 1>, blur_kernel<1, 2>}, {blur_kernel<3, 1>, blur_kernel<3, 2>}};
    enum status status = STATUS_OK;
    dim3 block(32, WARPS_ACROSS, WARPS_DOWN);
    dim3 grid(ceiling_divide(out->width * out->channels, WARPS_ACROSS * WARP_BYTES),
              ceiling_divide(out->height, WARPS_DOWN * BANDS * 16));

    if (state->identity)
        CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, in->data, in->stride, image_row_bytes(in), in->height,
                                   cudaMemcpyDeviceToDevice, stream));
    else
        kernels[in->channels == 3][params->ksize > 17]<<<grid, block, 0, stream>>>(*in, *out, state->weights);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->weights);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(blur, .unavailable = unavailable)
