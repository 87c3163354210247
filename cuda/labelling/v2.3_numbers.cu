/*
 * Problem:  Labels 1, 2, 3 ... and statistics take another pass over 33 MB of labels (cuda/boxes).
 * Idea:     A prefix sum (scan) over the roots of each word gives components labels 1, 2, 3 ...
 *           (shared/numbers.cu). A run adds its length, ends and sums of coordinates to its
 *           component: atomic operations per run, not per pixel.
 * Expect:   Labels alone as fast as cuda/v2.2; 1, 2, 3 ... cost 10 us, statistics 20 us more.
 * Result:   1.00 times as fast as cuda/v2.2 for labels alone, 44.7 us
 *           (results/h100/labelling/labelling_3840x2160.json).
 * Run:      make diff-labelling A=cuda/v2.2 B=cuda/v2.3
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/borders.cuh"
#include "cuda/labelling/shared/numbers.h"
#include "cuda/labelling/shared/places.cuh"
#include "cuda/labelling/shared/words.cuh"

enum { TILE_WORDS = 8, ROWS = 8, PITCH = PLACES };

static int block_height = 32;
static const int block_heights[] = {8, 16, 32, 64, 0};
static struct tunable tunables[] = {{"block_height", &block_height, block_heights, "rows of a tile"}, {}};

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
    struct numbers numbers;
};

static __global__ void init_kernel(struct image in, unsigned *bits, int *parent, int grow)
{
    extern __shared__ int tile[]; /* parents [blockDim.y][TILE_WORDS][PITCH], then words [blockDim.y][TILE_WORDS] */
    unsigned *words = (unsigned *)tile + blockDim.y * TILE_WORDS * PITCH;
    unsigned *own = words + threadIdx.y * TILE_WORDS + threadIdx.x, word = 0;
    int column = blockIdx.x * TILE_WORDS + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int node = PITCH * (threadIdx.y * TILE_WORDS + threadIdx.x), above = node - PITCH * TILE_WORDS;
    int first = blockIdx.y * blockDim.y * in.width + blockIdx.x * TILE_WORDS * 32;

    if (column < words_per_row(in) && y < in.height)
        bits[y * words_per_row(in) + column] = word = word_at(in, column, y);
    *own = word;
    __syncthreads();
    unsigned left = threadIdx.x > 0 ? own[-1] : 0, up = threadIdx.y > 0 ? own[-TILE_WORDS] : 0;
    unsigned up_left = threadIdx.x > 0 && threadIdx.y > 0 ? own[-TILE_WORDS - 1] : 0, extra = 0;
    unsigned starts = word & ~(word << 1), pairs = pairs_of(word, left, up, up_left, grow);
    for (unsigned rest = starts; rest; rest &= rest - 1) {
        int at = place_of(node, __ffs((int)rest) - 1);
        tile[at] = at;
    }
    if (starts & 1 && left >> 31)
        tile[node] = place_of(node, run_start(left, 31) - 32);
    for (unsigned rest = pairs; rest; rest &= rest - 1) {
        int at = __ffs((int)rest) - 1, start = start_at(word, left, at);
        if (start < 0 || (start == 0 && left >> 31) || pairs & ((1u << at) - (1u << start)))
            extra |= 1u << at;
        else
            tile[node + start / 2] = place_of(above, start_at(up, up_left, at));
    }
    __syncthreads();
    flatten(tile, node, starts);
    __syncthreads();
    for (; extra; extra &= extra - 1) {
        int at = __ffs((int)extra) - 1;
        unite(tile, place_of(node, start_at(word, left, at)), place_of(above, start_at(up, up_left, at)));
    }
    __syncthreads();
    for (; starts; starts &= starts - 1) {
        int bit = __ffs((int)starts) - 1;
        parent[first + threadIdx.y * in.width + threadIdx.x * 32 + bit] =
            first + pixel_of(words, find(tile, node + bit / 2), TILE_WORDS, in.width);
    }
}

/* The first `across` threads have a pixel of a tile's first row each; the others, each in its row, a tile's left
 * border. */
static __global__ void merge_kernel(struct image in, const unsigned *bits, int *parent, int tile_height, int across,
                                    int grow)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, width = words_per_row(in), pair[2];
    int column = k < across ? k / 32 % width : ((k - across) / in.height + 1) * TILE_WORDS;
    int y = k < across ? (k / 32 / width + 1) * tile_height : (k - across) % in.height;

    if (column >= width || y >= in.height)
        return;
    if (k < across ? pair_up(in, bits, column, y, k % 32, grow, pair)
                   : pair_side(in, bits, column, y, y % tile_height != 0, grow, pair))
        unite_side_by_side(parent, pair[0], pair[1]);
}

/* The label of a node; `rank` holds the numbers of roots, or is NULL. */
static __device__ int label_of(const int *parent, const int *rank, int node)
{
    int root = root_of(parent, node);

    return rank ? rank[root] : root + 1;
}

/* A warp has 4 words of a row, a lane 4 pixels. It looks up the labels of the runs that begin there, at most two;
 * that of the run which goes on from the left comes from the lane where it begins. */
static __global__ void compress_kernel(struct image out, const unsigned *bits, const int *parent, const int *rank)
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
        labels[0] = labels[1] = label_of(parent, rank, y * out.width + x + __ffs((int)starts) - 1);
        if (starts & (starts - 1))
            labels[1] = label_of(parent, rank, y * out.width + x + 31 - __clz((int)starts));
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

    TRY(numbers_setup(&state->numbers, in, params));
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
    const int tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = 32 * width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    dim3 tile(TILE_WORDS, block_height), tiles(tiles_across, ceiling_divide(in->height, tile.y));
    dim3 block(32, ROWS), strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS));
    size_t shared = (size_t)block_height * TILE_WORDS * (PITCH + 1) * sizeof(int);

    init_kernel<<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        merge_kernel<<<ceiling_divide(across + down, 128), 128, 0, stream>>>(*in, state->bits, state->parent,
                                                                             block_height, across, grow);
    CUDA_TRY(cudaGetLastError());
    TRY(numbers_launch(&state->numbers, state->bits, state->parent, out, out + 1, params, stream));
    compress_kernel<<<strips, block, 0, stream>>>(*out, state->bits, state->parent,
                                                  params->consecutive ? state->numbers.rank : NULL);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->bits);
    device_free(state->parent);
    numbers_free(&state->numbers);
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables)
