/*
 * Problem:  In cuda/v1.3 a call takes 1.9 ms, its kernel 7.5 us: one thread of the driver copies
 *           17 MB to and from page-locked memory, 9 GB/s, and the bus waits for it.
 * Idea:     Staged copies: all threads of the host copy bands of rows through page-locked memory
 *           of our own, a band while the bus carries the one before. Otsu's value needs all rows.
 * Expect:   5 times as fast end to end, 0.36 ms: 8.3 MB take the bus 0.15 ms each way at 55 GB/s,
 *           and one band each way is copied while nothing is on the bus, 0.02 ms.
 * Result:   3.3 times, 0.49 ms (results/h200/threshold/threshold_3840x2160_staged.json).
 * Run:      make diff-threshold A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/threshold.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu_step.h"
#include "common/cuda/streams_queue.h"

struct state {
    struct otsu_step otsu;
};

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

/* found: where otsu left its threshold, or NULL. */
static __global__ void threshold_kernel(struct image in, struct image out, int value, const int *found)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 16, bytes = out.width * out.channels;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= bytes || y >= out.height)
        return;
    if (found)
        value = *found;
    /* Rows start at a multiple of 64 bytes, and a row may be read to the next one after its end, but not written. */
    uint4 chunk = *(const uint4 *)((const uint8_t *)image_row(&in, y) + x);
    uint8_t *to = (uint8_t *)image_row(&out, y) + x;
    unsigned values = 0x01010101u * value;
    unsigned results[4] = {__vcmpgtu4(chunk.x, values), __vcmpgtu4(chunk.y, values), __vcmpgtu4(chunk.z, values),
                           __vcmpgtu4(chunk.w, values)};
    if (x + 16 <= bytes)
        *(uint4 *)to = make_uint4(results[0], results[1], results[2], results[3]);
    else
        for (int i = 0; i < bytes - x; i++)
            to[i] = (uint8_t)(results[i / 4] >> 8 * (i % 4));
}

static enum status setup(struct state *state, const struct image in[], const struct threshold_params *params)
{
    return params->value == THRESHOLD_OTSU ? otsu_step_setup(&state->otsu, "cuda/v2.0", in) : STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct threshold_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(out->width * out->channels, block.x * 16), ceiling_divide(out->height, block.y));

    if (params->value == THRESHOLD_OTSU)
        TRY(otsu_step_launch(&state->otsu, in, stream));
    threshold_kernel<<<grid, block, 0, stream>>>(*in, *out, params->value, (const int *)state->otsu.result.data);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    otsu_step_teardown(&state->otsu);
}

RUNGS_CUDA_VERSION(threshold, .tunables = tunables, .illegal = illegal, .staged = true, .queue = &streams_queue)
