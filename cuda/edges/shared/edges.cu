#include "cuda/edges/shared/edges.h"

#include "common/cuda/otsu.cuh"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8, ROWS = 8 };

/* A block counts its pixels in shared memory first; a thread looks at ROWS of them, below each other. */
static __global__ void histogram_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned counts[EDGES_BINS];
    const int own = threadIdx.y * BLOCK_WIDTH + threadIdx.x;
    const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x, first = blockIdx.y * BLOCK_HEIGHT * ROWS + threadIdx.y;

    counts[own] = 0;
    __syncthreads();
    for (int y = first; x < in.width && y < min(first + BLOCK_HEIGHT * ROWS, in.height); y += BLOCK_HEIGHT)
        atomicAdd(&counts[edges_magnitude(hough_sobel(&in, x, y)) >> EDGES_BIN_SHIFT], 1u);
    __syncthreads();
    if (counts[own] > 0)
        atomicAdd(&histogram[own], counts[own]);
}

static __global__ void otsu_kernel(const unsigned *histogram, struct edges_thresholds *thresholds,
                                   const __grid_constant__ struct edges_params params)
{
    __shared__ struct otsu_room room;
    const int otsu = otsu_search(histogram[threadIdx.x], &room);

    if (threadIdx.x == 0)
        *thresholds = edges_order_thresholds(&params, otsu);
}

enum status edges_setup(struct edges_step *step, const struct image *in, const struct edges_params *params)
{
    const struct edges_thresholds fixed = edges_order_thresholds(params, 0);
    struct image mask = *in;
    enum status status = STATUS_OK;

    if (step->thresholds)
        return STATUS_OK;
    if (params->outputs == EDGES_POINTS)
        TRY(device_image_create(&step->mask, &mask));
    if (params->outputs != EDGES_MASK)
        TRY(edges_list_setup(step, in));
    if (params->low != EDGES_NO_LOW) {
        const size_t nodes = (size_t)in->width * (size_t)in->height + 1;
        TRY(device_allocate((void **)&step->parent, nodes * sizeof *step->parent));
        TRY(device_clear(step->parent, sizeof *step->parent)); /* node 0 stays its own parent */
    }
    if (params->high == EDGES_OTSU)
        TRY(device_allocate((void **)&step->histogram, EDGES_BINS * sizeof *step->histogram));
    TRY(device_allocate((void **)&step->thresholds, sizeof *step->thresholds));
    TRY(device_upload_bytes(step->thresholds, &fixed, sizeof fixed));
out:
    return status;
}

void edges_teardown(struct edges_step *step)
{
    device_free(step->thresholds);
    device_free(step->histogram);
    device_image_free(&step->mask);
    device_free(step->parent);
    device_free(step->starts);
    *step = {};
}

struct image edges_mask(const struct edges_step *step, const struct image out[])
{
    return out[0].data ? out[0] : step->mask;
}

enum status edges_begin(struct edges_step *step, const struct image *in, const struct edges_params *params,
                        cudaStream_t stream)
{
    const dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT);
    const dim3 grid(ceiling_divide(in->width, BLOCK_WIDTH), ceiling_divide(in->height, BLOCK_HEIGHT * ROWS));
    enum status status = STATUS_OK;

    if (params->high != EDGES_OTSU)
        return STATUS_OK;
    CUDA_TRY(cudaMemsetAsync(step->histogram, 0, EDGES_BINS * sizeof *step->histogram, stream));
    histogram_kernel<<<grid, block, 0, stream>>>(*in, step->histogram);
    CUDA_TRY(cudaGetLastError());
    otsu_kernel<<<1, EDGES_BINS, 0, stream>>>(step->histogram, step->thresholds, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status edges_end_planted(struct edges_step *step, const struct image *in, const struct image out[],
                              const struct edges_params *params, cudaStream_t stream)
{
    const struct image mask = edges_mask(step, out);
    enum status status = STATUS_OK;

    if (params->low != EDGES_NO_LOW)
        TRY(edges_follow(step, &mask, stream));
    if (params->outputs != EDGES_MASK)
        TRY(edges_list(step, in, &mask, &out[1], stream));
out:
    return status;
}

enum status edges_end(struct edges_step *step, const struct image *in, const struct image out[],
                      const struct edges_params *params, cudaStream_t stream)
{
    const struct image mask = edges_mask(step, out);
    enum status status = STATUS_OK;

    if (params->low != EDGES_NO_LOW)
        TRY(edges_plant(step, &mask, stream));
    TRY(edges_end_planted(step, in, out, params, stream));
out:
    return status;
}
