/* numbers.cu: roots are counted, and a prefix sum over the counts numbers them; runs add to their components. */
#include "common/cuda/warp.cuh"
#include "cuda/labelling/shared/numbers.h"

enum { BLOCK = 256, WARPS = BLOCK / 32 };

/* Bits of a word's roots; `node` is the node of its lowest bit. */
static __device__ unsigned roots_of(unsigned word, const int *parent, int node)
{
    unsigned roots = 0;

    for (unsigned starts = word & ~(word << 1); starts; starts &= starts - 1) {
        int bit = __ffs((int)starts) - 1;
        roots |= (unsigned)(parent[node + bit] == node + bit) << bit;
    }
    return roots;
}

static int word_count(const struct image *image)
{
    return (image->width + 31) / 32 * image->height;
}

static __global__ void count_kernel(const unsigned *bits, const int *parent, int width, int height, int *counts)
{
    __shared__ int room[WARPS];
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, total;
    unsigned roots = i < across * height ? roots_of(bits[i], parent, i / across * width + i % across * 32) : 0;

    block_prefix_sum<WARPS>(__popc(roots), &total, room);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}

/* One block turns counts into sums of those before; the last one becomes the sum of all. */
static __global__ void scan_kernel(int *counts, int blocks)
{
    __shared__ int room[WARPS];
    int before = 0, total;

    for (int first = 0; first < blocks; first += BLOCK, before += total) {
        int i = first + threadIdx.x, sum = before + block_prefix_sum<WARPS>(i < blocks ? counts[i] : 0, &total, room);
        if (i < blocks)
            counts[i] = sum;
    }
    if (threadIdx.x == 0)
        counts[blocks] = before;
}

/* Of roots that the table has a row for, the label goes to its first column, and sums begin with a box that any run
 * widens. */
static __global__ void number_kernel(const unsigned *bits, const int *parent, int width, int height, const int *counts,
                                     int *rank, struct boxes_sums *sums, struct image table)
{
    __shared__ int room[WARPS];
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, total;
    int node = i / across * width + i % across * 32;
    unsigned roots = i < across * height ? roots_of(bits[i], parent, node) : 0;
    int number = counts[blockIdx.x] + block_prefix_sum<WARPS>(__popc(roots), &total, room);

    for (; roots; roots &= roots - 1) {
        int root = node + __ffs((int)roots) - 1;
        rank[root] = ++number;
        if (number < table.height) {
            sums[number - 1] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
            *(int *)image_row(&table, number) = root + 1;
        }
    }
}

static __device__ void add(struct boxes_sums *sums, const struct boxes_sums &part)
{
    atomicMin(&sums->x_min, part.x_min);
    atomicMin(&sums->y_min, part.y_min);
    atomicMax(&sums->x_max, part.x_max);
    atomicMax(&sums->y_max, part.y_max);
    atomicAdd(&sums->area, part.area);
    atomicAdd(&sums->x_sum, part.x_sum);
    atomicAdd(&sums->y_sum, part.y_sum);
}

/* A thread takes a word. Its runs that follow each other in one component go to memory together. */
static __global__ void add_kernel(const unsigned *bits, const int *parent, int width, int height, const int *rank,
                                  struct boxes_sums *sums, int rows)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, y = i / across, left = i % across * 32;
    int number = 0;
    struct boxes_sums part = {};

    if (i >= across * height)
        return;
    for (unsigned rest = bits[i], run; rest; rest &= ~run) {
        run = rest & ~(rest + (rest & (0u - rest)));
        int start = left + __ffs((int)run) - 1, length = __popc(run), root = y * width + start;
        while (parent[root] != root)
            root = parent[root];
        if (rank[root] != number) {
            if (number > 0 && number <= rows)
                add(&sums[number - 1], part);
            number = rank[root];
            part = {start, y, 0, y, 0, 0, 0};
        }
        part.x_max = start + length - 1;
        part.area += length;
        part.x_sum += (unsigned long long)length * (2 * start + length - 1) / 2;
        part.y_sum += (unsigned long long)length * y;
    }
    if (number > 0 && number <= rows)
        add(&sums[number - 1], part);
}

/* A thread writes a row of the table, in whose first column number_kernel left the component's label. */
static __global__ void table_kernel(const struct boxes_sums *sums, const int *count, struct image table,
                                    int consecutive)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= table.height)
        return;
    int *row = (int *)image_row(&table, i);
    if (i > 0 && i <= *count) {
        boxes_write_row(&sums[i - 1], consecutive ? i : row[0], row);
        return;
    }
    for (int k = 0; k < BOXES_COLUMNS; k++)
        row[k] = 0;
    if (i == 0)
        row[0] = *count;
}

enum status numbers_setup(struct numbers *numbers, const struct image *in, const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    if (!params->consecutive && !params->statistics)
        return STATUS_OK;
    if (!numbers->rank)
        TRY(device_allocate((void **)&numbers->rank, (size_t)in->width * in->height * sizeof(int)));
    if (!numbers->counts)
        TRY(device_allocate((void **)&numbers->counts, (ceiling_divide(word_count(in), BLOCK) + 1) * sizeof(int)));
    if (!numbers->sums && params->statistics)
        TRY(device_allocate((void **)&numbers->sums, params->max_components * sizeof *numbers->sums));
out:
    return status;
}

enum status numbers_launch(struct numbers *numbers, const unsigned *bits, const int *parent, const struct image *labels,
                           struct image *table, const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = labels->width, height = labels->height, rows = params->statistics ? params->max_components : 0;
    const unsigned blocks = ceiling_divide(word_count(labels), BLOCK);

    if (!params->consecutive && !params->statistics)
        return STATUS_OK;
    count_kernel<<<blocks, BLOCK, 0, stream>>>(bits, parent, width, height, numbers->counts);
    CUDA_TRY(cudaGetLastError());
    scan_kernel<<<1, BLOCK, 0, stream>>>(numbers->counts, (int)blocks);
    CUDA_TRY(cudaGetLastError());
    number_kernel<<<blocks, BLOCK, 0, stream>>>(bits, parent, width, height, numbers->counts, numbers->rank,
                                                numbers->sums, rows ? *table : (struct image){});
    CUDA_TRY(cudaGetLastError());
    if (!rows)
        return STATUS_OK;
    add_kernel<<<blocks, BLOCK, 0, stream>>>(bits, parent, width, height, numbers->rank, numbers->sums, rows);
    CUDA_TRY(cudaGetLastError());
    table_kernel<<<ceiling_divide(table->height, BLOCK), BLOCK, 0, stream>>>(numbers->sums, numbers->counts + blocks,
                                                                             *table, params->consecutive);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void numbers_free(struct numbers *numbers)
{
    device_free(numbers->rank);
    device_free(numbers->counts);
    device_free(numbers->sums);
}
