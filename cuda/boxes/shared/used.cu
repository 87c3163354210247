#include "common/cuda/early.cuh"
#include "common/cuda/warp.cuh"
#include "cuda/boxes/shared/rows.h"
#include "cuda/boxes/shared/used.h"

enum { WARPS = BOXES_STRETCH / 32 };

/* Counts the used entries of a word of the mask that are large enough; `table` points to the entry of bit 0. */
static __device__ int count_large(const struct boxes_sums *table, unsigned word, int min_area)
{
    int count = 0;

    for (; word; word &= word - 1)
        count += table[__ffs((int)word) - 1].area >= min_area;
    return count;
}

static __global__ void count_kernel(const struct boxes_sums *table, const unsigned *used, int words, int min_area,
                                    int *counts)
{
    __shared__ int sums[WARPS];
    int i = blockIdx.x * BOXES_STRETCH + threadIdx.x, total;

    allow_next();
    wait_for_last();
    block_prefix_sum<WARPS>(count_large(table + 32 * (size_t)i, i < words ? used[i] : 0, min_area), &total, sums);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}

static __global__ void write_kernel(struct boxes_sums *table, unsigned *used, int words, int min_area,
                                    const int *counts, struct image out)
{
    __shared__ int sums[WARPS];
    int i = blockIdx.x * BOXES_STRETCH + threadIdx.x, first = 0, before, total;
    wait_for_last();
    unsigned word = i < words ? used[i] : 0;
    bool last = blockIdx.x == gridDim.x - 1;

    if (!__syncthreads_or(word != 0) && !last)
        return;
    for (unsigned stretch = threadIdx.x; stretch < blockIdx.x; stretch += BOXES_STRETCH)
        first += counts[stretch];
    block_prefix_sum<WARPS>(first, &before, sums);
    table += 32 * (size_t)i;
    int row = 1 + before + block_prefix_sum<WARPS>(count_large(table, word, min_area), &total, sums);
    if (word)
        used[i] = 0;
    for (; word; word &= word - 1) {
        int bit = __ffs((int)word) - 1;
        if (table[bit].area >= min_area && row < out.height)
            boxes_write_row(&table[bit], 32 * i + bit + 1, (int *)image_row(&out, row++));
        table[bit] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
    }
    if (!last)
        return;
    if (threadIdx.x < BOXES_COLUMNS)
        ((int *)out.data)[threadIdx.x] = threadIdx.x == 0 ? before + total : 0;
    for (int half = 2 * (1 + before + total) + threadIdx.x; half < 2 * out.height; half += BOXES_STRETCH)
        ((int4 *)image_row(&out, half / 2))[half % 2] = {0, 0, 0, 0};
}

enum status boxes_create_table(struct boxes_sums **table, int labels)
{
    enum status status = STATUS_OK;
    const struct image no_rows = {};

    TRY(device_allocate((void **)table, labels * sizeof **table));
    TRY(boxes_clear(*table, labels, &no_rows, 0));
    CUDA_TRY(cudaDeviceSynchronize()); /* a launch may come on any stream */
out:
    return status;
}

enum status boxes_write_used(struct boxes_sums *table, unsigned *used, int words, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {
        ceiling_divide(words, BOXES_STRETCH), BOXES_STRETCH, 0, stream, &early, early_attributes(&early)};

    CUDA_TRY(cudaLaunchKernelEx(&config, count_kernel, table, used, words, min_area, counts));
    CUDA_TRY(cudaLaunchKernelEx(&config, write_kernel, table, used, words, min_area, counts, *out));
out:
    return status;
}
