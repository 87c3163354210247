#include "tests/mutants/boxes/steps/rung.h"

#include "common/cuda/device.h"

enum { STRETCH = 256 }; /* entries of the table that a block looks at, one a thread */

static __global__ void clear_sums_kernel(struct boxes_sums *table, int labels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < labels)
        table[i] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
}

static __global__ void clear_rows_kernel(struct image out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < out.height * BOXES_COLUMNS; i += gridDim.x * blockDim.x)
        ((int *)image_row(&out, i / BOXES_COLUMNS))[i % BOXES_COLUMNS] = 0;
}

static __device__ void add(struct boxes_sums *sums, int x, int y, int length, enum boxes_fault fault)
{
    atomicMin(&sums->x_min, x);
    atomicMin(&sums->y_min, y);
    atomicMax(&sums->x_max, x + length - 1);
    atomicMax(&sums->y_max, y);
    atomicAdd(&sums->x_sum, (unsigned long long)length * (2 * x + length - 1) / 2);
    atomicAdd(&sums->y_sum, (unsigned long long)length * y);
    if (fault == PLAIN_AREA)
        sums->area += length;
    else
        atomicAdd(&sums->area, length);
}

static __global__ void add_kernel(struct image in, struct boxes_sums *table, enum boxes_fault fault)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    int label = ((const int *)image_row(&in, y))[x];
    if (label > 0 && label <= in.width * in.height)
        add(&table[label - 1], x, y, 1, fault);
}

static __global__ void count_kernel(const struct boxes_sums *table, int labels, int min_area, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < labels && table[i].area >= min_area);

    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/* Sums of all values before each thread's own, over a block of STRETCH threads; *total is the sum of all. */
static __device__ int sums_before(int value, int *total, enum boxes_fault fault)
{
    __shared__ int sums[STRETCH];

    __syncthreads(); /* a second call must not overwrite these sums before all threads have read them */
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = 1; step < STRETCH; step *= 2) {
        int other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        if (fault != NO_SCAN_BARRIER)
            __syncthreads();
        sums[threadIdx.x] += other;
        __syncthreads();
    }
    *total = sums[STRETCH - 1];
    return sums[threadIdx.x] - value;
}

/* One block: counts become sums of the counts before them, and the table's first row says how many there are. */
static __global__ void offset_kernel(int *counts, int stretches, struct image out, enum boxes_fault fault)
{
    int done = 0, total;

    for (int first = 0; first < stretches; first += STRETCH, done += total) {
        int i = first + threadIdx.x, count = i < stretches ? counts[i] : 0, before = sums_before(count, &total, fault);
        if (i < stretches)
            counts[i] = done + before;
    }
    if (threadIdx.x == 0)
        *(int *)image_row(&out, 0) = done;
}

static __global__ void write_kernel(const struct boxes_sums *table, int labels, int min_area, const int *counts,
                                    struct image out, enum boxes_fault fault)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, total;
    int selected = i < labels && table[i].area >= min_area,
        row = 1 + counts[blockIdx.x] + sums_before(selected, &total, fault);

    if (selected && row < out.height)
        boxes_write_row(&table[i], i + 1, (int *)image_row(&out, row));
}

enum status boxes_mutant_setup(struct boxes_mutant *state, const struct image *in, enum boxes_fault fault)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height;
    const bool clears = fault == CLEARED_IN_SETUP || (fault == CLEARED_ONCE && !state->table);

    if (!state->table)
        TRY(device_allocate((void **)&state->table, labels * sizeof *state->table));
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(labels, STRETCH) * sizeof(int)));
    if (clears)
        clear_sums_kernel<<<ceiling_divide(labels, STRETCH), STRETCH>>>(state->table, labels);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaStreamSynchronize(0));
out:
    return status;
}

enum status boxes_mutant_launch(struct boxes_mutant *state, const struct image *in, struct image *out, int min_area,
                                enum boxes_fault fault, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height, stretches = ceiling_divide(labels, STRETCH);
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    if (fault != CLEARED_IN_SETUP && fault != CLEARED_ONCE)
        clear_sums_kernel<<<stretches, STRETCH, 0, stream>>>(state->table, labels);
    clear_rows_kernel<<<stretches, STRETCH, 0, stream>>>(*out);
    CUDA_TRY(cudaGetLastError());
    add_kernel<<<grid, block, 0, stream>>>(*in, state->table, fault);
    CUDA_TRY(cudaGetLastError());
    count_kernel<<<stretches, STRETCH, 0, stream>>>(state->table, labels, min_area, state->counts);
    CUDA_TRY(cudaGetLastError());
    offset_kernel<<<1, STRETCH, 0, stream>>>(state->counts, stretches, *out, fault);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<stretches, STRETCH, 0, stream>>>(state->table, labels, min_area, state->counts, *out, fault);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void boxes_mutant_teardown(struct boxes_mutant *state)
{
    device_free(state->table);
    device_free(state->counts);
}
