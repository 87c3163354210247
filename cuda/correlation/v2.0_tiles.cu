/*
 * Idea:     register tiles: a thread sums an 8x8 tile of the matrix, so that 16 loads from shared memory, 4 of 16 bytes, are
 *           64 multiply-adds. The tiles above the diagonal are shared out over the threads of a block, and the pixels of a
 *           panel over as many groups of such threads as fill it. A block ends after so many pixels that f32 sums stay
 *           within the contract: one addition in f64 for each entry and block.
 * Changed:  from a product, and two loads, for each pair. Pixels are loaded by 4, 8, 16 or 32 neighbouring threads, whose
 *           position in the picture moves on without a division. All 8x8 tiles on the diagonal are summed whole.
 * Expect:   31 bands: 640 multiply-adds for each pixel of 124 bytes, 25 us of arithmetic for a million on 132
 *           multiprocessors, near the time to read them; 81 bands 150 us, 198 bands 720 us. A few bands are limited by the
 *           reads and by the sum over the groups at the end of a block.
 */
/* Try: make bench-correlation VERSIONS=cuda/v1.2,cuda/v1.3,cuda/v2.0 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { SIDE = 8, THREADS = 256, LARGEST = 384 /* tiles of a block */, PANEL = 32768 /* bytes of shared memory */ };

/* Products of a thread in one f32 sum: u8 stays exact, f32 within the contract. */
enum { RUN_WHOLE = 256, RUN_REAL = 1024 };

/* How a launch is cut up. */
struct cut {
    int tiles, groups; /* of a block */
    int lanes, rows;   /* threads that load one pixel, pixels that a block loads at once */
    int stride, chunk; /* floats of a pixel in the panel, pixels of a panel */
    int repeats;       /* panels of a block */
};

static __global__ void __launch_bounds__(LARGEST)
    sum_kernel(struct image in, struct correlation_params params, double *totals, struct cut cut)
{
    extern __shared__ __align__(16) float panel[]; /* [pixel][plane] */
    const int planes = correlation_planes(&in, &params), sides = cut.stride / SIDE;
    const int64_t count = (int64_t)in.width * in.height, begin = (int64_t)blockIdx.x * cut.repeats * cut.chunk;
    const float *shift = correlation_shift(&in, &params);
    const int group = threadIdx.x / cut.tiles, loader = threadIdx.x / cut.lanes, lane = threadIdx.x % cut.lanes;

    /* Tile k of the triangle: as many rows of tiles as are full, the rest is the column. */
    int i = 0, j = blockIdx.y * cut.tiles + threadIdx.x % cut.tiles;
    for (; i < sides && j >= sides - i; i++)
        j -= sides - i;
    const bool real = i < sides;
    j += i;

    /* This thread's place in the picture. */
    int64_t at = begin + loader;
    int x = (int)(at % in.width), y = (int)(at / in.width);

    float tile[SIDE][SIDE] = {};
    for (int repeat = 0; repeat < cut.repeats; repeat++) {
        __syncthreads();
        for (int pixel = loader; loader < cut.rows && pixel < cut.chunk; pixel += cut.rows) {
            const char *samples = (const char *)image_row(&in, y) + (size_t)x * in.channels *
                                                                        (in.type == PIXEL_U8    ? 1
                                                                         : in.type == PIXEL_U16 ? 2
                                                                                                : 4);
            for (int plane = lane; plane < planes; plane += cut.lanes)
                panel[pixel * cut.stride + plane] = at < count ? correlation_plane(&in, samples, shift, plane) : 0;
            at += cut.rows;
            x += cut.rows;
            for (; x >= in.width && y < in.height; y++)
                x -= in.width;
        }
        __syncthreads();
        for (int pixel = group; real && pixel < cut.chunk; pixel += cut.groups) {
            const float *above = panel + pixel * cut.stride + i * SIDE, *beside = panel + pixel * cut.stride + j * SIDE;
            float u[SIDE], v[SIDE];
#pragma unroll
            for (int k = 0; k < SIDE; k += 4) {
                *(float4 *)&u[k] = *(const float4 *)&above[k];
                *(float4 *)&v[k] = *(const float4 *)&beside[k];
            }
#pragma unroll
            for (int k = 0; k < SIDE * SIDE; k++)
                tile[k / SIDE][k % SIDE] += u[k / SIDE] * v[k % SIDE];
        }
    }

    /* The groups' sums of one row of all tiles at a time. */
    const int threads = cut.tiles * cut.groups;
#pragma unroll
    for (int row = 0; row < SIDE; row++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            panel[k * threads + threadIdx.x] = tile[row][k];
        __syncthreads();
        for (int k = group; real && k < SIDE; k += cut.groups) {
            const int u = i * SIDE + row, v = j * SIDE + k;
            double sum = 0;
            for (int other = threadIdx.x % cut.tiles; other < threads; other += cut.tiles)
                sum += panel[k * threads + other];
            if (u < planes && v < planes)
                atomicAdd(&totals[u * planes + v], sum);
        }
    }
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
    const size_t planes = correlation_planes(in, params);
    enum status status = STATUS_OK;
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), sides = ceiling_divide(planes, SIDE);
    const int tiles = sides * (sides + 1) / 2, run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE;
    struct cut cut = {};
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    cut.tiles = tiles < LARGEST ? tiles : LARGEST;
    cut.groups = cut.tiles < THREADS ? THREADS / cut.tiles : 1;
    for (cut.lanes = 4; cut.lanes < planes && cut.lanes < 32;)
        cut.lanes *= 2;
    cut.stride = sides * SIDE;
    const int room = PANEL / (cut.stride * (int)sizeof(float)); /* at least 3 pixels, of 2049 planes */
    cut.rows = min(cut.tiles * cut.groups / cut.lanes, room);
    cut.chunk = room / cut.rows * cut.rows;
    const int64_t chunks = ((int64_t)in->width * in->height + cut.chunk - 1) / cut.chunk;
    const int most = run / ceiling_divide(cut.chunk, cut.groups);
    const int64_t even = (chunks + 2 * state->multiprocessors - 1) / (2 * state->multiprocessors);
    cut.repeats = (int)(even < most ? even : most);
    const int threads = cut.tiles * cut.groups, floats = cut.chunk * cut.stride;
    const size_t shared = (floats > SIDE * threads ? floats : SIDE * threads) * sizeof(float);

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    sum_kernel<<<dim3((chunks + cut.repeats - 1) / cut.repeats, ceiling_divide(tiles, cut.tiles)), threads, shared,
                 stream>>>(*in, *params, state->totals, cut);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

RUNGS_CUDA_VERSION(correlation)
