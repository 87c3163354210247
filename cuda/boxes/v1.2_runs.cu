/*
 * Idea:     a run of equal labels within a warp is added by one thread, in seven atomic operations for all its pixels.
 *           There is nothing to tile here: a pixel's label is read once, by one thread.
 * Changed:  the add kernel. A shuffle and a ballot tell where runs begin; the distance to the next one is the length.
 * Expect:   add kernel 5 times faster or more where components are wide: 8 pixels and more a run mean an eighth of the
 *           atomics, and large components' entries are what the others wait for. Clearing and reading the table stays.
 */
/* Try: make bench-boxes VERSIONS=cuda */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"
#include "cuda/boxes/shared/rows.h"

struct state {
    struct boxes_sums *table; /* device: width * height entries */
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

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height;

    (void)params;
    if (!state->table)
        TRY(device_allocate((void **)&state->table, labels * sizeof *state->table));
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(labels, BOXES_STRETCH) * sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct boxes_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(boxes_clear(state->table, labels, out, stream));
    add_kernel<<<grid, block, 0, stream>>>(*in, state->table);
    CUDA_TRY(cudaGetLastError());
    TRY(boxes_write_rows(state->table, labels, params->min_area, state->counts, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->table);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(boxes)
