/* numbers.cu: roots are counted, and sums of the counts before give each its number. */
#include "cuda/labelling/shared/roots.cuh"

/* Sums of all values before each thread's own, over a block; *total is the sum of all. */
static __device__ int sums_before(int value, int *total)
{
    __shared__ int sums[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = value, before = 0;

    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, step);
        sum += lane >= step ? other : 0;
    }
    __syncthreads(); /* a second call overwrites sums only after all threads have read those of the first */
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? sums[i] : 0;
        *total += sums[i];
    }
    return before + sum - value;
}

static __global__ void count_kernel(const unsigned *bits, const int *parent, int width, int height, int *counts)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, total;
    unsigned roots = i < across * height ? roots_of(bits[i], parent, i / across * width + i % across * 32) : 0;

    sums_before(__popc(roots), &total);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}

/* One block turns counts into sums of those before; the last one becomes the sum of all. */
static __global__ void scan_kernel(int *counts, int blocks)
{
    int before = 0, total;

    for (int first = 0; first < blocks; first += BLOCK, before += total) {
        int i = first + threadIdx.x, sum = before + sums_before(i < blocks ? counts[i] : 0, &total);
        if (i < blocks)
            counts[i] = sum;
    }
    if (threadIdx.x == 0)
        counts[blocks] = before;
}

static __global__ void number_kernel(const unsigned *bits, const int *parent, int width, int height, const int *counts,
                                     int *rank, struct boxes_sums *sums, int rows)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, across = (width + 31) / 32, total;
    int node = i / across * width + i % across * 32;
    unsigned roots = i < across * height ? roots_of(bits[i], parent, node) : 0;
    int number = counts[blockIdx.x] + sums_before(__popc(roots), &total);

    for (; roots; roots &= roots - 1) {
        rank[node + __ffs((int)roots) - 1] = ++number;
        if (number <= rows)
            sums[number - 1] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
    }
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
                                                numbers->sums, rows);
    CUDA_TRY(cudaGetLastError());
    if (rows)
        TRY(statistics_launch(numbers, bits, parent, labels, table, params, stream));
out:
    return status;
}

void numbers_free(struct numbers *numbers)
{
    device_free(numbers->rank);
    device_free(numbers->counts);
    device_free(numbers->sums);
}
