/*
 * Idea:     a block is a patch and a thread a bin: every thread adds its part of each distance to a sum in shared
 *           memory, then one thread looks for the smallest.
 * Changed:  (what is new since the starter, which is this file)
 * Expect:   (how many steps for one sum, in place of how many; write it BEFORE you measure)
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

/* For whom does the block wait, and for how long? */
static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ unsigned long long distances[NEAREST_MAX_K];
    const int bin = threadIdx.x, count = NEAREST_SCALE * lbp_bins(&histograms, blockIdx.y, blockIdx.x)[bin];

    for (int j = bin; j < centroids.height; j += LBP_BINS)
        distances[j] = 0;
    __syncthreads();
    for (int j = 0; j < centroids.height; j++) {
        const long long difference = count - nearest_fixed(nearest_centroid(&centroids, j)[bin]);
        atomicAdd(&distances[j], (unsigned long long)(difference * difference));
    }
    __syncthreads();
    if (bin == 0) {
        int label = 0;
        for (int j = 1; j < centroids.height; j++)
            if (distances[j] < distances[label])
                label = j;
        ((uint8_t *)image_row(&out, blockIdx.y))[blockIdx.x] = (uint8_t)label;
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<dim3(out->width, out->height), LBP_BINS, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(nearest)
