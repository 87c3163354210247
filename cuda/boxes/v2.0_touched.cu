/*
 * Idea:     memory is touched only where there is a component. Setup clears the table once, and a thread that reads an entry
 *           clears it again: no launch clears 40 bytes a pixel. A map of one bit a label says which entries are in use.
 *           A block sums up the runs of its tile in shared memory first, so that a component costs a few atomics per
 *           tile, not per run.
 * Changed:  add (tiles, 4 labels a load, a hash table in shared memory), count and write (a thread looks at 32 bits of
 *           the map, not at an entry); the clear kernel runs in setup; offset is gone, write adds up the counts itself.
 * Expect:   kernel 40 times faster at 3840x2160, near 20 us. v1.3 writes 330 MB of table and reads it twice, 1 GB or 300
 *           us in pieces of 40 bytes, and one block alone scans 32400 counts. Left are 33 MB of labels once and the
 *           map's 1 MB four times: 8 us of memory, as much again for shared atomics and three kernels' start and end.
 * Result:   33 times, 23.6 us (results/h200/boxes/boxes_3840x2160.json).
 */
/* Try: make bench-boxes VERSIONS=cuda/v1.3,cuda/v2.0 */
#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum {
    STRETCH = 256, /* words of the map, 32 labels each, that a block looks at, one a thread */
    TILE_WIDTH = 128,
    TILE_HEIGHT = 64, /* a warp takes a row of a tile, a thread 4 pixels */
    TILE_WARPS = 8,
    SLOTS = 512,
    PROBES = 8 /* a tile with more components than fit adds the rest to the table directly */
};

struct state {
    struct boxes_sums *table; /* device: width * height entries, between launches all as clear_kernel leaves them */
    unsigned *used;           /* device: a bit for each entry that is not, between launches all 0 */
    int *counts;              /* device: of each stretch */
};

/* Sums of a tile's components, by slot. 32 bits hold them: 8192 pixels * 65534 < 2^32. */
struct tile {
    int label[SLOTS]; /* 0: free */
    int x_min[SLOTS], y_min[SLOTS], x_max[SLOTS], y_max[SLOTS], area[SLOTS];
    unsigned x_sum[SLOTS], y_sum[SLOTS];
};

static __global__ void clear_kernel(struct boxes_sums *table, int labels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < labels)
        table[i] = {0x7fffffff, 0x7fffffff, -1, -1, 0, 0, 0};
}

static __device__ void add(struct boxes_sums *table, unsigned *used, int label, const struct boxes_sums &part)
{
    struct boxes_sums *sums = &table[label - 1];

    atomicMin(&sums->x_min, part.x_min);
    atomicMin(&sums->y_min, part.y_min);
    atomicMax(&sums->x_max, part.x_max);
    atomicMax(&sums->y_max, part.y_max);
    atomicAdd(&sums->x_sum, part.x_sum);
    atomicAdd(&sums->y_sum, part.y_sum);
    if (atomicAdd(&sums->area, part.area) == 0)
        atomicOr(&used[(label - 1) / 32], 1u << (label - 1) % 32);
}

/* The slot of a label, which it takes if it has none yet; -1 if all where it might be are taken. */
static __device__ int find_slot(struct tile *tile, int label)
{
    unsigned slot = label * 2654435761u >> 16;

    for (int probe = 0; probe < PROBES; probe++, slot++) {
        int old = atomicCAS(&tile->label[slot % SLOTS], 0, label);
        if (old == 0 || old == label)
            return slot % SLOTS;
    }
    return -1;
}

static __device__ void add_run(struct tile *tile, struct boxes_sums *table, unsigned *used, int label, int x, int y,
                               int length)
{
    int slot = find_slot(tile, label);
    unsigned x_sum = (unsigned)length * (2 * x + length - 1) / 2, y_sum = (unsigned)length * y;

    if (slot < 0) {
        add(table, used, label, {x, y, x + length - 1, y, length, x_sum, y_sum});
        return;
    }
    atomicMin(&tile->x_min[slot], x);
    atomicMin(&tile->y_min[slot], y);
    atomicMax(&tile->x_max[slot], x + length - 1);
    atomicMax(&tile->y_max[slot], y);
    atomicAdd(&tile->area[slot], length);
    atomicAdd(&tile->x_sum[slot], x_sum);
    atomicAdd(&tile->y_sum[slot], y_sum);
}

/* 4 labels of a row; what is no label, and what is beyond the image, is 0. */
static __device__ int4 load(const struct image &in, int x, int y, int last_row)
{
    int4 l = {0, 0, 0, 0};
    unsigned labels = in.width * in.height;

    if (x < in.width && y < last_row) { /* what begins inside the row may be read whole (image.h) */
        l = *(const int4 *)((const int *)image_row(&in, y) + x);
        l.x = (unsigned)l.x <= labels ? l.x : 0;
        l.y = (unsigned)l.y <= labels && x + 1 < in.width ? l.y : 0;
        l.z = (unsigned)l.z <= labels && x + 2 < in.width ? l.z : 0;
        l.w = (unsigned)l.w <= labels && x + 3 < in.width ? l.w : 0;
    }
    return l;
}

static __global__ void __launch_bounds__(32 * TILE_WARPS)
    add_kernel(struct image in, struct boxes_sums *table, unsigned *used)
{
    __shared__ struct tile tile;
    int lane = threadIdx.x, thread = threadIdx.y * 32 + lane, x = blockIdx.x * TILE_WIDTH + 4 * lane;
    int y = blockIdx.y * TILE_HEIGHT + threadIdx.y, last_row = min((int)(blockIdx.y + 1) * TILE_HEIGHT, in.height);
    int4 next = load(in, x, y, last_row); /* a row ahead of the work, so that the work hides the wait */

    for (int slot = thread; slot < SLOTS; slot += 32 * TILE_WARPS) {
        tile.label[slot] = tile.area[slot] = tile.x_sum[slot] = tile.y_sum[slot] = 0;
        tile.x_min[slot] = tile.y_min[slot] = 0x7fffffff;
        tile.x_max[slot] = tile.y_max[slot] = -1;
    }
    __syncthreads();
    for (; y < last_row; y += TILE_WARPS) {
        int4 l = next;
        next = load(in, x, y + TILE_WARPS, last_row);
        int left = __shfl_up_sync(0xffffffff, l.w, 1);
        /* Bit k: a run starts at pixel k of this thread. It ends where the next one starts, here or in a later lane. */
        int starts = (lane == 0 || l.x != left) | (l.y != l.x) << 1 | (l.z != l.y) << 2 | (l.w != l.z) << 3;
        unsigned later = __ballot_sync(0xffffffff, starts) >> lane >> 1; /* lanes with starts, next one lowest */
        int further = later ? __ffs((int)later) : 0, there = __shfl_sync(0xffffffff, starts, lane + further);
        int end = later ? 4 * further + __ffs(there) - 1 : TILE_WIDTH - 4 * lane;
        for (; starts; starts &= starts - 1) {
            int k = __ffs(starts) - 1, rest = starts & (starts - 1), label = k < 2 ? k ? l.y : l.x : k < 3 ? l.z : l.w;
            if (label)
                add_run(&tile, table, used, label, x + k, y, (rest ? __ffs(rest) - 1 : end) - k);
        }
    }
    __syncthreads();
    for (int i = thread; i < SLOTS; i += 32 * TILE_WARPS)
        if (tile.label[i])
            add(table, used, tile.label[i],
                {tile.x_min[i], tile.y_min[i], tile.x_max[i], tile.y_max[i], tile.area[i], tile.x_sum[i],
                 tile.y_sum[i]});
}

/* Sums of all values before each thread's own, over a block of STRETCH threads; *total is the sum of all. */
static __device__ int sums_before(int value, int *total)
{
    __shared__ int sums[STRETCH / 32]; /* of warps */
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = value, before = 0;

    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, step);
        sum += lane >= step ? other : 0;
    }
    __syncthreads(); /* a second call must not overwrite these sums before all threads have read them */
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < STRETCH / 32; i++) {
        before += i < warp ? sums[i] : 0;
        *total += sums[i];
    }
    return before + sum - value;
}

/* How many entries that a word of the map says are used are large enough; `table` is the one of bit 0. */
static __device__ int count_large(const struct boxes_sums *table, unsigned word, int min_area)
{
    int count = 0;

    for (; word; word &= word - 1)
        count += table[__ffs((int)word) - 1].area >= min_area;
    return count;
}

static __global__ void count_kernel(const struct boxes_sums *table, const unsigned *used, int words, int min_area,
                                    int *counts)
{
    int i = blockIdx.x * STRETCH + threadIdx.x, total;

    sums_before(count_large(table + 32 * (size_t)i, i < words ? used[i] : 0, min_area), &total);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}

static __global__ void write_kernel(struct boxes_sums *table, unsigned *used, int words, int min_area,
                                    const int *counts, struct image out)
{
    int i = blockIdx.x * STRETCH + threadIdx.x, first = 0, before, total;
    unsigned word = i < words ? used[i] : 0;
    bool last = blockIdx.x == gridDim.x - 1;

    if (!__syncthreads_or(word != 0) && !last)
        return;
    for (unsigned stretch = threadIdx.x; stretch < blockIdx.x; stretch += STRETCH)
        first += counts[stretch];
    sums_before(first, &before);
    table += 32 * (size_t)i;
    int row = 1 + before + sums_before(count_large(table, word, min_area), &total);
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
    for (int half = 2 * (1 + before + total) + threadIdx.x; half < 2 * out.height; half += STRETCH)
        ((int4 *)image_row(&out, half / 2))[half % 2] = {0, 0, 0, 0};
}

static enum status setup(struct state *state, const struct image in[], const struct boxes_params *params)
{
    enum status status = STATUS_OK;
    const int labels = in->width * in->height, words = labels / 32 + 1;

    (void)params;
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, ceiling_divide(words, STRETCH) * sizeof *state->counts));
    if (!state->used) {
        TRY(device_allocate((void **)&state->used, words * sizeof *state->used));
        CUDA_TRY(cudaMemset(state->used, 0, words * sizeof *state->used));
    }
    if (!state->table) {
        TRY(device_allocate((void **)&state->table, labels * sizeof *state->table));
        clear_kernel<<<ceiling_divide(labels, 256), 256>>>(state->table, labels);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaDeviceSynchronize());
    }
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct boxes_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int words = in->width * in->height / 32 + 1, stretches = ceiling_divide(words, STRETCH);
    dim3 block(32, TILE_WARPS);
    dim3 grid(ceiling_divide(in->width, TILE_WIDTH), ceiling_divide(in->height, TILE_HEIGHT));

    add_kernel<<<grid, block, 0, stream>>>(*in, state->table, state->used);
    CUDA_TRY(cudaGetLastError());
    count_kernel<<<stretches, STRETCH, 0, stream>>>(state->table, state->used, words, params->min_area, state->counts);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<stretches, STRETCH, 0, stream>>>(state->table, state->used, words, params->min_area, state->counts,
                                                    *out);
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
