/*
 * Problem:  In cuda/v1.3 a call takes 3.2 ms, its kernel 10 us: one thread of the driver copies 25
 *           MB to and from page-locked memory, 8 GB/s, and the bus waits for it.
 * Idea:     Staged copies by rows: all threads of the host copy bands of rows through page-locked
 *           memory of our own; one band is uploaded, one computed, one downloaded at a time.
 * Expect:   8 times as fast end to end, 0.4 ms: both pictures take the bus 0.30 ms at 55 GB/s; of
 *           the way back only the last band shows, and of the host's copies the first and the last.
 * Result:   4.5 times, 0.58 ms (results/h200/absdiff/absdiff_3840x2160_staged.json).
 * Run:      make diff-absdiff A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/absdiff.h"
#include "common/cuda/device.h"

struct state {
};

enum { SAMPLES = 16 /* of a thread: 2 loads and 1 store of 16 bytes */ };

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

static __global__ void absdiff_kernel(struct image a, struct image b, struct image out)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * SAMPLES;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (i >= out.width * out.channels || y >= out.height)
        return;
    const uint8_t *from_a = (const uint8_t *)image_row(&a, y) + i;
    const uint8_t *from_b = (const uint8_t *)image_row(&b, y) + i;
    uint8_t *to = (uint8_t *)image_row(&out, y) + i;
    uint4 left = *(const uint4 *)from_a, right = *(const uint4 *)from_b; /* all 16 may be read (image.h) */
    unsigned words[4] = {__vabsdiffu4(left.x, right.x), __vabsdiffu4(left.y, right.y), __vabsdiffu4(left.z, right.z),
                         __vabsdiffu4(left.w, right.w)};
    if (i + SAMPLES <= out.width * out.channels)
        *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
    else
#pragma unroll
        for (int k = 0; k < SAMPLES; k++) /* writing past the last sample is not legal */
            if (i + k < out.width * out.channels)
                to[k] = (uint8_t)(words[k / 4] >> 8 * (k % 4));
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct absdiff_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(ceiling_divide(out->width * out->channels, SAMPLES), block.x),
              ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    absdiff_kernel<<<grid, block, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(absdiff, .tunables = tunables, .illegal = illegal, .staged = true, .by_rows = true)
