/*
 * Idea:     four lanes share a word where the GPU holds all of them at once. Each has 8 of its pixels, at most 4 runs
 *           and 8 pairs, so that in small pictures nobody waits long for the word that has the most of them.
 * Changed:  init, as a template. A block has as many threads either way, so such a tile is a quarter as high; large
 *           pictures, in which other tiles fill the time, keep a lane for each word.
 * Expect:   init 1.6 times faster than v2.9's at 512x512, where it takes half of the time; 3840x2160 as before.
 *           (Written after a first form was measured.)
 * Result:   noise of 512x512 in 18.9 us in place of 34.5 (results/h200/labelling/labelling_512x512_noise.json), more
 *           than init alone explains; 1024x1024 in 23.2 in place of 37.5 (labelling_1024x1024_noise.json). A
 *           photograph of 512x512 in 14.1 us in place of 20.2 (labelling_512x512.json), of 1024x1024 in 15.6 in place
 *           of 19.7 (labelling_1024x1024_lanes.json), of 3840x2160 in 38.9 in place of 39.6
 *           (labelling_3840x2160_lanes.json).
 */
/* Try: make bench-labelling VERSIONS=cuda/v2.9,cuda/v2.10 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/state.cuh"
#include "cuda/labelling/shared/early.cuh"
#include "cuda/labelling/shared/labels.cuh"
#include "cuda/labelling/shared/pairs.cuh"
#include "cuda/labelling/shared/places.cuh"

/* Starts of runs are 2 apart, so a word has 16 places for nodes; 17 keep the lanes in different banks. */
enum { TILE_WORDS = 8, ROWS = 8, PITCH = 17 };

static int block_height = 64;
static const int block_heights[] = {16, 32, 64, 0};
static struct tunable tunables[] = {
    {"block_height", &block_height, block_heights, "rows of a tile, or 4 times as many"}, {}};

/* With LANES 1 or 4 for each word. */
template <int LANES> static __global__ void init_kernel(struct image in, unsigned *bits, int *parent, int grow)
{
    extern __shared__ int tile[]; /* parents [blockDim.y][TILE_WORDS][PITCH], then words [blockDim.y][TILE_WORDS] */
    unsigned *words = (unsigned *)tile + blockDim.y * TILE_WORDS * PITCH;
    int thread = threadIdx.y * TILE_WORDS * LANES + threadIdx.x;
    unsigned *own = words + thread / LANES, word = 0;
    int column = blockIdx.x * TILE_WORDS + threadIdx.x / LANES, y = blockIdx.y * blockDim.y + threadIdx.y;
    int node = PITCH * (thread / LANES), above = node - PITCH * TILE_WORDS;
    int first = blockIdx.y * blockDim.y * in.width + blockIdx.x * TILE_WORDS * 32;

    allow_next();
    unsigned shift = threadIdx.x % LANES * 8, own_bits = LANES == 1 ? ~0u : 255u << shift;
    if (column < words_per_row(in) && y < in.height)
        word = LANES == 1 ? word_at(in, column, y) : eight_at(in, 32 * column + shift, y) << shift;
    if (LANES > 1)
        word = word_of_four(word);
    if (shift == 0)
        *own = word;
    if (shift == 0 && column < words_per_row(in) && y < in.height)
        bits[y * words_per_row(in) + column] = word;
    __syncthreads();
    unsigned left = threadIdx.x >= LANES ? own[-1] : 0, up = threadIdx.y > 0 ? own[-TILE_WORDS] : 0;
    unsigned up_left = threadIdx.x >= LANES && threadIdx.y > 0 ? own[-TILE_WORDS - 1] : 0, extra = 0;
    unsigned starts = word & ~(word << 1) & own_bits, pairs = pairs_of(word, left, up, up_left, grow);
    for (unsigned rest = starts; rest; rest &= rest - 1) {
        int at = place_of(node, __ffs((int)rest) - 1);
        tile[at] = at;
    }
    if (starts & 1 && left >> 31)
        tile[node] = place_of(node, run_start(left, 31) - 32);
    __syncwarp();
    for (unsigned rest = pairs & own_bits; rest; rest &= rest - 1) {
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
    for (int k = thread; k < 4 * TILE_WORDS * (int)blockDim.y; k += TILE_WORDS * LANES * blockDim.y) {
        for (starts = words[k / 4] & ~(words[k / 4] << 1) & 255u << k % 4 * 8; starts; starts &= starts - 1) {
            int bit = __ffs((int)starts) - 1, root = find(tile, PITCH * (k / 4) + bit / 2);
            parent[first + k / 4 / TILE_WORDS * in.width + k / 4 % TILE_WORDS * 32 + bit] =
                first + pixel_of(words, root, TILE_WORDS, in.width);
        }
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

/* 4 where the GPU has a thread for each 8 pixels, else 1. */
static int lanes_for(const struct image *in)
{
    int device = 0, multiprocessors = 0, threads = 0;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    return 4 * words_per_row(*in) * in->height <= multiprocessors * threads ? 4 : 1;
}

static enum status launch(struct state *state, const struct image in[], struct image out[],
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int lanes = lanes_for(in), tile_height = block_height / lanes, grow = params->connectivity == 8;
    const int width = words_per_row(*in), tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = 32 * width * ((in->height - 1) / tile_height), down = in->height * (tiles_across - 1);
    const unsigned *bits = state->bits;
    const int *rank = params->consecutive ? state->numbers.rank : NULL;
    cudaLaunchAttribute early;
    const unsigned attributes = early_attributes(&early);
    cudaLaunchConfig_t merge = {ceiling_divide(across + down, 128), 128, 0, stream, &early, attributes};
    const dim3 strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS)), strip(32, ROWS);
    cudaLaunchConfig_t compress = {strips, strip, 0, stream, &early, attributes};
    const dim3 tiles(tiles_across, ceiling_divide(in->height, tile_height)), tile(TILE_WORDS * lanes, tile_height);
    size_t shared = (size_t)tile_height * TILE_WORDS * (PITCH + 1) * sizeof(int);

    if (lanes == 4)
        init_kernel<4><<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    else
        init_kernel<1><<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        CUDA_TRY(cudaLaunchKernelEx(&merge, merge_kernel, *in, bits, state->parent, tile_height, across, grow));
    TRY(numbers_launch(&state->numbers, bits, state->parent, out, out + 1, params, stream));
    CUDA_TRY(cudaLaunchKernelEx(&compress, compress_kernel, *out, bits, (const int *)state->parent, rank));
out:
    return status;
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables)
