/*
 * Problem:  Each launch writes 332 MB of table and reads them twice, for a few thousand components.
 * Idea:     A bit mask says which entries are in use; only these are read
 *           (cuda/boxes/shared/used.cu). The thread that reads an entry empties it, too, so no
 *           launch clears the table. A block sums the counts before its own: no kernel for offsets.
 * Expect:   0.1 ms less without clearing, the rest 6 times as fast: 2 MB of mask replace 664 MB.
 * Result:   Kernels 12 times as fast as cuda/v1.3, 76 us (results/h100/boxes/boxes_3840x2160.json),
 *           more than predicted; the reason is not known.
 * Run:      make diff-boxes A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"
#include "cuda/boxes/shared/used.h"

struct state {
    struct boxes_sums *table; /* device: width * height entries, between launches all empty */
    unsigned *used;           /* device: a bit for each entry that is not empty, between launches all 0 */
    int *counts;              /* device: of each stretch of the bits */
};

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

static __device__ void add(struct boxes_sums *table, unsigned *used, int label, int x, int y, int length)
{
    struct boxes_sums *sums = &table[label - 1];

    atomicMin(&sums->x_min, x);
    atomicMin(&sums->y_min, y);
    atomicMax(&sums->x_max, x + length - 1);
    atomicMax(&sums->y_max, y);
    atomicAdd(&sums->x_sum, (unsigned long long)length * (2 * x + length - 1) / 2);
    atomicAdd(&sums->y_sum, (unsigned long long)length * y);
    if (atomicAdd(&sums->area, length) == 0)
        atomicOr(&used[(label - 1) / 32], 1u << (label - 1) % 32);
}

/*     lane     0 1 2 3 4 5 6 7
 *     label    5 5 5 9 9 0 5 5      a run starts where the label is not that of the lane on the left
 *     starts   1 0 0 1 0 1 1 0      ballot; from lane 0 the next start is 3 lanes away: the run's length */
static __global__ void add_kernel(struct image in, struct boxes_sums *table, unsigned *used)
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
        add(table, used, label, x, y, next ? __ffs((int)next) : 32 - lane);
}

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height, words = labels / 32 + 1;

    (void)params;
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(words, BOXES_STRETCH) * sizeof(int)));
    if (!state->used) {
        TRY(device_allocate((void **)&state->used, words * sizeof *state->used));
        TRY(device_clear(state->used, words * sizeof *state->used));
    }
    if (!state->table)
        TRY(boxes_create_table(&state->table, labels));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct boxes_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int words = in->width * in->height / 32 + 1;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    add_kernel<<<grid, block, 0, stream>>>(*in, state->table, state->used);
    CUDA_TRY(cudaGetLastError());
    TRY(boxes_write_used(state->table, state->used, words, params->min_area, state->counts, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->table);
    device_free(state->used);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(boxes, .tunables = tunables, .illegal = illegal)
