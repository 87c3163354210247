/*
 * Idea:     a thread for each row adds its runs to the sums of their components, in a table with an entry for each
 *           label that there can be. Then one block goes over the table and writes the rows of those that are large
 *           enough.
 * Changed:  a run in place of a pixel is added, and what is rarely smaller than what is there is only written when it
 *           is.
 * Expect:   fewer atomic operations on the entry of a large component, for which all its pixels wait in line.
 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum { THREADS = 256 };

struct state {
    struct boxes_sums *table; /* device: of each label */
};

static __global__ void clear_kernel(struct boxes_sums *table, int labels)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < labels)
        table[i] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
}

static __device__ void add(struct boxes_sums *sums, int x, int y, int length)
{
    if (x < sums->x_min)
        sums->x_min = x;
    atomicMin(&sums->y_min, y);
    atomicMax(&sums->x_max, x + length - 1);
    atomicMax(&sums->y_max, y);
    atomicAdd(&sums->area, length);
    atomicAdd(&sums->x_sum, (unsigned long long)length * (2 * x + length - 1) / 2);
    atomicAdd(&sums->y_sum, (unsigned long long)length * y);
}

static __global__ void add_kernel(struct image in, struct boxes_sums *table)
{
    int y = blockIdx.x * THREADS + threadIdx.x, end;

    if (y >= in.height)
        return;
    const int *row = (const int *)image_row(&in, y);
    for (int x = 0; x < in.width; x = end) {
        for (end = x + 1; end < in.width && row[end] == row[x]; end++)
            continue;
        if (row[x] > 0 && row[x] <= in.width * in.height)
            add(&table[row[x] - 1], x, y, end - x);
    }
}

/* Stretches of the table one after the other: each thread's row is the first free one plus those that threads before it
 * take in this stretch. */
static __global__ void write_kernel(const struct boxes_sums *table, int labels, int min_area, struct image out)
{
    __shared__ bool wanted[THREADS];
    int count = 0;

    for (int i = threadIdx.x; i < out.height * BOXES_COLUMNS; i += THREADS)
        ((int *)image_row(&out, i / BOXES_COLUMNS))[i % BOXES_COLUMNS] = 0;
    for (int first = 0; first < labels; first += THREADS) {
        int i = first + threadIdx.x, row = 1 + count;
        wanted[threadIdx.x] = i < labels && table[i].area >= min_area;
        int taken = __syncthreads_count(wanted[threadIdx.x]);
        for (int k = 0; taken > 0 && k < threadIdx.x; k++)
            row += wanted[k];
        if (wanted[threadIdx.x] && row < out.height)
            boxes_write_row(&table[i], i + 1, (int *)image_row(&out, row));
        count += taken;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *(int *)image_row(&out, 0) = count;
}

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    (void)params;
    if (state->table)
        return STATUS_OK;
    return device_allocate((void **)&state->table, (size_t)in->width * in->height * sizeof *state->table);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct boxes_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height;

    clear_kernel<<<ceiling_divide(labels, THREADS), THREADS, 0, stream>>>(state->table, labels);
    CUDA_TRY(cudaGetLastError());
    add_kernel<<<ceiling_divide(in->height, THREADS), THREADS, 0, stream>>>(*in, state->table);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<1, THREADS, 0, stream>>>(state->table, labels, params->min_area, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->table);
}

RUNGS_CUDA_VERSION(boxes)
