/*
 * Idea:     numbers and statistics come from runs as well, on the device. Roots are counted word by word, and sums of
 *           the counts before give each root its number in raster order. A run adds its length, ends and sums of
 *           columns to its component, without a look at pixels.
 * Changed:  shared/numbers.cu between merge and compress, where asked for; compress looks a root's number up.
 * Expect:   labels alone as v2.0. Consecutive numbers cost 10 us more at 3840x2160: three kernels that read 1 MB of
 *           bits and the nodes of runs. Statistics of a photograph cost 20 us besides, where cuda/boxes reads 33 MB of
 *           labels; one component that fills the picture costs most, for all words then add to the same 7 places.
 * Result:   89.3 us, as v2.0 (results/h200/labelling/labelling_3840x2160_runs.json).
 */
/* Try: make bench-labelling VERSIONS=cuda/v2.0,cuda/v2.1; then with P="consecutive=1 statistics=1" */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/state.cuh"

enum { TILE_WORDS = 4, TILE_WIDTH = 32 * TILE_WORDS };

static int block_height = 16;
static const int block_heights[] = {8, 16, 32, 64, 0};
static struct tunable tunables[] = {{"block_height", &block_height, block_heights, "rows of a tile"}, {}};

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
    if (threadIdx.y > 0 && word) {
        const unsigned *above = own - TILE_WORDS;
        const unsigned up[3] = {threadIdx.x > 0 ? above[-1] : 0, above[0], threadIdx.x + 1 < TILE_WORDS ? above[1] : 0};
        join_above(tile, node, node - TILE_WIDTH, word, up, grow);
    }
    __syncthreads();
    first += blockIdx.x * TILE_WIDTH;
    for (unsigned rest = starts; rest; rest &= rest - 1) {
        int at = node + __ffs((int)rest) - 1, root = find(tile, at);
        parent[first + at / TILE_WIDTH * in.width + at % TILE_WIDTH] =
            first + root / TILE_WIDTH * in.width + root % TILE_WIDTH;
    }
}

/* The first `across` threads join a word of a tile's first row with the row above; the others, each in its row, the two
 * words on the sides of a tile's left border. */
static __global__ void merge_kernel(struct image in, const unsigned *bits, int *parent, int tile_height, int across,
                                    int grow)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, width = words_per_row(in);
    int column = k < across ? k % width : ((k - across) / in.height + 1) * TILE_WORDS;
    int y = k < across ? (k / width + 1) * tile_height : (k - across) % in.height;

    if (column >= width || y >= in.height)
        return;
    const unsigned *own = bits + y * width + column;
    int node = y * in.width + 32 * column;
    if (k < across) {
        const unsigned up[3] = {column > 0 ? own[-width - 1] : 0, own[-width], column + 1 < width ? own[1 - width] : 0};
        join_above(parent, node, node - in.width, *own, up, grow);
    } else
        join_left(parent, own, node, width, in.width, grow && y % tile_height != 0);
}

/* A thread writes 4 labels. `rank` holds the numbers of roots, or is NULL. */
static __global__ void compress_kernel(struct image out, const unsigned *bits, const int *parent, const int *rank)
{
    int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    int labels[4] = {}, known = -1;

    if (x >= out.width || y >= out.height)
        return;
    unsigned word = bits[y * words_per_row(out) + x / 32];
    for (int k = 0; k < 4; k++) {
        if (!(word >> (x % 32 + k) & 1))
            continue;
        int start = run_start(word, x % 32 + k);
        if (start == known)
            labels[k] = labels[k - 1];
        else {
            int root = node_of(word, x + k, y, out.width);
            while (parent[root] != root)
                root = parent[root];
            labels[k] = rank ? rank[root] : root + 1;
        }
        known = start;
    }
    int *to = (int *)image_row(&out, y) + x;
    if (x + 4 <= out.width)
        *(int4 *)to = make_int4(labels[0], labels[1], labels[2], labels[3]);
    else
        for (int k = 0; k < out.width - x; k++)
            to[k] = labels[k];
}

static enum status launch(struct state *state, const struct image in[], struct image out[],
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = words_per_row(*in), tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    const int grow = params->connectivity == 8;
    dim3 tile(TILE_WORDS, block_height), block(32, 8);
    size_t shared = (size_t)block_height * (TILE_WIDTH + TILE_WORDS) * sizeof(int);

    init_kernel<<<dim3(tiles_across, ceiling_divide(in->height, tile.y)), tile, shared, stream>>>(*in, state->bits,
                                                                                                  state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        merge_kernel<<<ceiling_divide(across + down, 128), 128, 0, stream>>>(*in, state->bits, state->parent,
                                                                             block_height, across, grow);
    CUDA_TRY(cudaGetLastError());
    TRY(numbers_launch(&state->numbers, state->bits, state->parent, out, out + 1, params, stream));
    compress_kernel<<<dim3(ceiling_divide(in->width, 4 * block.x), ceiling_divide(in->height, block.y)), block, 0,
                      stream>>>(*out, state->bits, state->parent, params->consecutive ? state->numbers.rank : NULL);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables)
