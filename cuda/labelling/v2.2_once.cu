/*
 * Idea:     a run's root is looked up once, not once for each 4 pixels of it. A warp takes 32 words of a row: each lane
 *           walks for the runs of its word and leaves their labels in shared memory, from where all lanes write them,
 *           4 at a time; background is written without a look at anything.
 * Changed:  the kernel compress; init and merge stay.
 * Expect:   kernel 10 us faster than v2.1's at 3840x2160: one walk of three dependent loads (300 cycles each) for a word
 *           in place of up to 8, and 65 thousand warps' stores left, which take 8 us (33 MB at 4.2 TB/s).
 * Result:   missed: 87.3 us, 1.5 us less than v2.0 (results/h200/labelling/labelling_3840x2160_pairs.json). The walks of a
 *           lane come one after the other, and its warp waits for the word with the most runs.
 */
/* Try: make bench-labelling VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2; then with P="consecutive=1 statistics=1" */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/state.cuh"

/* Starts of runs are 2 apart, so a word has 16 places for labels; 17 keep the lanes in different banks. */
enum { TILE_WORDS = 4, TILE_WIDTH = 32 * TILE_WORDS, ROWS = 8, PITCH = 17 };

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

/* A warp has 32 words of a row. Each lane looks up the labels of its word's runs; then the lanes write 4 labels at a
 * time, of which at most two runs can be. `rank` holds the numbers of roots, or is NULL. */
static __global__ void compress_kernel(struct image out, const unsigned *bits, const int *parent, const int *rank)
{
    __shared__ int labels[ROWS][32][PITCH];
    __shared__ unsigned words[ROWS][32];
    int y = blockIdx.y * ROWS + threadIdx.y, column = blockIdx.x * 32, own = column + threadIdx.x;
    unsigned word = 0;

    if (y >= out.height)
        return;
    if (own < words_per_row(out))
        word = bits[y * words_per_row(out) + own];
    words[threadIdx.y][threadIdx.x] = word;
    for (unsigned starts = word & ~(word << 1); starts; starts &= starts - 1) {
        int bit = __ffs((int)starts) - 1, root = y * out.width + 32 * own + bit;
        while (parent[root] != root)
            root = parent[root];
        labels[threadIdx.y][threadIdx.x][bit / 2] = rank ? rank[root] : root + 1;
    }
    __syncwarp();
    for (int k = threadIdx.x, x; k < 256 && (x = 32 * column + 4 * k) < out.width; k += 32) {
        const int *of_run = labels[threadIdx.y][k / 8];
        int four[4] = {}, at = x % 32;
        word = words[threadIdx.y][k / 8];
        if (word >> at & 15) {
            int first = run_start(word, at + __ffs((int)(word >> at & 15)) - 1);
            int last = run_start(word, at + 31 - __clz((int)(word >> at & 15)));
            for (int i = 0; i < 4; i++)
                four[i] = word >> (at + i) & 1 ? of_run[(at + i < last ? first : last) / 2] : 0;
        }
        int *to = (int *)image_row(&out, y) + x;
        if (x + 4 <= out.width)
            *(int4 *)to = make_int4(four[0], four[1], four[2], four[3]);
        else
            for (int i = 0; i < out.width - x; i++)
                to[i] = four[i];
    }
}

static enum status launch(struct state *state, const struct image in[], struct image out[],
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = words_per_row(*in), tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    const int grow = params->connectivity == 8;
    dim3 tile(TILE_WORDS, block_height), block(32, ROWS);
    size_t shared = (size_t)block_height * (TILE_WIDTH + TILE_WORDS) * sizeof(int);

    init_kernel<<<dim3(tiles_across, ceiling_divide(in->height, tile.y)), tile, shared, stream>>>(*in, state->bits,
                                                                                                  state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        merge_kernel<<<ceiling_divide(across + down, 128), 128, 0, stream>>>(*in, state->bits, state->parent,
                                                                             block_height, across, grow);
    CUDA_TRY(cudaGetLastError());
    TRY(numbers_launch(&state->numbers, state->bits, state->parent, out, out + 1, params, stream));
    compress_kernel<<<dim3(ceiling_divide(width, 32), ceiling_divide(in->height, ROWS)), block, 0, stream>>>(
        *out, state->bits, state->parent, params->consecutive ? state->numbers.rank : NULL);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables)
