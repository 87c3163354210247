/* statistics.cu: each run adds its length, ends and sums of columns to its component; then rows of the table. */
#include "cuda/labelling/shared/roots.cuh"

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

/* A thread writes a row of the table, in whose first column label_kernel left the component's label. */
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

/* Leaves each root's label in the first column of its row. */
static __global__ void label_kernel(const unsigned *bits, const int *parent, int width, int height, const int *rank,
                                    struct image table)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, node = i / across * width + i % across * 32;

    if (i >= across * height)
        return;
    for (unsigned roots = roots_of(bits[i], parent, node); roots; roots &= roots - 1) {
        int root = node + __ffs((int)roots) - 1;
        if (rank[root] < table.height)
            *(int *)image_row(&table, rank[root]) = root + 1;
    }
}

enum status statistics_launch(struct numbers *numbers, const unsigned *bits, const int *parent,
                              const struct image *labels, struct image *table, const struct labelling_params *params,
                              cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = labels->width, height = labels->height;
    const unsigned blocks = ceiling_divide(word_count(labels), BLOCK);

    add_kernel<<<blocks, BLOCK, 0, stream>>>(bits, parent, width, height, numbers->rank, numbers->sums,
                                             params->max_components);
    CUDA_TRY(cudaGetLastError());
    label_kernel<<<blocks, BLOCK, 0, stream>>>(bits, parent, width, height, numbers->rank, *table);
    CUDA_TRY(cudaGetLastError());
    table_kernel<<<ceiling_divide(table->height, BLOCK), BLOCK, 0, stream>>>(numbers->sums, numbers->counts + blocks,
                                                                             *table, params->consecutive);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
