/* expect: right 12..12 | few global loads 3..3 | shared memory 0..0 | says shared taken */
/*
 * Idea:     no tile of a block: each thread loads, by 16 bytes, a tile of its own, into a part of shared memory that nobody else
 *           reads.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
};

struct __align__(16) four {
    unsigned at[4];
};

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ uint8_t slices[];
    const int wide = (8 + ksize - 1) * in.channels, high = 8 + ksize - 1;
    uint8_t *tile = slices + (threadIdx.y * blockDim.x + threadIdx.x) * wide * high;

    x *= 8, y *= 8;
    for (int j = 0; j < high && x < out.width && y < out.height; j++) {
        const uint8_t *row = (const uint8_t *)image_row(&in, clamp(y + j - ksize / 2, in.height - 1));
        int k = 0;
        while (k < wide) {
            const int at = (x - ksize / 2) * in.channels + k;
            if (at >= 0 && (size_t)(row + at) % 16 == 0 && k + 16 <= wide && at + 16 <= in.width * in.channels) {
                const struct four words = *(const struct four *)(row + at);
                for (int b = 0; b < 16; b++)
                    tile[j * wide + k + b] = (uint8_t)(words.at[b / 4] >> 8 * (b % 4));
                k += 16;
            } else if (at >= 0 && (size_t)(row + at) % 4 == 0 && k + 4 <= wide && at + 4 <= in.width * in.channels) {
                const unsigned v = *(const unsigned *)(row + at);
                for (int b = 0; b < 4; b++)
                    tile[j * wide + k + b] = (uint8_t)(v >> 8 * b);
                k += 4;
            } else {
                const int column = clamp(x - ksize / 2 + k / in.channels, in.width - 1);
                tile[j * wide + k] = row[column * in.channels + k % in.channels];
                k++;
            }
        }
    }
    __syncthreads();
    for (int k = 0; k < 64; k++) {
        const int u = x + k % 8, v = y + k / 8;
        for (int c = 0; c < out.channels && u < out.width && v < out.height; c++) {
            uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
            for (int j = 0; j < ksize; j++)
                for (int i = 0; i < ksize; i++)
                    sum += w.at[j] * w.at[i] * tile[(k / 8 + j) * wide + (k % 8 + i) * in.channels + c];
            ((uint8_t *)image_row(&out, v))[u * out.channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
        }
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const size_t slice = (size_t)(8 + params->ksize - 1) * (8 + params->ksize - 1) * in->channels;
    dim3 block(slice > 12000 ? 2 : 4, 2);
    dim3 grid(ceiling_divide(ceiling_divide(out->width, 8), block.x), ceiling_divide(ceiling_divide(out->height, 8), block.y));
    size_t shared = slice * block.x * block.y;

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
