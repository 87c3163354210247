/*
 * Problem:  512x512 pixels are 8192 words, too few threads; blocks wait for their fullest word.
 * Idea:     Four lanes share a word where the GPU holds them all: each has fewer runs. A kernel is
 *           launched before the last one ends (programmatic dependent launch; not in the emulator),
 *           which hides the gap between them. Neighbouring threads store side by side (coalescing).
 * Expect:   1.6 times as fast as cuda/v2.3 at 512x512: the first kernel is 1.6 times as fast.
 * Result:   1.03 times as fast as cuda/v2.3 at 3840x2160, where a word has one lane, 43.2 us
 *           (results/h100/labelling/labelling_3840x2160.json); cuda/v2.3 is not timed at 512x512.
 * Run:      make diff-labelling A=cuda/v2.3 B=cuda/v2.4
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "common/cuda/early.cuh"
#include "cuda/labelling/shared/borders.cuh"
#include "cuda/labelling/shared/numbers.h"
#include "cuda/labelling/shared/places.cuh"
#include "cuda/labelling/shared/words.cuh"

enum { TILE_WORDS = 8, ROWS = 8, PITCH = PLACES };

static int block_height = 64;
static const int block_heights[] = {16, 32, 64, 0};
static struct tunable tunables[] = {
    {"block_height", &block_height, block_heights, "rows of a tile, or 4 times as many"}, {}};

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
    struct numbers numbers;
};

/* The 8 pixels of row y from x on, which the words of the row hold. */
static __device__ unsigned eight_at(const struct image &in, int x, int y)
{
    uint2 bytes = *(const uint2 *)((const uint8_t *)image_row(&in, y) + x);
    unsigned eight = pack(bytes.x) | pack(bytes.y) << 4;

    return in.width - x < 8 ? eight & ((1 << max(in.width - x, 0)) - 1) : eight;
}

/* Of each four lanes the bits of all. */
static __device__ unsigned word_of_four(unsigned bits)
{
    bits |= __shfl_xor_sync(0xffffffff, bits, 1);
    return bits | __shfl_xor_sync(0xffffffff, bits, 2);
}

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

/* The first `across` threads have a pixel of a tile's first row each; the others, each in its row, a tile's left
 * border. */
static __global__ void merge_kernel(struct image in, const unsigned *bits, int *parent, int tile_height, int across,
                                    int grow)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, width = words_per_row(in), pair[2];
    int column = k < across ? k / 32 % width : ((k - across) / in.height + 1) * TILE_WORDS;
    int y = k < across ? (k / 32 / width + 1) * tile_height : (k - across) % in.height;

    allow_next();
    wait_for_last();
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
    int *to = (int *)image_row(&out, y) + x;
    if (x + 4 <= out.width)
        *(int4 *)to = make_int4(four[0], four[1], four[2], four[3]);
    else
        for (int i = 0; i < out.width - x; i++)
            to[i] = four[i];
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

static enum status launch(struct state *state, const struct image in[], struct image out[],
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int lanes = lanes_for(in), tile_height = block_height / lanes;
    const int width = words_per_row(*in), grow = params->connectivity == 8;
    const int tiles_across = (width + TILE_WORDS - 1) / TILE_WORDS;
    const int across = 32 * width * ((in->height - 1) / tile_height), down = in->height * (tiles_across - 1);
    const int *parent = state->parent, *rank = params->consecutive ? state->numbers.rank : NULL;
    const unsigned *bits = state->bits;
    dim3 tile(TILE_WORDS * lanes, tile_height), tiles(tiles_across, ceiling_divide(in->height, tile.y));
    dim3 block(32, ROWS), strips(ceiling_divide(width, 4), ceiling_divide(in->height, ROWS));
    size_t shared = (size_t)tile_height * TILE_WORDS * (PITCH + 1) * sizeof(int);
    cudaLaunchAttribute early;
    const unsigned attributes = early_attributes(&early);
    cudaLaunchConfig_t merge = {ceiling_divide(across + down, 128), 128, 0, stream, &early, attributes};
    cudaLaunchConfig_t compress = {strips, block, 0, stream, &early, attributes};

    if (lanes == 4)
        init_kernel<4><<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    else
        init_kernel<1><<<tiles, tile, shared, stream>>>(*in, state->bits, state->parent, grow);
    CUDA_TRY(cudaGetLastError());
    if (across + down > 0)
        CUDA_TRY(cudaLaunchKernelEx(&merge, merge_kernel, *in, bits, state->parent, tile_height, across, grow));
    TRY(numbers_launch(&state->numbers, bits, parent, out, out + 1, params, stream));
    CUDA_TRY(cudaLaunchKernelEx(&compress, compress_kernel, *out, bits, parent, rank));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->bits);
    device_free(state->parent);
    numbers_free(&state->numbers);
}

RUNGS_CUDA_VERSION(labelling, .tunables = tunables, .staged = true)
