#include "cuda/harris/shared/strongest.h"

enum {
    LANES = 32,
    WARPS = 8,
    THREADS = LANES * WARPS,
    COLUMNS = 4,
    ROWS = 4 /* of a thread */,
    GATHERERS = 64 /* blocks */
};

/* The sum of `value` over the threads of the block before this one, and of all. All threads call it. */
static __device__ unsigned sum_before(unsigned value, unsigned *all)
{
    __shared__ unsigned warps[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    unsigned sum = value, before = 0;

    for (int step = 1; step < LANES; step *= 2) {
        const unsigned more = __shfl_up_sync(0xffffffff, sum, step);
        sum += lane >= step ? more : 0;
    }
    if (lane == LANES - 1)
        warps[warp] = sum;
    __syncthreads();
    *all = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? warps[i] : 0;
        *all += warps[i];
    }
    return before + sum - value;
}

/* Responses between the threshold and the largest in equal steps of their bits, which are those of their values. */
static __device__ unsigned bin_of(uint64_t key, float threshold, float largest)
{
    const unsigned least = (unsigned)__float_as_int(threshold), range = (unsigned)__float_as_int(largest) - least;
    const int excess = 32 - __clz(range) - 11; /* 2^11 bins */

    return ((unsigned)(key >> 32) - least) >> (excess > 0 ? excess : 0);
}

/* A thread looks at 4 x 4 pixels, of which most are below the threshold; the peaks of a block get their places by one
 * atomic operation. */
static __global__ void __launch_bounds__(THREADS)
    peaks_kernel(struct image response, const __grid_constant__ struct harris_params params,
                 struct strongest_found *found, uint64_t *keys)
{
    __shared__ unsigned first;
    const int x = (blockIdx.x * LANES + threadIdx.x % LANES) * COLUMNS;
    const int y = (blockIdx.y * WARPS + threadIdx.x / LANES) * ROWS;
    const float largest = found->peaks.largest, threshold = harris_threshold(&params, largest);
    float own[ROWS][COLUMNS];
    unsigned peaks = 0, all;

#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const bool inside = y + j < response.height;
        const float *row = (const float *)image_row(&response, inside ? y + j : 0) + x;
        if (inside && x + COLUMNS <= response.width) {
            const float4 four = *(const float4 *)row;
            own[j][0] = four.x, own[j][1] = four.y, own[j][2] = four.z, own[j][3] = four.w;
        } else {
            for (int i = 0; i < COLUMNS; i++)
                own[j][i] = inside && x + i < response.width ? row[i] : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            if (own[j][i] > threshold && harris_is_peak(&response, x + i, y + j, params.radius))
                peaks |= 1u << (j * COLUMNS + i);

    unsigned place = sum_before(__popc(peaks), &all);
    if (threadIdx.x == 0 && all > 0)
        first = atomicAdd(&found->peaks.count, all);
    __syncthreads();
    for (; peaks != 0; peaks &= peaks - 1, place++) {
        const int i = __ffs((int)peaks) - 1, u = x + i % COLUMNS, v = y + i / COLUMNS;
        const uint64_t key = harris_key(((const float *)image_row(&response, v))[u], response.width, u, v);
        keys[first + place] = key;
        atomicAdd(&found->bins[bin_of(key, threshold, largest)], 1u);
    }
}

/* Keeps the keys of the highest bins that hold `maximum` of them together, or all. */
static __global__ void __launch_bounds__(THREADS)
    gather_kernel(const __grid_constant__ struct harris_params params, struct strongest_found *found,
                  const uint64_t *keys, uint64_t *chosen)
{
    constexpr int EACH = (int)STRONGEST_BINS / THREADS;
    __shared__ int lowest;
    const float largest = found->peaks.largest, threshold = harris_threshold(&params, largest);
    const int top = STRONGEST_BINS - 1 - (int)threadIdx.x * EACH; /* thread 0 has the strongest */
    const unsigned count = found->peaks.count, wanted = (unsigned)params.maximum;
    unsigned own = 0, all;

    if (threadIdx.x == 0)
        lowest = 0;
    for (int i = 0; i < EACH; i++)
        own += found->bins[top - i];
    unsigned before = sum_before(own, &all); /* and a barrier */
    if (before < wanted && before + own >= wanted) {
        int bin = top;
        while ((before += found->bins[bin]) < wanted)
            bin--;
        lowest = bin;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
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

enum status strongest_begin(struct strongest_step *step, const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (params->outputs != HARRIS_RESPONSE)
        CUDA_TRY(cudaMemsetAsync(step->found, 0, sizeof *step->found, stream));
out:
    return status;
}

float *strongest_largest(const struct strongest_step *step, const struct harris_params *params)
{
    return params->outputs == HARRIS_RESPONSE ? NULL : &step->found->peaks.largest;
}

enum status strongest_launch(struct strongest_step *step, const struct image out[], const struct harris_params *params,
                             cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&step->corners, out);
    dim3 grid(ceiling_divide(response.width, LANES * COLUMNS), ceiling_divide(response.height, WARPS * ROWS));

    if (params->outputs == HARRIS_RESPONSE)
        return STATUS_OK;
    peaks_kernel<<<grid, THREADS, 0, stream>>>(response, *params, step->found, step->corners.keys);
    CUDA_TRY(cudaGetLastError());
    if (params->distance > 1) { /* any peak may take the place of one that is too near */
        TRY(corners_select(&step->found->peaks.count, step->corners.keys, response.width, out[1], params, stream));
        return STATUS_OK;
    }
    gather_kernel<<<GATHERERS, THREADS, 0, stream>>>(*params, step->found, step->corners.keys, step->chosen);
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
