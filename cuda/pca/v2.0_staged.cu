/*
 * Problem:  In cuda/v1.3 a call takes 21 ms, its kernels 1.0 ms: one thread of the driver copies
 *           130 MB (31 bands, a million pixels) to page-locked memory, 7 GB/s.
 * Idea:     Staged copies: all threads of the host copy bands of rows to page-locked memory of our
 *           own, a band while the bus carries the one before.
 * Expect:   5 times as fast end to end, 4 ms: 130 MB take the bus 2.4 ms at 55 GB/s, the first
 *           band is copied before that, 0.2 ms, and kernels and 13 MB of result come after it.
 * Result:   4.0 times, 4.86 ms (results/h200/pca/pca_1024x1024_staged.json).
 * Run:      make diff-pca A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/pca.h"
#include "common/cuda/device.h"
#include "common/cuda/streams_queue.h"
#include "cuda/pca/shared/ranges.cuh"

enum {
    SHOWN = 3 /* components in the colours */,
    THREADS = 128 /* of a block, a pixel each */,
    BANDS = 32 /* of a tile */
};

static const struct pca_versions versions = {.correlation = "cuda/v2.0", .eigen = "cuda/v1.3"};

static int blocks = 8 * 132;
static const int blocks_legal[] = {132, 2 * 132, 4 * 132, 8 * 132, 16 * 132, 32 * 132, 0};
static struct tunable tunables[] = {{"blocks", &blocks, blocks_legal, "blocks of the projection's grid"}, {}};

struct state {
    struct pca_steps steps;    /* their images in device memory */
    struct extremes *extremes; /* in device memory */
};

/* The range of a component in registers of a thread. */
struct spread {
    float smallest, largest, longest;
    double sum, squares;
};

static __device__ inline void spread_add(struct spread *spread, float value, float squares)
{
    spread->smallest = fminf(spread->smallest, value);
    spread->largest = fmaxf(spread->largest, value);
    spread->longest = fmaxf(spread->longest, squares);
    spread->sum += value;
    spread->squares += (double)value * value;
}

/* Joins the ranges of a warp's 32 lanes into *extremes. */
static __device__ inline void spread_store(struct spread spread, struct extremes *extremes)
{
    const unsigned all = 0xffffffff;

    for (int step = 16; step > 0; step /= 2) {
        spread.smallest = fminf(spread.smallest, __shfl_xor_sync(all, spread.smallest, step));
        spread.largest = fmaxf(spread.largest, __shfl_xor_sync(all, spread.largest, step));
        spread.longest = fmaxf(spread.longest, __shfl_xor_sync(all, spread.longest, step));
        spread.sum += __shfl_xor_sync(all, spread.sum, step);
        spread.squares += __shfl_xor_sync(all, spread.squares, step);
    }
    if (threadIdx.x % 32 > 0)
        return;
    atomicMin(&extremes->smallest, ordered(spread.smallest));
    atomicMax(&extremes->largest, ordered(spread.largest));
    atomicMax(&extremes->longest, ordered(spread.longest));
    atomicAdd(&extremes->sum, spread.sum);
    atomicAdd(&extremes->squares, spread.squares);
}

static __global__ void project_kernel(struct image in, struct image vectors, struct image components,
                                      struct extremes *extremes)
{
    __shared__ float samples[THREADS][BANDS + 1];
    __shared__ __align__(16) float table[BANDS][PCA_MAX_COMPONENTS];
    const int kinds = components.channels, across = (in.width + THREADS - 1) / THREADS, lane = threadIdx.x % 32;
    struct spread spreads[SHOWN];

    for (int k = 0; k < SHOWN; k++)
        spreads[k] = {INFINITY, -INFINITY, 0, 0, 0};
    for (int tile = blockIdx.x; tile < across * in.height; tile += gridDim.x) {
        const int y = tile / across, left = tile % across * THREADS, x = left + threadIdx.x;
        float sums[PCA_MAX_COMPONENTS] = {}, squares = 0;
        for (int from = 0; from < in.channels; from += BANDS) {
            const int bands = min(BANDS, in.channels - from);
            __syncthreads(); /* the sums of the last tile are read */
            for (int i = threadIdx.x / 32; i < THREADS && left + i < in.width && lane < bands; i += THREADS / 32)
                samples[i][lane] = pca_sample(&in, pca_pixel(&in, left + i, y), from + lane);
            for (int i = threadIdx.x; i < bands * PCA_MAX_COMPONENTS; i += THREADS) {
                const double *row = (const double *)image_row(&vectors, from + i / PCA_MAX_COMPONENTS);
                const int k = i % PCA_MAX_COMPONENTS;
                table[i / PCA_MAX_COMPONENTS][k] = k < kinds ? (float)row[k] : 0;
            }
            __syncthreads();
            for (int band = 0; band < bands; band++) {
                const float sample = samples[threadIdx.x][band];
#pragma unroll
                for (int k = 0; k < PCA_MAX_COMPONENTS; k++)
                    if (k / 4 * 4 < kinds)
                        sums[k] += sample * table[band][k];
                squares += sample * sample;
            }
        }
        float *const to = (float *)image_row(&components, y) + (size_t)x * kinds;
#pragma unroll
        for (int k = 0; k < PCA_MAX_COMPONENTS; k++)
            if (k < kinds && x < in.width)
                to[k] = sums[k];
        for (int k = 0; k < SHOWN && x < in.width; k++)
            spread_add(&spreads[k], sums[k], squares);
    }
    for (int k = 0; k < SHOWN; k++)
        spread_store(spreads[k], &extremes[k]);
}

static __global__ void colour_kernel(struct image components, const struct extremes *extremes, int stretch,
                                     struct image rgb)
{
    __shared__ float low[SHOWN], scale[SHOWN];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int c = threadIdx.x + threadIdx.y * blockDim.x, last = components.channels - 1;

    if (c < SHOWN) {
        const struct pca_range range = range_of(&extremes[min(c, last)]);
        pca_stretch(&range, (double)rgb.width * rgb.height, stretch, &low[c], &scale[c]);
    }
    __syncthreads();
    const float *const from = (const float *)image_row(&components, y) + (size_t)x * components.channels;
    for (int k = 0; k < SHOWN && x < rgb.width && y < rgb.height; k++)
        ((uint8_t *)image_row(&rgb, y))[3 * x + k] = pca_level(from[min(k, last)], low[k], scale[k]);
}

static enum status setup(struct state *state, const struct image in[], const struct pca_params *params)
{
    const int n = in->channels;
    struct image shapes[3] = {{n, n, 1, PIXEL_F64}, {1, n, 1, PIXEL_F64}, {n, n, 1, PIXEL_F64}};
    enum status status = STATUS_OK;

    if (state->extremes)
        return STATUS_OK;
    TRY(pca_open(&state->steps, params, &versions));
    TRY(device_image_create(&state->steps.matrix, &shapes[0]));
    TRY(device_image_create(&state->steps.values, &shapes[1]));
    TRY(device_image_create(&state->steps.vectors, &shapes[2]));
    TRY(step_setup(&state->steps.correlation, in));
    TRY(step_setup(&state->steps.eigen, &state->steps.matrix));
    TRY(device_allocate((void **)&state->extremes, PCA_MAX_COMPONENTS * sizeof *state->extremes));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pca_params *params, cudaStream_t stream)
{
    struct pca_steps *steps = &state->steps;
    struct image results[2] = {steps->values, steps->vectors};
    enum status status = STATUS_OK;
    dim3 grid(ceiling_divide(in->width, THREADS), in->height);

    TRY(step_run(&steps->correlation, in, &steps->matrix, stream));
    TRY(step_run(&steps->eigen, &steps->matrix, results, stream));
    clear_extremes_kernel<<<1, PCA_MAX_COMPONENTS, 0, stream>>>(state->extremes);
    CUDA_TRY(cudaGetLastError());
    project_kernel<<<min(grid.x * grid.y, device_blocks(blocks)), THREADS, 0, stream>>>(
        *in, steps->vectors, out[PCA_COMPONENTS], state->extremes);
    CUDA_TRY(cudaGetLastError());
    colour_kernel<<<grid, THREADS, 0, stream>>>(out[PCA_COMPONENTS], state->extremes, params->stretch, out[PCA_RGB]);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy2DAsync(out[PCA_VALUES].data, out[PCA_VALUES].stride, steps->values.data, steps->values.stride,
                               sizeof(double), params->components, cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(cudaMemcpy2DAsync(out[PCA_VECTORS].data, out[PCA_VECTORS].stride, steps->vectors.data,
                               steps->vectors.stride, params->components * sizeof(double), in->channels,
                               cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pca_close(&state->steps);
    device_image_free(&state->steps.matrix);
    device_image_free(&state->steps.values);
    device_image_free(&state->steps.vectors);
    device_free(state->extremes);
}

RUNGS_CUDA_VERSION(pca, .tunables = tunables, .staged = true, .queue = &streams_queue)
