/*
 * Problem:  cpu/serial tests the 225 positions of a 15x15 mask for each pixel, one pixel after the
 *           other.
 * Idea:     One thread per output pixel takes the maximum (dilation) of the ksize x ksize pixels
 *           around it, which it reads from global memory.
 * Expect:   Kernel over 1000 times as fast as cpu/serial: 16896 lanes compute at the same time.
 * Result:   Kernel 3850 times as fast as cpu/serial, 1.1 ms
 *           (results/h100/morphology/morphology_3840x2160.json).
 * Run:      make diff-morphology A=cpu/serial B=cuda/v1.0
 */
#include "common/algo/morphology.h"
#include "common/cuda/device.h"

struct mask {
    uint8_t at[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE];
};

struct state {
    struct mask *mask; /* in device memory */
    struct image in, between, out;
};

/* A pixel, or `outside` where the image has none. */
static __device__ int sample_at(const struct image &in, int x, int y, int outside)
{
    if (x < 0 || x >= in.width || y < 0 || y >= in.height)
        return outside;
    return ((const uint8_t *)image_row(&in, y))[x];
}

static __global__ void morphology_kernel(struct image in, struct image out, const struct mask *mask, int ksize,
                                         bool erode)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int best = erode ? 255 : 0;

    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < ksize; j++) {
        for (int i = 0; i < ksize; i++) {
            if (!mask->at[j * ksize + i])
                continue;
            int sample = sample_at(in, x + i - ksize / 2, y + j - ksize / 2, best);
            best = erode ? min(best, sample) : max(best, sample);
        }
    }
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)best;
}

static enum status setup(struct state *state, const struct image in[], const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    struct mask mask;

    if (!state->mask) {
        morphology_mask(params, mask.at);
        TRY(device_allocate((void **)&state->mask, sizeof mask));
        TRY(device_upload_bytes(state->mask, &mask, sizeof mask));
    }
    if (!state->between.data)
        TRY(device_image_create(&state->between, in));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct morphology_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = 0;
    bool erodes[2];
    const int steps = morphology_steps(params, erodes);

    for (int step = 0; step < steps; step++) {
        const struct image &from = step ? state->between : *in, &to = step + 1 < steps ? state->between : *out;
        morphology_kernel<<<grid, block, shared, stream>>>(from, to, state->mask, params->ksize, erodes[step]);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->mask);
    device_image_free(&state->in);
    device_image_free(&state->between);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct morphology_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(morphology)
