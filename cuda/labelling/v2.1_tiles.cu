/*
 * Problem:  cuda/v2.0 unites in global memory, 300 cycles per step, up to 32 unions per thread.
 * Idea:     A block first unites the runs of its tile, 128 pixels by 16 rows, in shared memory,
 *           where a step takes 30 cycles. Where tiles meet, a thread has one pixel and so at most
 *           one union (shared/borders.cuh).
 * Expect:   2.5 times as fast as cuda/v2.0: about 1 of 16 unions is left for global memory.
 * Result:   1.4 times as fast as cuda/v2.0, 49.2 us
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make diff-labelling A=cuda/v2.0 B=cuda/v2.1
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/borders.cuh"
#include "cuda/labelling/shared/words.cuh"

enum { TILE_WORDS = 4, TILE_WIDTH = 32 * TILE_WORDS, ROWS = 8 };

static int block_height = 16;
static const int block_heights[] = {8, 16, 32, 64, 0};
static struct tunable tunables[] = {{"block_height", &block_height, block_heights, "rows of a tile"}, {}};

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
};

static __global__ void init_kernel(struct image in, unsigned *bits, int *parent, int grow)
{
    extern __shared__ int tile[]; /* parents [blockDim.y][TILE_WIDTH], then words [blockDim.y][TILE_WORDS] */
    unsigned *words = (unsigned *)tile + blockDim.y * TILE_WIDTH, *own = words + threadIdx.y * TILE_WORDS + threadIdx.x;
    int column = blockIdx.x * TILE_WORDS + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int node = threadIdx.y * TILE_WIDTH + threadIdx.x * 32, first = blockIdx.y * blockDim.y * in.width;
    unsigned word = 0;

    if (column < words_per_row(in) && y < in.height)
        bits[y * words_per_row(in) + column] = word = word_at(in, column, y);
    *own = word;
    __syncthreads();
    unsigned left = threadIdx.x > 0 ? own[-1] : 0, starts = word & ~(word << 1);
    for (unsigned rest = starts; rest; rest &= rest - 1)
        tile[node + __ffs((int)rest) - 1] = node + __ffs((int)rest) - 1;
    if (word & 1 && left >> 31)
        tile[node] = node - 32 + run_start(left, 31);
    __syncthreads();
    if (threadIdx.y > 0) {
        unsigned up = own[-TILE_WORDS], up_left = threadIdx.x > 0 ? own[-TILE_WORDS - 1] : 0;
        for (unsigned rest = pairs_of(word, left, up, up_left, grow); rest; rest &= rest - 1) {
            int at = __ffs((int)rest) - 1;
            unite(tile, node + start_at(word, left, at), node - TILE_WIDTH + start_at(up, up_left, at));
        }
    }
    __syncthreads();
    first += blockIdx.x * TILE_WIDTH;
    for (unsigned rest = starts; rest; rest &= rest - 1) {
        int at = node + __ffs((int)rest) - 1, root = find(tile, at);
        parent[first + at / TILE_WIDTH * in.width + at % TILE_WIDTH] =
            first + root / TILE_WIDTH * in.width + root % TILE_WIDTH;
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
        unite(parent, pair[0], pair[1]);
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
    const int tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = 32 * width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    dim3 tile(TILE_WORDS, block_height), tiles(tiles_across, ceiling_divide(in->height, tile.y));
    dim3 block(32, ROWS), strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS));
    size_t shared = (size_t)block_height * (TILE_WIDTH + TILE_WORDS) * sizeof(int);

    init_kernel<<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        merge_kernel<<<ceiling_divide(across + down, 128), 128, 0, stream>>>(*in, state->bits, state->parent,
                                                                             block_height, across, grow);
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

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only, .tunables = tunables)
