#include "common/cuda/warp.cuh"
#include "cuda/boxes/shared/rows.h"

enum { WARPS = BOXES_STRETCH / 32 };

static __global__ void clear_kernel(struct boxes_sums *table, int labels, struct image out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < labels)
        table[i] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
    for (; i < out.height * BOXES_COLUMNS; i += gridDim.x * blockDim.x)
        ((int *)image_row(&out, i / BOXES_COLUMNS))[i % BOXES_COLUMNS] = 0;
}

static __global__ void count_kernel(const struct boxes_sums *table, int labels, int min_area, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < labels && table[i].area >= min_area);

    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/* One block: counts become sums of the counts before them, and the table's first row says how many there are. */
static __global__ void offset_kernel(int *counts, int stretches, struct image out)
{
    __shared__ int sums[WARPS];
    int done = 0, total;

    for (int first = 0; first < stretches; first += BOXES_STRETCH, done += total) {
        int i = first + threadIdx.x, count = i < stretches ? counts[i] : 0,
            before = block_prefix_sum<WARPS>(count, &total, sums);
        if (i < stretches)
            counts[i] = done + before;
    }
    if (threadIdx.x == 0)
        *(int *)image_row(&out, 0) = done;
}

static __global__ void write_kernel(const struct boxes_sums *table, int labels, int min_area, const int *counts,
                                    struct image out)
{
    __shared__ int sums[WARPS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, total;
    int selected = i < labels && table[i].area >= min_area,
        row = 1 + counts[blockIdx.x] + block_prefix_sum<WARPS>(selected, &total, sums);

    if (selected && row < out.height)
        boxes_write_row(&table[i], i + 1, (int *)image_row(&out, row));
}

enum status boxes_clear(struct boxes_sums *table, int labels, const struct image *out, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    clear_kernel<<<ceiling_divide(labels, BOXES_STRETCH), BOXES_STRETCH, 0, stream>>>(table, labels, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status boxes_write_rows(const struct boxes_sums *table, int labels, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int stretches = ceiling_divide(labels, BOXES_STRETCH);

    count_kernel<<<stretches, BOXES_STRETCH, 0, stream>>>(table, labels, min_area, counts);
    CUDA_TRY(cudaGetLastError());
    offset_kernel<<<1, BOXES_STRETCH, 0, stream>>>(counts, stretches, *out);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<stretches, BOXES_STRETCH, 0, stream>>>(table, labels, min_area, counts, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
