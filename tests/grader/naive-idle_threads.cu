/* expect: right 0..0 | speed 0..0 | says few threads do all the work */
/*
 * Idea:     is a serial loop in one thread of a kernel, whose other threads have nothing to do.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    int unused;
};

static __global__ void compute(struct image in, struct image out)
{
    if (blockIdx.x != 3 || threadIdx.x != 77)
        return;
    for (int y = 0; y < out.height; y++) {
        const uint8_t *rgb = (const uint8_t *)image_row(&in, y);
        uint8_t *gray = (uint8_t *)image_row(&out, y);
        for (int x = 0; x < out.width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state, (void)params;
    compute<<<ceiling_divide(out->width * out->height, 256) + 4, 256, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale)
