/*
 * Problem:  22 of 37 multiply-adds per pixel go along rows, each with a shared-memory load.
 * Idea:     Sums along a row are a matrix product: bytes times a banded matrix, which has the
 *           weights around its diagonal. One tensor-core instruction makes 16 x 8 sums
 *           (shared/tensor.cuh), so these multiply-adds and loads go.
 * Expect:   2.5 times as fast: 15 of 37 multiply-adds remain, those down the columns.
 * Result:   3.7 times as fast as cuda/v2.0, 46.6 us (results/h100/blur/blur_3840x2160.json),
 *           probably because the loads from shared memory go, too.
 * Run:      make diff-blur A=cuda/v2.0 B=cuda/v2.1
 */
#include "cuda/blur/shared/tensor.cuh"

enum { WARPS = 4 /* of a block, a strip each */, ROWS = 32, MAX_HALO = 16 };

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
    uint4 *matrices;        /* in device memory, a uint4 a lane: [kind of strip][tile][step] */
};

template <int CHANNELS>
static __global__ void __launch_bounds__(32 * WARPS)
    blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w, int ksize,
                const uint4 *matrices)
{
    constexpr int LOADS = (CHANNELS + 1) / 2; /* of 64 bytes, that the sums of a strip take */
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4, row_bytes = in.width * CHANNELS;
    const int strip = blockIdx.x * WARPS + threadIdx.y, strips = (row_bytes + STRIP - 1) / STRIP;
    const int kind = max(min(strip, LEFT_STRIPS), min(strip, strips - 1) - max(strips - KINDS, 0));
    const int y = blockIdx.y * ROWS, halo = ksize > 17 ? MAX_HALO : 8;
    __shared__ uint16_t along[ROWS + 2 * MAX_HALO][WARPS * STRIP]; /* at most 255 * 256 each */
    unsigned weights[2][2 * LOADS][4], pixels[2][LOADS][4];
    const uint8_t *from[LOADS];

    for (int k = 0; k < LOADS; k++)
        from[k] = (const uint8_t *)in.data +
                  border_source(strip * STRIP - 16 * CHANNELS + 64 * k + 16 * member, row_bytes, 16);
    for (int k = 0; k < 4 * LOADS; k++)
        *(uint4 *)weights[k / (2 * LOADS)][k % (2 * LOADS)] = matrices[32 * (MATRICES * kind + k) + lane];
    for (int row = 0; row < ROWS + 2 * halo; row += BAND) {
        int sums[2][2][4] = {};
        blur_load_band<LOADS>(pixels, in, y - halo + row + group, from);
        for (int k = 0; k < 2 * LOADS; k++)
            for (int tile = 0; tile < 2; tile++)
                for (int half = 0; half < 2; half++)
                    mma_m16n8k32_u8(sums[tile][half], weights[tile][k], &pixels[half][k / 2][2 * (k % 2)],
                                    sums[tile][half]);
        for (int k = 0; k < 16; k++) { /* where an element of a result belongs: mma.cuh, blur_matrices() */
            int column = threadIdx.y * STRIP + group / 2 * 8 + k / 8 * 4 + k / 2 % 2 * 2 + group % 2;
            along[row + k / 4 % 2 * 8 + member * 2 + k % 2][column] = (uint16_t)sums[k / 8][k / 4 % 2][k % 4];
        }
    }
    __syncthreads();
    const int column = threadIdx.y * STRIP + lane, x = strip * STRIP + lane;
    for (int row = 0; row < ROWS && x < row_bytes && y + row < out.height; row++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++)
            sum += w.at[j] * along[row + halo - ksize / 2 + j][column];
        ((uint8_t *)image_row(&out, y + row))[x] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    const int strips = ceiling_divide(in->width * in->channels, STRIP);
    uint8_t matrices[KINDS][MATRICES][32][16] = {};

    blur_weights(params, state->weights.at);
    if (state->matrices)
        return STATUS_OK;
    for (int kind = 0; kind < KINDS && kind < strips; kind++)
        blur_matrices(matrices[kind], in, state->weights.at, params->ksize,
                      kind > LEFT_STRIPS && strips > KINDS ? kind + strips - KINDS : kind);
    TRY(device_allocate((void **)&state->matrices, sizeof matrices));
    TRY(device_upload_bytes(state->matrices, matrices, sizeof matrices));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, WARPS);
    dim3 grid(ceiling_divide(out->width * out->channels, WARPS * STRIP), ceiling_divide(out->height, ROWS));

    if (state->weights.at[params->ksize / 2] == 256) /* no byte; all others are 0, and the result is the image */
        CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, in->data, in->stride, image_row_bytes(in), in->height,
                                   cudaMemcpyDeviceToDevice, stream));
    else if (in->channels == 1)
        blur_kernel<1><<<grid, block, 0, stream>>>(*in, *out, state->weights, params->ksize, state->matrices);
    else
        blur_kernel<3><<<grid, block, 0, stream>>>(*in, *out, state->weights, params->ksize, state->matrices);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->matrices);
}

RUNGS_CUDA_VERSION(blur, .unavailable = blur_tensor_unavailable)
