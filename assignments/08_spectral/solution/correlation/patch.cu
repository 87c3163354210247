/*
 * Idea:     a thread sums a tile of 4x4 pairs in registers: 8 loads from shared memory are 16 multiply-adds. A block
 *           has 32 tiles and 8 groups, which take turns at the 64 pixels that the block has loaded.
 * Changed:  from one pair for each thread, and its samples from global memory; the tree adds up one pair of all tiles
 *           at a time.
 * Expect:   half a load for each multiply-add in place of two, and a sample comes from global memory once for each 32
 *           tiles: 5 times as fast, then shared memory limits it still.
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

enum {
    SIDE = 4,
    TILES = 32,
    GROUPS = 8,
    PIECES = 64 /* at most */,
    PIXELS = 2048 /* of a piece at least, where there are as many */,
    CHUNK = 64 /* pixels in shared memory */
};
enum {
    CHUNKS = CORRELATION_RUN / (CHUNK / GROUPS) /* whose products a f32 sum may hold */,
    MOST = 8192 /* floats of a panel */
};

struct state {
    double *parts, *totals; /* device: [piece][tile][entry], and sums of products of planes */
};

/* Tile `at` of the triangle with its diagonal, row by row; *i is `sides` behind the last. */
static __device__ void find_tile(int at, int sides, int *i, int *j)
{
    *i = 0;
    for (; *i < sides && at >= sides - *i; ++*i)
        at -= sides - *i;
    *j = *i + at;
}

/* `chunk` pixels from `first` on, padded by zeros: panel[pixel * stride + plane]. */
static __device__ void load_panel(const struct image &in, const struct correlation_params &params, int64_t first,
                                  int64_t end, int chunk, int stride, float *panel)
{
    const float *shift = correlation_shift(&in, &params);
    const int planes = correlation_planes(&in, &params);

    for (int k = threadIdx.y * TILES + threadIdx.x; k < chunk * stride; k += GROUPS * TILES) {
        const int64_t at = first + k / stride;
        panel[k] =
            at < end && k % stride < planes ? correlation_plane(&in, correlation_pixel(&in, at), shift, k % stride) : 0;
    }
}

static __global__ void sum_kernel(struct image in, struct correlation_params params, int tiles, int chunk,
                                  double *parts)
{
    extern __shared__ float panel[];
    __shared__ double sums[GROUPS][TILES];
    const int lane = threadIdx.x, group = threadIdx.y, at = blockIdx.x * TILES + lane;
    const int sides = (correlation_planes(&in, &params) + SIDE - 1) / SIDE, stride = sides * SIDE;
    const int64_t pixels = (int64_t)in.width * in.height, end = pixels * (blockIdx.y + 1) / gridDim.y;
    int64_t first = pixels * blockIdx.y / gridDim.y;
    double totals[SIDE * SIDE] = {};
    int i, j;

    find_tile(at, sides, &i, &j);
    while (first < end) {
        float tile[SIDE * SIDE] = {};
        for (int round = 0; round < CHUNKS && first < end; round++, first += chunk) {
            __syncthreads();
            load_panel(in, params, first, end, chunk, stride, panel);
            __syncthreads();
            for (int pixel = group; i < sides && pixel < chunk; pixel += GROUPS) {
                const float *above = panel + pixel * stride + i * SIDE, *beside = panel + pixel * stride + j * SIDE;
                for (int k = 0; k < SIDE * SIDE; k++)
                    tile[k] += above[k / SIDE] * beside[k % SIDE];
            }
        }
        for (int k = 0; k < SIDE * SIDE; k++)
            totals[k] += tile[k];
    }
    for (int k = 0; k < SIDE * SIDE; k++) {
        __syncthreads();
        sums[group][lane] = totals[k];
        for (int half = GROUPS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (group < half)
                sums[group][lane] += sums[group + half][lane];
        }
        if (group == 0 && at < tiles)
            parts[((size_t)blockIdx.y * tiles + at) * SIDE * SIDE + k] = sums[0][lane];
    }
}

static __global__ void add_kernel(const double *parts, int planes, int tiles, int pieces, double *totals)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = at % (SIDE * SIDE);
    double sum = 0;
    int i, j;

    if (at >= tiles * SIDE * SIDE)
        return;
    for (int piece = 0; piece < pieces; piece++)
        sum += parts[(size_t)piece * tiles * SIDE * SIDE + at];
    find_tile(at / (SIDE * SIDE), (planes + SIDE - 1) / SIDE, &i, &j);
    i = i * SIDE + k / SIDE;
    j = j * SIDE + k % SIDE;
    if (j < planes && i <= j)
        totals[i * planes + j] = sum;
}

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params), sides = (planes + SIDE - 1) / SIDE;
    enum status status = STATUS_OK;

    if (state->totals)
        return STATUS_OK;
    TRY(device_allocate((void **)&state->parts, PIECES * sides * (sides + 1) / 2 * SIDE * SIDE * sizeof *state->parts));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), sides = ceiling_divide(planes, SIDE);
    const int tiles = sides * (sides + 1) / 2, room = MOST / (sides * SIDE), chunk = room < CHUNK ? room : CHUNK;
    const int64_t pixels = (int64_t)in->width * in->height;
    const int pieces = pixels < PIXELS ? 1 : pixels < (int64_t)PIXELS * PIECES ? (int)(pixels / PIXELS) : PIECES;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->channels, block.x), ceiling_divide(in->channels, block.y));

    sum_kernel<<<dim3(ceiling_divide(tiles, TILES), pieces), dim3(TILES, GROUPS), chunk * sides * SIDE * sizeof(float),
                 stream>>>(*in, *params, tiles, chunk, state->parts);
    CUDA_TRY(cudaGetLastError());
    add_kernel<<<ceiling_divide(tiles * SIDE * SIDE, 256), 256, 0, stream>>>(state->parts, planes, tiles, pieces,
                                                                             state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parts);
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
