/*
 * Idea:     one kernel less. A block that has rows to write adds up the counts before its own by itself.
 * Changed:  the write kernel: 256 threads sum up at most 1013 counts, 4 each, and a block without entries in use ends
 *           at once. The last one writes how many components there are.
 * Expect:   kernel 5 us less: a launch of one block costs its start and the way of four loads, one after the other, to
 *           memory and back, while the other multiprocessors wait. The sums in each block cost less than 1 us.
 * Result:   69.3 us, 2 us less than v1.5 (results/h200/boxes/boxes_3840x2160_steps.json), not 5.
 */
/* Try: make bench-boxes VERSIONS=cuda/v1.5,cuda/v1.6 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"
#include "cuda/boxes/shared/used.cuh"

struct state {
    struct boxes_sums *table; /* device: width * height entries, between launches all empty */
    unsigned *used;           /* device: a bit for each entry that is not, between launches all 0 */
    int *counts;              /* device: of each stretch */
};

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

static __global__ void add_kernel(struct image in, struct boxes_sums *table, unsigned *used)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
    int label = x < in.width && y < in.height ? ((const int *)image_row(&in, y))[x] : 0;
    int left = __shfl_up_sync(0xffffffff, label, 1);
    bool starts = lane == 0 || threadIdx.x == 0 || label != left;
    unsigned next = __ballot_sync(0xffffffff, starts) >> lane >> 1; /* starts right of this lane, next one lowest */

    if (starts && label > 0 && label <= in.width * in.height)
        add(table, used, label, x, y, next ? __ffs((int)next) : 32 - lane);
}

static __global__ void write_kernel(struct boxes_sums *table, unsigned *used, int words, int min_area,
                                    const int *counts, struct image out)
{
    __shared__ int sums[BOXES_STRETCH / 32];
    int i = blockIdx.x * BOXES_STRETCH + threadIdx.x, first = 0, before, total;
    unsigned word = i < words ? used[i] : 0;
    bool last = blockIdx.x == gridDim.x - 1;

    if (!__syncthreads_or(word != 0) && !last)
        return;
    for (unsigned stretch = threadIdx.x; stretch < blockIdx.x; stretch += BOXES_STRETCH)
        first += counts[stretch];
    sums_before(first, &before, sums);
    table += 32 * (size_t)i;
    int row = 1 + before + sums_before(count_large(table, word, min_area), &total, sums);
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

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height, words = labels / 32 + 1;

    (void)params;
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(words, BOXES_STRETCH) * sizeof(int)));
    if (!state->used) {
        TRY(device_allocate((void **)&state->used, words * sizeof *state->used));
        CUDA_TRY(cudaMemset(state->used, 0, words * sizeof *state->used));
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
    const int words = in->width * in->height / 32 + 1, stretches = ceiling_divide(words, BOXES_STRETCH);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    add_kernel<<<grid, block, 0, stream>>>(*in, state->table, state->used);
    CUDA_TRY(cudaGetLastError());
    TRY(boxes_count_used(state->table, state->used, words, params->min_area, state->counts, stream));
    write_kernel<<<stretches, BOXES_STRETCH, 0, stream>>>(state->table, state->used, words, params->min_area,
                                                          state->counts, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->table);
    device_free(state->used);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(boxes)
