/* expect: right 0..0 | few global loads 0..0 | shared memory 0..0 | speed 0..0 | says memory of the host */
/*
 * Idea:     samples come from memory of malloc(), which no GPU can reach, and nobody counts it.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* on the host */
    struct image copy;      /* on the host, too: no pointer among a kernel's arguments, but in a struct */
};

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __device__ int value_of(const uint8_t *at)
{
    return *at;
}

/* The emulator looks at pointers and at images. */
struct hidden {
    struct image in;
};

static __global__ void blur_kernel(struct hidden hidden, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    const struct image in = hidden.in;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ uint8_t tile[];
    uint8_t *own = tile + (threadIdx.y * blockDim.x + threadIdx.x) * in.channels;

    for (int c = 0; c < in.channels && x < in.width && y < in.height; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++) {
            const uint8_t *row = (const uint8_t *)image_row(&in, clamp(y + j - ksize / 2, in.height - 1));
            for (int i = 0; i < ksize; i++)
                sum += w.at[j] * w.at[i] * value_of(&row[clamp(x + i - ksize / 2, in.width - 1) * in.channels + c]);
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
    const struct hidden hidden = {state->copy.data ? state->copy : *in};

    blur_kernel<<<grid, block, shared, stream>>>(hidden, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out, const struct blur_params *params)
{
    enum status status = STATUS_OK;
    struct image result = {};

    state->copy = *in;
    state->copy.data = malloc(in->stride * (size_t)in->height);
    for (int y = 0; y < in->height; y++)
        memcpy(image_row(&state->copy, y), image_row(in, y), image_row_bytes(in));
    TRY(device_image_create(&result, out));
    TRY(setup(state, in, params));
    TRY(launch(state, in, &result, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &result));
out:
    device_image_free(&result);
    free(state->copy.data);
    state->copy = {};
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(blur)
