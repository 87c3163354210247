/*
 * Idea:     One thread per sample loads a byte of each image and stores their absolute difference.
 *           Every call allocates device memory, uploads, computes, downloads and frees.
 * Expect:   Kernel 16 us at 3840x2160, 100 times as fast as cpu/serial. End to end no gain: 17 MB
 *           up and 8 MB down at 18 GB/s take 1.4 ms.
 * Result:   Kernel 61 times as fast as cpu/serial, 32.5 us
 *           (results/h100/absdiff/absdiff_3840x2160.json): memory instructions of one byte cost
 *           more than expected, as cuda/v1.2 shows.
 * Run:      make bench-absdiff VERSIONS=cpu/serial,cuda/v1.0
 */
#include "common/algo/absdiff.h"
#include "common/cuda/device.h"

struct state {
    struct image in[2], out;
};

static __global__ void absdiff_kernel(struct image a, struct image b, struct image out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (i >= out.width * out.channels || y >= out.height)
        return;
    const uint8_t *from_a = (const uint8_t *)image_row(&a, y) + i;
    const uint8_t *from_b = (const uint8_t *)image_row(&b, y) + i;
    uint8_t *to = (uint8_t *)image_row(&out, y) + i;
    *to = (uint8_t)abs(*from_a - *from_b);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct absdiff_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width * out->channels, block.x), ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    absdiff_kernel<<<grid, block, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in[0]);
    device_image_free(&state->in[1]);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct absdiff_params *params)
{
    enum status status = STATUS_OK;

    TRY(device_image_create(&state->in[0], &in[0]));
    TRY(device_image_create(&state->in[1], &in[1]));
    TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in[0], &in[0]));
    TRY(device_upload(&state->in[1], &in[1]));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(absdiff)
