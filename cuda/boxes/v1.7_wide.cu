/*
 * Idea:     a thread reads four labels with one load, so that a warp covers 128 pixels of a row.
 * Changed:  the add kernel: four bits for where the thread's runs begin, a ballot and a shuffle for where the last one
 *           ends. The count and write kernels, which stay as they are from here on, moved to shared/used.cu.
 * Expect:   kernel 1.3 times faster: a quarter of the threads, loads and ballots, but only a fifth fewer atomics. Runs
 *           of the bench's labels are 11 pixels long on average, of which the borders of 32 pixels cut every third.
 * Result:   46.6 us, 1.49 times v1.6 (results/h200/boxes/boxes_3840x2160_steps.json).
 */
/* Try: make bench-boxes VERSIONS=cuda/v1.6,cuda/v1.7 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"
#include "cuda/boxes/shared/used.cuh"

enum { TILE_WIDTH = 128 }; /* a warp takes a row of a tile, a thread 4 pixels */

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

/* 4 labels of a row; what is no label, and what is beyond the image, is 0. */
static __device__ int4 load(const struct image &in, int x, int y)
{
    int4 l = {0, 0, 0, 0};
    unsigned labels = in.width * in.height;

    if (x < in.width && y < in.height) { /* what begins inside the row may be read whole (image.h) */
        l = *(const int4 *)((const int *)image_row(&in, y) + x);
        l.x = (unsigned)l.x <= labels ? l.x : 0;
        l.y = (unsigned)l.y <= labels && x + 1 < in.width ? l.y : 0;
        l.z = (unsigned)l.z <= labels && x + 2 < in.width ? l.z : 0;
        l.w = (unsigned)l.w <= labels && x + 3 < in.width ? l.w : 0;
    }
    return l;
}

static __global__ void add_kernel(struct image in, struct boxes_sums *table, unsigned *used)
{
    int lane = threadIdx.x, x = blockIdx.x * TILE_WIDTH + 4 * lane;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int4 l = load(in, x, y);
    int left = __shfl_up_sync(0xffffffff, l.w, 1);
    /* Bit k: a run starts at pixel k of this thread. It ends where the next one starts, here or in a later lane. */
    int starts = (lane == 0 || l.x != left) | (l.y != l.x) << 1 | (l.z != l.y) << 2 | (l.w != l.z) << 3;
    unsigned later = __ballot_sync(0xffffffff, starts) >> lane >> 1; /* lanes with starts, next one lowest */
    int further = later ? __ffs((int)later) : 0, there = __shfl_sync(0xffffffff, starts, lane + further);
    int end = later ? 4 * further + __ffs(there) - 1 : TILE_WIDTH - 4 * lane;

    for (; starts; starts &= starts - 1) {
        int k = __ffs(starts) - 1, rest = starts & (starts - 1), label = k < 2 ? k ? l.y : l.x : k < 3 ? l.z : l.w;
        if (label)
            add(table, used, label, x + k, y, (rest ? __ffs(rest) - 1 : end) - k);
    }
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
    const int words = in->width * in->height / 32 + 1;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, TILE_WIDTH), ceiling_divide(in->height, block.y));

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

RUNGS_CUDA_VERSION(boxes)
