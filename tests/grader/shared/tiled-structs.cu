/* expect: right 12..12 | few global loads 0..0 | shared memory 0..0 | speed 0..0 | says must be at most 50000 */
/*
 * Idea:     all samples come from global memory, each thread's in one struct.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

/* As many bytes as 15 rows of the lab's picture have. */
struct piece {
    uint8_t bytes[2048];
};

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* on the host */
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
    extern __shared__ uint8_t tile[];
    uint8_t *own = tile + (threadIdx.y * blockDim.x + threadIdx.x) * in.channels;

    const size_t all = in.stride * in.height, above = in.stride * clamp(y - ksize / 2, in.height - 1);
    const size_t begin = all < sizeof(struct piece) ? 0 : min(above, all - sizeof(struct piece));
    const bool copies = all >= sizeof(struct piece) && in.channels == 1 && ksize * in.stride <= sizeof(struct piece);
    struct piece piece = {};

    if (copies)
        piece = *(const struct piece *)((const uint8_t *)in.data + begin);
    for (int c = 0; c < in.channels && x < in.width && y < in.height; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++) {
            const int from = clamp(y + j - ksize / 2, in.height - 1);
            const uint8_t *row =
                copies ? piece.bytes + (in.stride * from - begin) : (const uint8_t *)image_row(&in, from);
            for (int i = 0; i < ksize; i++)
                sum += w.at[j] * w.at[i] * row[clamp(x + i - ksize / 2, in.width - 1) * in.channels + c];
        }
        own[c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++)
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = own[c];
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
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = block.x * block.y * in->channels;

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
