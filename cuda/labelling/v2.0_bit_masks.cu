/*
 * Problem:  cuda/v1.3 has a node per pixel, and nearly all unions are within one tree already.
 * Idea:     A thread packs 32 pixels into the bits of a word. Nodes are runs (unbroken foreground
 *           in a row); bit arithmetic (shared/words.cuh) finds which runs of two rows touch: one
 *           union per pair of runs instead of several per pixel.
 * Expect:   6 times as fast as cuda/v1.3: a photograph has one run per 20 pixels.
 * Result:   12.8 times as fast as cuda/v1.3, 69.5 us; relaxed loads slow cuda/v1.3 more
 *           (results/h100/labelling/labelling_3840x2160.json, relaxed_walks.txt).
 * Run:      make bench-labelling VERSIONS=cuda/v1.3,cuda/v2.0
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/words.cuh"

enum { ROWS = 8 };

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
};

/* A thread packs a word, and makes each of its runs a tree of its own. */
static __global__ void init_kernel(struct image in, unsigned *bits, int *parent)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int node = y * in.width + 32 * column;

    if (column >= words_per_row(in) || y >= in.height)
        return;
    unsigned word = bits[y * words_per_row(in) + column] = word_at(in, column, y);
    for (unsigned starts = word & ~(word << 1); starts; starts &= starts - 1)
        parent[node + __ffs((int)starts) - 1] = node + __ffs((int)starts) - 1;
}

/* A thread unites the runs of a word with those they touch above, and the first with the run that it goes on from. */
static __global__ void merge_kernel(struct image in, const unsigned *bits, int *parent, int grow)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int width = words_per_row(in), node = y * in.width + 32 * column;

    if (column >= width || y >= in.height)
        return;
    const unsigned *own = bits + y * width + column, *above = own - width;
    unsigned word = *own, left = column > 0 ? own[-1] : 0;
    if (word & 1 && left >> 31)
        unite(parent, node, node - 32 + run_start(left, 31));
    unsigned up = y > 0 ? *above : 0, up_left = y > 0 && column > 0 ? above[-1] : 0;
    for (unsigned rest = pairs_of(word, left, up, up_left, grow); rest; rest &= rest - 1) {
        int at = __ffs((int)rest) - 1;
        unite(parent, node + start_at(word, left, at), node - in.width + start_at(up, up_left, at));
    }
}

/* A warp has 4 words of a row, a lane 4 pixels. It looks up the labels of the runs that begin there, at most two;
 * that of the run which goes on from the left comes from the lane where it begins. */
static __global__ void compress_kernel(struct image out, const unsigned *bits, const int *parent)
{
    int y = blockIdx.y * ROWS + threadIdx.y, x = 4 * (blockIdx.x * 32 + threadIdx.x), at = x % 32;
    int labels[2] = {}, four[4];
    unsigned word = 0;

    if (y >= out.height)
        return;
    if (x / 32 < words_per_row(out))
        word = bits[y * words_per_row(out) + x / 32];
    unsigned starts = (word & ~(word << 1)) >> at & 15;
    if (starts) {
        labels[0] = labels[1] = root_of(parent, y * out.width + x + __ffs((int)starts) - 1) + 1;
        if (starts & (starts - 1))
            labels[1] = root_of(parent, y * out.width + x + 31 - __clz((int)starts)) + 1;
    }
    int label = __shfl_sync(0xffffffff, labels[1], run_start(word, at) / 4, 8);
    for (int i = 0; i < 4; i++) {
        if (starts >> i & 1)
            label = labels[i >= 2 && starts & 3];
        four[i] = word >> (at + i) & 1 ? label : 0;
    }
    int *to = (int *)image_row(&out, y) + x;
    if (x + 4 <= out.width)
        *(int4 *)to = make_int4(four[0], four[1], four[2], four[3]);
    else
        for (int i = 0; i < out.width - x; i++)
            to[i] = four[i];
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->bits)
        TRY(device_allocate((void **)&state->bits, (size_t)words_per_row(*in) * in->height * sizeof(unsigned)));
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = words_per_row(*in), grow = params->connectivity == 8;
    dim3 block(32, ROWS), words(ceiling_divide(width, 32), ceiling_divide(in->height, ROWS));
    dim3 strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS));

    init_kernel<<<words, block, 0, stream>>>(*in, state->bits, state->parent);
    CUDA_TRY(cudaGetLastError());
    merge_kernel<<<words, block, 0, stream>>>(*in, state->bits, state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    compress_kernel<<<strips, block, 0, stream>>>(*out, state->bits, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->bits);
    device_free(state->parent);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
