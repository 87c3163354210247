/* expect: right 0..0 | one barrier 0..0 | speed 0..0 | says few threads do all the work */
/*
 * Idea:     is a serial loop in the thread that comes last.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
    unsigned *arrived;
};

static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out,
                                      unsigned *arrived, unsigned threads)
{
    if (atomicAdd(arrived, 1) + 1 != threads)
        return;
    for (int y = 0; y < out.height; y++)
        for (int x = 0; x < out.width; x++) {
            long long least = 0;
            for (int j = 0; j < centroids.height; j++) {
                long long sum = 0;
                for (int bin = 0; bin < LBP_BINS; bin++) {
                    const long long difference = NEAREST_SCALE * lbp_bins(&histograms, y, x)[bin] -
                                                 nearest_fixed(nearest_centroid(&centroids, j)[bin]);
                    sum += difference * difference;
                }
                if (j == 0 || sum < least) {
                    least = sum;
                    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)j;
                }
            }
        }
}

static enum status setup(struct state *state, const struct image in[], const struct nearest_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->arrived)
        CUDA_TRY(cudaMalloc((void **)&state->arrived, sizeof *state->arrived));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct nearest_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)params;
    CUDA_TRY(cudaMemsetAsync(state->arrived, 0, sizeof *state->arrived, stream));
    nearest_kernel<<<dim3(out->width, out->height), LBP_BINS, 0, stream>>>(
        in[0], in[1], *out, state->arrived, (unsigned)(out->width * out->height * LBP_BINS));
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaFree(state->arrived);
    state->arrived = NULL;
}

RUNGS_CUDA_VERSION(nearest)
