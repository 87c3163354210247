#include "common/cuda/selection.cuh"
#include "cuda/harris/shared/corners.h"

enum { LANES = 32, WARPS = 8, THREADS = LANES * WARPS, BATCH = 1024 /* keys that are sorted together, one a thread */ };

static __global__ void clear_kernel(struct corners_found *found)
{
    found->largest = 0;
    found->count = 0;
}

/* Responses above 0 are in the order of their bits. */
static __global__ void largest_kernel(struct image response, struct corners_found *found)
{
    __shared__ float block_largest[WARPS];
    float largest = 0;

    for (int y = blockIdx.x; y < response.height; y += gridDim.x)
        for (int x = threadIdx.x; x < response.width; x += THREADS)
            largest = fmaxf(largest, ((const float *)image_row(&response, y))[x]);
    for (int step = LANES / 2; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    if (threadIdx.x % LANES == 0)
        block_largest[threadIdx.x / LANES] = largest;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int i = 1; i < WARPS; i++)
        largest = fmaxf(largest, block_largest[i]);
    atomicMax((int *)&found->largest, __float_as_int(largest));
}

static __global__ void peaks_kernel(struct image response, const __grid_constant__ struct harris_params params,
                                    struct corners_found *found, uint64_t *keys)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= response.width || y >= response.height)
        return;
    float own = ((const float *)image_row(&response, y))[x];
    if (own > harris_threshold(&params, found->largest) && harris_is_peak(&response, x, y, params.radius))
        keys[atomicAdd(&found->count, 1u)] = harris_key(own, response.width, x, y);
}

/* What the threads of the one block that selects tell each other. */
struct selection {
    uint64_t keys[BATCH];
    unsigned count;
    struct selection_room room;
    bool dropped[BATCH];
};

static __device__ bool is_near(const float *a, const float *b, double distance)
{
    double dx = (double)a[0] - b[0], dy = (double)a[1] - b[1];

    return dx * dx + dy * dy < distance * distance;
}

/* One block takes the strongest keys that are left, a batch at a time, sorts them, and writes those that are far enough
 * from all that it kept, until the table is full or no key is left. */
static __global__ void __launch_bounds__(BATCH)
    select_kernel(const unsigned *found, const uint64_t *keys, int width, struct image corners,
                  const __grid_constant__ struct harris_params params)
{
    __shared__ struct selection shared;
    int own = threadIdx.x, kept = 0;
    const unsigned count = *found;
    unsigned left = count;
    uint64_t bound = ~(uint64_t)0;

    for (; left > 0 && kept < params.maximum; __syncthreads()) {
        int batch = min(left, (unsigned)BATCH), size = 1;
        uint64_t cut = left > BATCH ? selection_cut(&shared.room, keys, count, bound, BATCH) : 0;
        while (size < batch)
            size *= 2;
        shared.keys[own] = 0;
        if (own == 0)
            shared.count = 0;
        __syncthreads();
        for (unsigned i = own; i < count; i += BATCH)
            if (keys[i] >= cut && keys[i] < bound)
                shared.keys[atomicAdd(&shared.count, 1u)] = keys[i];
        __syncthreads();
        selection_sort(shared.keys, size);
        left -= batch;
        bound = cut;

        float row[HARRIS_COLUMNS], other[HARRIS_COLUMNS];
        harris_write_row(shared.keys[own], width, row);
        if (!(params.distance > 1)) { /* pixels are always 1 apart */
            for (int i = 0; i < HARRIS_COLUMNS && own < batch && kept + own < params.maximum; i++)
                ((float *)image_row(&corners, kept + own + 1))[i] = row[i];
            kept = min(kept + batch, params.maximum);
            continue;
        }
        bool dropped = own >= batch;
        for (int i = 1; i <= kept && !dropped; i++)
            dropped = is_near((const float *)image_row(&corners, i), row, params.distance);
        shared.dropped[own] = dropped;
        __syncthreads();
        for (int i = 0; i < batch && kept < params.maximum; i++) {
            if (shared.dropped[i])
                continue;
            kept++;
            harris_write_row(shared.keys[i], width, other);
            if (own < HARRIS_COLUMNS)
                ((float *)image_row(&corners, kept))[own] = other[own];
            if (own > i && is_near(other, row, params.distance))
                shared.dropped[own] = true;
            __syncthreads();
        }
    }
    for (int i = own; i < HARRIS_COLUMNS * (params.maximum - kept); i += BATCH)
        ((float *)image_row(&corners, kept + 1 + i / HARRIS_COLUMNS))[i % HARRIS_COLUMNS] = 0;
    if (own < HARRIS_COLUMNS)
        ((float *)corners.data)[own] = own == 0 ? (float)kept : 0;
}

enum status corners_setup(struct corners_step *step, const struct image *in, const struct harris_params *params)
{
    enum status status = STATUS_OK;
    struct image response = {in->width, in->height, 1, PIXEL_F32, 0, NULL};

    if (params->outputs == HARRIS_RESPONSE)
        return STATUS_OK;
    if (!step->found)
        TRY(device_allocate((void **)&step->found, sizeof *step->found));
    if (!step->keys)
        TRY(device_allocate((void **)&step->keys, CORNERS_MOST_PEAKS(in->width, in->height) * sizeof *step->keys));
    if (!step->response.data && params->outputs == HARRIS_CORNERS)
        TRY(device_image_create(&step->response, &response));
out:
    return status;
}

struct image corners_response(const struct corners_step *step, const struct image out[])
{
    return out[0].data ? out[0] : step->response;
}

enum status corners_select(const unsigned *count, const uint64_t *keys, int width, struct image corners,
                           const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    select_kernel<<<1, BATCH, 0, stream>>>(count, keys, width, corners, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status corners_launch(struct corners_step *step, const struct image out[], const struct harris_params *params,
                           cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(step, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(response.width, block.x), ceiling_divide(response.height, block.y));

    if (params->outputs == HARRIS_RESPONSE)
        return STATUS_OK;
    clear_kernel<<<1, 1, 0, stream>>>(step->found);
    CUDA_TRY(cudaGetLastError());
    largest_kernel<<<device_blocks(ceiling_divide(response.height, 4)), THREADS, 0, stream>>>(response, step->found);
    CUDA_TRY(cudaGetLastError());
    peaks_kernel<<<grid, block, 0, stream>>>(response, *params, step->found, step->keys);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_select(&step->found->count, step->keys, response.width, out[1], params, stream));
out:
    return status;
}

void corners_teardown(struct corners_step *step)
{
    device_free(step->found);
    device_free(step->keys);
    device_image_free(&step->response);
    *step = {};
}
