/*
 * Idea:     a patch may have fewer lanes than a warp, and a block fewer or more threads: both can be set, so that a search can
 *           find the best.
 * Changed:  `lanes` threads share a patch, and 32 / lanes patches a warp; lanes and threads are tunables.
 * Expect:   1.2 times v1.2 with 8 lanes: 3 steps of shuffles in the place of 5, for 4 patches at a time; the conversion of the
 *           centroids, which each lane repeats for its bins, is also shared by 4.
 * Result:   81.6 us, 1.04 times v1.2 (results/h200/nearest/nearest_252x189.json).
 */
/* Try: make bench-nearest VERSIONS=cuda
 *      make tune-nearest V=cuda/v1.3 SVG=heat.svg */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

static int patch_lanes = 8, threads = 256;
static const int some_lanes[] = {4, 8, 16, 32, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"lanes", &patch_lanes, some_lanes, "threads of a patch"},
                                    {"threads", &threads, some_threads, "threads of a block"},
                                    {}};

/* A lane has 256 / LANES bins, and those of a patch add up their parts by shuffles; patches behind the end of the row are
 * computed like its last one. */
template <int LANES>
static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    const int lane = threadIdx.x % LANES, column = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const uint16_t *bins = lbp_bins(&histograms, blockIdx.y, min(column, out.width - 1));
    int counts[LBP_BINS / LANES], label = 0;
    unsigned long long smallest = ~0ull;

#pragma unroll
    for (int i = 0; i < LBP_BINS / LANES; i++)
        counts[i] = NEAREST_SCALE * bins[LANES * i + lane];
    for (int j = 0; j < centroids.height; j++) {
        unsigned long long sum = 0;
#pragma unroll
        for (int i = 0; i < LBP_BINS / LANES; i++) {
            const long long difference = counts[i] - nearest_fixed(nearest_centroid(&centroids, j)[LANES * i + lane]);
            sum += (unsigned long long)(difference * difference);
        }
        for (int step = LANES / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    if (lane == 0 && column < out.width)
        ((uint8_t *)image_row(&out, blockIdx.y))[column] = (uint8_t)label;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(out->width, threads / patch_lanes), out->height);
    const auto kernel = patch_lanes == 4    ? nearest_kernel<4>
                        : patch_lanes == 8  ? nearest_kernel<8>
                        : patch_lanes == 16 ? nearest_kernel<16>
                                            : nearest_kernel<32>;
    enum status status = STATUS_OK;

    (void)state, (void)params;
    kernel<<<grid, threads, 0, stream>>>(in[0], in[1], *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(nearest, .tunables = tunables)
