/*
 * Idea:     no launch clears the table, because each leaves it as it was found. Setup clears it once; the thread that
 *           reads an entry in use clears it again, so that the next launch finds all of them empty.
 * Changed:  the write kernel clears, and its last block clears the rows that are left over; no launch clears the
 *           table. The block is 32x8 again, without tunables.
 * Expect:   kernel 0.1 ms less at 3840x2160: the 332 MB that each launch wrote took 80 us at 4 TB/s or more, for they
 *           go out in pieces of 40 bytes. Count and write still read the table, for which each needs as long again.
 * Result:   277 us in place of 741 (results/h200/boxes/boxes_3840x2160_steps.json): 464 us less, four times what was
 *           expected.
 */
/* Try: make bench-boxes VERSIONS=cuda/v1.3,cuda/v1.4 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"
#include "cuda/boxes/shared/sums.cuh"

struct state {
    struct boxes_sums *table; /* device: width * height entries, between launches all empty */
    int *counts;              /* device: of each stretch, then rows before it */
};

static __device__ void add(struct boxes_sums *sums, int x, int y, int length)
{
    atomicMin(&sums->x_min, x);
    atomicMin(&sums->y_min, y);
    atomicMax(&sums->x_max, x + length - 1);
    atomicMax(&sums->y_max, y);
    atomicAdd(&sums->area, length);
    atomicAdd(&sums->x_sum, (unsigned long long)length * (2 * x + length - 1) / 2);
    atomicAdd(&sums->y_sum, (unsigned long long)length * y);
}

static __global__ void add_kernel(struct image in, struct boxes_sums *table)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
    int label = x < in.width && y < in.height ? ((const int *)image_row(&in, y))[x] : 0;
    int left = __shfl_up_sync(0xffffffff, label, 1);
    bool starts = lane == 0 || threadIdx.x == 0 || label != left;
    unsigned next = __ballot_sync(0xffffffff, starts) >> lane >> 1; /* starts right of this lane, next one lowest */

    if (starts && label > 0 && label <= in.width * in.height)
        add(&table[label - 1], x, y, next ? __ffs((int)next) : 32 - lane);
}

static __global__ void write_kernel(struct boxes_sums *table, int labels, int min_area, const int *counts,
                                    struct image out)
{
    __shared__ int sums[BOXES_STRETCH / 32];
    int i = blockIdx.x * BOXES_STRETCH + threadIdx.x, area = i < labels ? table[i].area : 0, total;
    int row = 1 + counts[blockIdx.x] + sums_before(area >= min_area, &total, sums);

    if (area >= min_area && row < out.height)
        boxes_write_row(&table[i], i + 1, (int *)image_row(&out, row));
    if (area > 0)
        table[i] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
    if (blockIdx.x < gridDim.x - 1)
        return;
    if (threadIdx.x > 0 && threadIdx.x < BOXES_COLUMNS)
        ((int *)out.data)[threadIdx.x] = 0;
    for (int half = 2 * (1 + counts[blockIdx.x] + total) + threadIdx.x; half < 2 * out.height; half += BOXES_STRETCH)
        ((int4 *)image_row(&out, half / 2))[half % 2] = {0, 0, 0, 0};
}

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height;

    (void)params;
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(labels, BOXES_STRETCH) * sizeof(int)));
    if (!state->table)
        TRY(boxes_create_table(&state->table, labels));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct boxes_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height, stretches = ceiling_divide(labels, BOXES_STRETCH);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    add_kernel<<<grid, block, 0, stream>>>(*in, state->table);
    CUDA_TRY(cudaGetLastError());
    TRY(boxes_count(state->table, labels, params->min_area, state->counts, stream));
    TRY(boxes_offsets(state->counts, stretches, out, stream));
    write_kernel<<<stretches, BOXES_STRETCH, 0, stream>>>(state->table, labels, params->min_area, state->counts, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->table);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(boxes)
