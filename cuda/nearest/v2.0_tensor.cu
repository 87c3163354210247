/*
 * Idea:     |h - c|^2 = |h|^2 - 2 h c + |c|^2, and |h|^2 is the same for all centroids: what decides are products,
 *           which the tensor cores compute. Of bytes they are exact (shared/planes.h).
 * Changed:  a warp has 8 patches and 16 centroids at a time; centroids are converted once a block, in shared memory, and a
 *           patch's counts are packed into 16 registers, before which all its loads are on their way.
 * Expect:   9 times v1.3, 8 us at 252x189 and 16 centroids: 24 MB take 5.8 us at the copy rate, 780 million products of bytes
 *           less than one, and what is left is to fill and to empty the multiprocessors.
 * Result:   11.6 us, 7.0 times v1.3 (results/h200/nearest/nearest_252x189.json).
 */
/* Try: make bench-nearest VERSIONS=cuda */
#include "cuda/nearest/shared/planes.h"

struct state {
};

enum { THREADS = 16 * NEAREST_GROUP, PATCHES = THREADS / 32 * 8 /* of a block */ };

/* A warp has 8 patches of a row; those behind its end are computed like its last one. */
static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ struct nearest_planes planes;
    const int first = blockIdx.x * PATCHES + threadIdx.x / 32 * 8;
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4; /* as in mma.cuh */
    const struct nearest_bins bins =
        nearest_load_bins(lbp_bins(&histograms, blockIdx.y, min(first + group, out.width - 1)), member);
    int smallest[2] = {INT32_MAX, INT32_MAX}, labels[2] = {}; /* of patches 2 member and 2 member + 1 */

    for (int cluster = 0; cluster < centroids.height; cluster += NEAREST_GROUP) {
        int lower[4] = {}, upper[4] = {};
        nearest_load_planes(centroids, cluster, &planes);
        __syncthreads();
#pragma unroll
        for (int at = 0; at < LBP_BINS / 64; at++) {
            nearest_multiply(lower, planes.bytes[0], group, 4 * at + member, bins.word[at]);
            nearest_multiply(upper, planes.bytes[1], group, 4 * at + member, bins.word[at]);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int j = group + 8 * (r / 2), wide = __shfl_sync(0xffffffff, bins.wide, 4 * (2 * member + r % 2));
            const int product = lower[r] + 256 * (upper[r] + nearest_component(planes, j, wide));
            const int score = planes.norms[j] - 2 * NEAREST_SCALE * product;
            if (cluster + j < centroids.height && score < smallest[r % 2]) {
                smallest[r % 2] = score;
                labels[r % 2] = cluster + j;
            }
        }
        __syncthreads();
    }
    nearest_smallest_of_groups(smallest, labels);
    const int column = first + 2 * member + group, label = group == 0 ? labels[0] : labels[1];
    if (group < 2 && column < out.width)
        ((uint8_t *)image_row(&out, blockIdx.y))[column] = (uint8_t)label;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(out->width, PATCHES), out->height);
    enum status status = STATUS_OK;

    (void)state, (void)params;
    nearest_kernel<<<grid, THREADS, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(nearest, .unavailable = unavailable)
