/*
 * Idea:     a warp has whole centroids: a distance is eight differences a lane and five shuffles. The smallest of the
 *           warps' smallest is found by one warp, by three shuffles.
 * Changed:  warp w has centroids w, w + 8, ...; one barrier, behind which the first warp compares 8 pairs of distance
 *           and label.
 * Expect:   256 additions to one address, one after the other, become 8 in a lane and 5 between lanes.
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

enum { WARPS = LBP_BINS / 32 };

static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ unsigned long long distances[WARPS];
    __shared__ int labels[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint16_t *bins = lbp_bins(&histograms, blockIdx.y, blockIdx.x);
    unsigned long long smallest = ~0ull;
    int label = warp;

    for (int j = warp; j < centroids.height; j += WARPS) {
        unsigned long long sum = 0;
        for (int bin = lane; bin < LBP_BINS; bin += 32) {
            const long long part = NEAREST_SCALE * bins[bin] - nearest_fixed(nearest_centroid(&centroids, j)[bin]);
            sum += (unsigned long long)(part * part);
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (lane == 0) {
        distances[warp] = smallest;
        labels[warp] = label;
    }
    __syncthreads();
    if (warp > 0)
        return;
    smallest = distances[lane % WARPS];
    label = labels[lane % WARPS];
    for (int step = WARPS / 2; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffff, smallest, step);
        const int other_label = __shfl_xor_sync(0xffffffff, label, step);
        if (other < smallest || (other == smallest && other_label < label)) {
            smallest = other;
            label = other_label;
        }
    }
    if (lane == 0)
        ((uint8_t *)image_row(&out, blockIdx.y))[blockIdx.x] = (uint8_t)label;
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
