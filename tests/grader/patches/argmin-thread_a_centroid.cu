/* expect: right 2..2 | one barrier 0..0 | says busiest reads */
/*
 * Idea:     a thread computes all of a centroid's distance by loads of 16 bytes; of 256 threads 16 work.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/nearest.h"
#include "common/cuda/device.h"

struct state {
};

struct sixteen { uint16_t at[8]; };
struct four { float at[4]; };

static __global__ void nearest_kernel(struct image histograms, struct image centroids, struct image out)
{
    __shared__ unsigned long long distances[LBP_BINS];
    const int own = threadIdx.x;
    const uint16_t *bins = lbp_bins(&histograms, blockIdx.y, blockIdx.x);
    unsigned long long sum = ~0ull;

    if (own < centroids.height) {
        const float *c = nearest_centroid(&centroids, own);
        sum = 0;
        for (int first = 0; first < LBP_BINS; first += 8) {
            const uint4 h = *(const uint4 *)(bins + first);
            const unsigned pairs[4] = {h.x, h.y, h.z, h.w};
            for (int half = 0; half < 2; half++) {
                const float4 f = *(const float4 *)(c + first + 4 * half);
                const float four[4] = {f.x, f.y, f.z, f.w};
                for (int i = 0; i < 4; i++) {
                    const int bin = pairs[(4 * half + i) / 2] >> 16 * (i % 2) & 0xffff;
                    const long long part = NEAREST_SCALE * bin - nearest_fixed(four[i]);
                    sum += (unsigned long long)(part * part);
                }
            }
        }
    }
    distances[own] = sum;
    __syncthreads();
    if (own >= 32)
        return;
    int label = own;
    for (int j = own + 32; j < centroids.height; j += 32)
        label = distances[j] < distances[label] ? j : label;
    unsigned long long smallest = distances[label];
    for (int step = 16; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffff, smallest, step);
        const int other_label = __shfl_xor_sync(0xffffffff, label, step);
        if (other < smallest || (other == smallest && other_label < label)) {
            smallest = other;
            label = other_label;
        }
    }
    if (own > 0)
        return;
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
