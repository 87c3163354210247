/*
 * Idea:     a thread for each sample, whatever row it lies in: the image is one long array.
 * Changed:  one number for each thread in place of a column and a row, so a block may end in the middle of a row.
 * Expect:   as fast as v1.0 for wide images, faster for narrow ones, whose blocks are no longer half empty.
 */
#include "common/algo/absdiff.h"
#include "common/cuda/device.h"

enum { THREADS = 256 };

static __global__ void absdiff_kernel(struct image a, struct image b, struct image out)
{
    int row_samples = out.width * out.channels;
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int y = k / row_samples, i = k % row_samples;

    if (y >= out.height)
        return;
    const uint8_t *from_a = (const uint8_t *)a.data + y * row_samples + i;
    const uint8_t *from_b = (const uint8_t *)image_row(&b, y) + i;
    ((uint8_t *)image_row(&out, y))[i] = (uint8_t)abs(*from_a - *from_b);
}

struct state {
    int unused;
};

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct absdiff_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    int samples = out->width * out->channels * out->height;

    (void)state, (void)params;
    absdiff_kernel<<<ceiling_divide(samples, THREADS), THREADS, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(absdiff)
