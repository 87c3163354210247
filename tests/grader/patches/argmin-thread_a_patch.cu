/* expect: right 2..2 | one barrier 0..0 | speed 0..0 */
/*
 * Idea:     a thread computes all of a patch by itself, so that there is nobody to wait for.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, x = at % out.width, y = at / out.width;
    unsigned long long smallest = ~0ull;
    int label = 0;

    if (y >= out.height)
        return;
    const uint16_t *bins = lbp_bins(&histograms, y, x);
    for (int j = 0; j < centroids.height; j++) {
        unsigned long long sum = 0;
        for (int bin = 0; bin < LBP_BINS; bin++) {
            const long long part = NEAREST_SCALE * bins[bin] - nearest_fixed(nearest_centroid(&centroids, j)[bin]);
            sum += (unsigned long long)(part * part);
        }
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)label;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<ceiling_divide(out->width * out->height, 32), 32, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(nearest)
