#include "common/cuda/warp.cuh"
#include "cuda/harris/shared/strongest.h"

enum { LANES = 32, WARPS = 8, ROWS = 16 /* of a thread */, GATHERERS = 64 /* blocks */ };

/* Responses between the threshold and the largest in equal steps of their bits, which are those of their values. */
static __device__ unsigned bin_of(uint64_t key, float threshold, float largest)
{
    const unsigned least = (unsigned)__float_as_int(threshold), range = (unsigned)__float_as_int(largest) - least;
    const int excess = 32 - __clz(range) - 10; /* 2^10 bins */

    return ((unsigned)(key >> 32) - least) >> (excess > 0 ? excess : 0);
}

/* A thread looks at ROWS pixels, one below the other, of which most are below the threshold; the peaks of a block get
 * their places in the list by one atomic operation. */
static __global__ void __launch_bounds__(LANES *WARPS)
    peaks_kernel(struct image response, const __grid_constant__ struct harris_params params,
                 struct strongest_found *found, uint64_t *keys)
{
    __shared__ unsigned count, first;
    const int x = blockIdx.x * LANES + threadIdx.x, y = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    const float largest = found->peaks.largest, threshold = harris_threshold(&params, largest);
    float own[ROWS];
    unsigned peaks = 0;

    if (threadIdx.x + threadIdx.y == 0)
        count = 0;
    for (int j = 0; j < ROWS; j++)
        own[j] = x < response.width && y + j < response.height ? ((const float *)image_row(&response, y + j))[x] : 0;
    for (int j = 0; j < ROWS; j++)
        if (own[j] > threshold && harris_is_peak(&response, x, y + j, params.radius))
            peaks |= 1u << j;
    __syncthreads();
    unsigned place = peaks ? atomicAdd(&count, (unsigned)__popc(peaks)) : 0;
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0 && count > 0)
        first = atomicAdd(&found->peaks.count, count);
    __syncthreads();
    for (; peaks != 0; peaks &= peaks - 1, place++) {
        const int v = y + __ffs((int)peaks) - 1;
        const uint64_t key = harris_key(((const float *)image_row(&response, v))[x], response.width, x, v);
        keys[first + place] = key;
        atomicAdd(&found->bins[bin_of(key, threshold, largest)], 1u);
    }
}

/* Keeps the keys of the highest bins that hold `maximum` of them together, or all. The first warp finds the lowest of
 * these bins by a prefix sum; its lane 0 has the strongest. */
static __global__ void __launch_bounds__(LANES *WARPS)
    gather_kernel(const __grid_constant__ struct harris_params params, struct strongest_found *found,
                  const uint64_t *keys, uint64_t *chosen)
{
    constexpr int EACH = (int)STRONGEST_BINS / LANES;
    __shared__ int lowest;
    const float largest = found->peaks.largest, threshold = harris_threshold(&params, largest);
    const unsigned count = found->peaks.count, wanted = (unsigned)params.maximum;
    unsigned own = 0, sum;

    if (threadIdx.x < LANES) {
        int bin = STRONGEST_BINS - 1 - (int)threadIdx.x * EACH;
        for (int i = 0; i < EACH; i++)
            own += found->bins[bin - i];
        sum = warp_prefix_sum(own);
        if (sum - own < wanted && sum >= wanted) {
            for (sum -= own; (sum += found->bins[bin]) < wanted;)
                bin--;
            lowest = bin;
        } else if (threadIdx.x == LANES - 1 && sum < wanted)
            lowest = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        if ((int)bin_of(keys[i], threshold, largest) >= lowest)
            chosen[atomicAdd(&found->chosen, 1u)] = keys[i]; /* little more than `maximum` of them */
}

enum status strongest_setup(struct strongest_step *step, const struct image *in, const struct harris_params *params)
{
    enum status status = STATUS_OK;

    if (params->outputs == HARRIS_RESPONSE)
        return STATUS_OK;
    TRY(corners_setup(&step->corners, in, params));
    if (!step->found)
        TRY(device_allocate((void **)&step->found, sizeof *step->found));
    if (!step->chosen)
        TRY(device_allocate((void **)&step->chosen, CORNERS_MOST_PEAKS(in->width, in->height) * sizeof *step->chosen));
out:
    return status;
}

enum status strongest_launch(struct strongest_step *step, const struct image out[], const struct harris_params *params,
                             cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&step->corners, out);
    dim3 block(LANES, WARPS);
    dim3 grid(ceiling_divide(response.width, LANES), ceiling_divide(response.height, WARPS * ROWS));

    if (params->outputs == HARRIS_RESPONSE)
        return STATUS_OK;
    peaks_kernel<<<grid, block, 0, stream>>>(response, *params, step->found, step->corners.keys);
    CUDA_TRY(cudaGetLastError());
    if (params->distance > 1) { /* any peak may take the place of one that is too near */
        TRY(corners_select(&step->found->peaks.count, step->corners.keys, response.width, out[1], params, stream));
        return STATUS_OK;
    }
    gather_kernel<<<device_blocks(GATHERERS), LANES * WARPS, 0, stream>>>(*params, step->found, step->corners.keys,
                                                                          step->chosen);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_select(&step->found->chosen, step->chosen, response.width, out[1], params, stream));
out:
    return status;
}

void strongest_teardown(struct strongest_step *step)
{
    corners_teardown(&step->corners);
    device_free(step->found);
    device_free(step->chosen);
    *step = {};
}
