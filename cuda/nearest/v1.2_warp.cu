/*
 * Problem:  Atomic contention: cuda/v1.1 adds 256 times to one address for each centroid.
 * Idea:     A warp takes a patch. A lane keeps 8 bins in registers for all centroids, and the lanes
 *           add up by shuffles, so no thread waits for an atomic or a barrier. A block has 8
 *           patches.
 * Expect:   20 times as fast as cuda/v1.1: 5 shuffles replace 256 atomic additions to one address.
 * Result:   Kernel 38 times as fast as cuda/v1.1, 85 us
 *           (results/h100/nearest/nearest_252x189.json); the reason is not known.
 * Run:      make diff-nearest A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

enum { WARPS = 8 /* of a block, each with a patch */ };

/* A lane has 8 bins, and all 32 add up their parts by shuffles. */
static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    const int lane = threadIdx.x, column = blockIdx.x * WARPS + threadIdx.y;
    int counts[LBP_BINS / 32], label = 0;
    unsigned long long smallest = ~0ull;

    if (column >= out.width)
        return;
    for (int i = 0; i < LBP_BINS / 32; i++)
        counts[i] = NEAREST_SCALE * lbp_bins(&histograms, blockIdx.y, column)[32 * i + lane];
    for (int j = 0; j < centroids.height; j++) {
        unsigned long long sum = 0;
        for (int i = 0; i < LBP_BINS / 32; i++) {
            const long long difference = counts[i] - nearest_fixed(nearest_centroid(&centroids, j)[32 * i + lane]);
            sum += (unsigned long long)(difference * difference);
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (lane == 0)
        ((uint8_t *)image_row(&out, blockIdx.y))[column] = (uint8_t)label;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<dim3(ceiling_divide(out->width, WARPS), out->height), dim3(32, WARPS), 0, stream>>>(in[0], in[1],
                                                                                                         *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(nearest)
