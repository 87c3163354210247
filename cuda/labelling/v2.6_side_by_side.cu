/*
 * Idea:     the walks from both runs of a pair to their roots go on side by side. A thread waits once for the next step
 *           of both, not once for each, and is done as soon as they meet, which is mostly below the root.
 * Changed:  the walks of the kernel merge; init and compress stay.
 * Expect:   merge 1.2 times faster than v2.5's, whose time is some 8 accesses to the L2 cache one after the other.
 * Result:   151 us in place of 158 for noise of 50 %, all three kernels
 *           (results/h200/labelling/labelling_3840x2160_noise.json).
 */
/* Try: make bench-labelling VERSIONS=cuda/v2.5,cuda/v2.6 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/state.cuh"
#include "cuda/labelling/shared/pairs.cuh"
#include "cuda/labelling/shared/places.cuh"

/* Starts of runs are 2 apart, so a word has 16 places for nodes and labels; 17 keep the lanes in different banks. */
enum { TILE_WORDS = 8, ROWS = 8, PITCH = 17 };

static int block_height = 32;
static const int block_heights[] = {8, 16, 32, 64, 0};
static struct tunable tunables[] = {{"block_height", &block_height, block_heights, "rows of a tile"}, {}};

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

/* The first `across` threads have a pixel of a tile's first row each; the others, each in its row, a tile's left border. */
static __global__ void merge_kernel(struct image in, const unsigned *bits, int *parent, int tile_height, int across,
                                    int grow)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, width = words_per_row(in);
    int column = k < across ? k / 32 % width : ((k - across) / in.height + 1) * TILE_WORDS;
    int y = k < across ? (k / 32 / width + 1) * tile_height : (k - across) % in.height;

    if (column >= width || y >= in.height)
        return;
    int pair[2];
    if (k < across ? pair_up(in, bits, column, y, k % 32, grow, pair)
                   : pair_side(in, bits, column, y, y % tile_height != 0, grow, pair))
        unite_side_by_side(parent, pair[0], pair[1]);
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
    const int across = 32 * width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    const int grow = params->connectivity == 8;
    dim3 tile(TILE_WORDS, block_height), block(32, ROWS);
    size_t shared = (size_t)block_height * TILE_WORDS * (PITCH + 1) * sizeof(int);

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
