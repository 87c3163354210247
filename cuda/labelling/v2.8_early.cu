/*
 * Idea:     a kernel is launched while the one in front of it still runs (programmatic dependent launch, from Hopper
 *           on): its blocks are on the GPU when that one ends, and only wait for what it wrote.
 * Changed:  merge and compress wait; init and merge say at once that the next may come.
 * Expect:   kernel 1.5 to 2 us faster than v2.7's at any size: two of three gaps between launches. (Written after a first
 *           form was measured.)
 * Result:   131 us in place of 133 for noise of 50 % (results/h200/labelling/labelling_3840x2160_noise.json), as
 *           predicted; a photograph of 512x512 in 17.8 us, v2.3: 26.0
 *           (results/h200/labelling/labelling_512x512.json). A photograph of 3840x2160 takes 37.8 us, v2.7: 39.7
 *           (results/h200/labelling/labelling_3840x2160_lanes.json).
 */
/* Try: make bench-labelling VERSIONS=cuda/v2.7,cuda/v2.8 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/state.cuh"
#include "cuda/labelling/shared/early.cuh"
#include "cuda/labelling/shared/labels.cuh"
#include "cuda/labelling/shared/pairs.cuh"
#include "cuda/labelling/shared/places.cuh"

/* Starts of runs are 2 apart, so a word has 16 places for nodes; 17 keep the lanes in different banks. */
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

    allow_next();
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

    allow_next();
    wait_for_last();
    if (column >= width || y >= in.height)
        return;
    int pair[2];
    if (k < across ? pair_up(in, bits, column, y, k % 32, grow, pair)
                   : pair_side(in, bits, column, y, y % tile_height != 0, grow, pair))
        unite_side_by_side(parent, pair[0], pair[1]);
}

/* A warp has 4 words of a row, a lane 4 pixels. It looks up the labels of the runs that begin there, at most two; that of
 * the run which goes on from the left comes from the lane where it begins. `rank` holds the numbers of roots, or is NULL. */
static __global__ void compress_kernel(struct image out, const unsigned *bits, const int *parent, const int *rank)
{
    int y = blockIdx.y * ROWS + threadIdx.y, x = 4 * (blockIdx.x * 32 + threadIdx.x), at = x % 32;
    int labels[2] = {}, four[4];
    unsigned word = 0;

    wait_for_last();
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
    write_four(out, x, y, four);
}

static enum status launch(struct state *state, const struct image in[], struct image out[],
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int width = words_per_row(*in), tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = 32 * width * ((in->height - 1) / block_height), down = in->height * (tiles_across - 1);
    const int grow = params->connectivity == 8;
    const unsigned *bits = state->bits;
    const int *rank = params->consecutive ? state->numbers.rank : NULL;
    cudaLaunchAttribute early;
    const unsigned attributes = early_attributes(&early);
    cudaLaunchConfig_t merge = {ceiling_divide(across + down, 128), 128, 0, stream, &early, attributes};
    const dim3 strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS)), strip(32, ROWS);
    cudaLaunchConfig_t compress = {strips, strip, 0, stream, &early, attributes};
    dim3 tile(TILE_WORDS, block_height);
    size_t shared = (size_t)block_height * TILE_WORDS * (PITCH + 1) * sizeof(int);

    init_kernel<<<dim3(tiles_across, ceiling_divide(in->height, tile.y)), tile, shared, stream>>>(*in, state->bits,
                                                                                                  state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        CUDA_TRY(cudaLaunchKernelEx(&merge, merge_kernel, *in, bits, state->parent, block_height, across, grow));
    TRY(numbers_launch(&state->numbers, bits, state->parent, out, out + 1, params, stream));
    CUDA_TRY(cudaLaunchKernelEx(&compress, compress_kernel, *out, bits, (const int *)state->parent, rank));
out:
    return status;
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables)
