/*
 * Problem:  Atomic contention: all pixels of a component change the same seven numbers.
 * Idea:     A run is equal labels (component numbers) side by side in a warp. One lane adds it by
 *           seven atomics for all its pixels; shuffle and ballot tell where runs begin.
 * Expect:   Add kernel 5 times as fast if components are wide: 8 pixels per run, so 1/8 of the
 *           atomics.
 * Result:   Kernels 1.53 times as fast as cuda/v1.1, 920 us
 *           (results/h100/boxes/boxes_3840x2160.json); this counts clearing and reading the table.
 * Run:      make diff-boxes A=cuda/v1.1 B=cuda/v1.2
 */
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

/*     lane     0 1 2 3 4 5 6 7
 *     label    5 5 5 9 9 0 5 5      a run starts where the label is not that of the lane on the left
 *     starts   1 0 0 1 0 1 1 0      ballot; from lane 0 the next start is 3 lanes away: the run's length */
static __global__ void add_kernel(struct image in, struct boxes_sums *table)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
    int label = x < in.width && y < in.height ? ((const int *)image_row(&in, y))[x] : 0;
    int left = __shfl_up_sync(0xffffffff, label, 1);
    bool starts = lane == 0 || threadIdx.x == 0 || label != left;
    unsigned next =
        __ballot_sync(0xffffffff, starts) >> lane >> 1; /* starts right of this lane, the nearest in bit 0 */

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
