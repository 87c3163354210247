/*
 * Idea:     the stretch of a colour is computed once a block and not in every thread: its square root and division in
 *           f64 are more work than a pixel's colours.
 * Changed:  three threads of colour_kernel() put lo and the scale of each colour into shared memory. The steps are cuda/v2.1 of
 *           correlation and v2.0 of eigen.
 * Expect:   the colours take 8 us of a million pixels, the time to read three components and to write three bytes, instead of
 *           20. The matrix takes 60 us instead of 300, its vectors 200 instead of 800: half a millisecond for all.
 * Result:   1.01 ms for a million pixels of 31 bands: the vectors 426 us, the matrix 300 us, the projection 274 us, the colours
 *           9 us (results/h200/pca/profile_pca_v2.1.txt). Colours as expected; matrix and projection are far off.
 */
/* Try: make bench-pca VERSIONS=cuda */
#include "common/algo/pca.h"
#include "common/cuda/device.h"
#include "cuda/pca/shared/ranges.cuh"

static const struct pca_versions versions = {.correlation = "cuda/v2.1", .eigen = "cuda/v2.0"};

struct state {
    struct pca_steps steps;    /* their images in device memory */
    struct extremes *extremes; /* in device memory */
};

enum { THREADS = 128, BANDS = 32, SHOWN = 3, BLOCKS = 8 * 132 };

static __global__ void project_kernel(struct image in, struct image vectors, struct image components,
                                      struct extremes *extremes)
{
    __shared__ float samples[THREADS][BANDS + 1];
    __shared__ __align__(16) float table[BANDS][PCA_MAX_COMPONENTS];
    const int kinds = components.channels, across = (in.width + THREADS - 1) / THREADS, lane = threadIdx.x % 32;
    struct spread spreads[SHOWN];

    for (int k = 0; k < SHOWN; k++)
        spreads[k] = {INFINITY, -INFINITY, 0, 0};
    for (int tile = blockIdx.x; tile < across * in.height; tile += gridDim.x) {
        const int y = tile / across, left = tile % across * THREADS, x = left + threadIdx.x;
        float sums[PCA_MAX_COMPONENTS] = {};
        for (int from = 0; from < in.channels; from += BANDS) {
            const int bands = min(BANDS, in.channels - from);
            __syncthreads();
            for (int i = threadIdx.x / 32; i < THREADS && left + i < in.width && lane < bands; i += THREADS / 32)
                samples[i][lane] = pca_sample(&in, pca_pixel(&in, left + i, y), from + lane);
            for (int i = threadIdx.x; i < bands * PCA_MAX_COMPONENTS; i += THREADS) {
                const double *row = (const double *)image_row(&vectors, from + i / PCA_MAX_COMPONENTS);
                const int k = i % PCA_MAX_COMPONENTS;
                table[i / PCA_MAX_COMPONENTS][k] = k < kinds ? (float)row[k] : 0;
            }
            __syncthreads();
            for (int band = 0; band < bands; band++)
#pragma unroll
                for (int k = 0; k < PCA_MAX_COMPONENTS; k++)
                    if (k / 4 * 4 < kinds)
                        sums[k] += samples[threadIdx.x][band] * table[band][k];
        }
        float *const to = (float *)image_row(&components, y) + (size_t)x * kinds;
#pragma unroll
        for (int k = 0; k < PCA_MAX_COMPONENTS; k++)
            if (k < kinds && x < in.width)
                to[k] = sums[k];
        for (int k = 0; k < SHOWN && x < in.width; k++)
            spread_add(&spreads[k], sums[k]);
    }
    for (int k = 0; k < SHOWN; k++)
        spread_store(spreads[k], &extremes[k]);
}

static __global__ void colour_kernel(struct image components, const struct extremes *extremes, int stretch,
                                     struct image rgb)
{
    __shared__ float low[SHOWN], scale[SHOWN];
    const int x = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y, last = components.channels - 1, c = threadIdx.x;

    if (c < SHOWN) {
        const struct pca_range range = range_of(&extremes[min(c, last)]);
        pca_stretch(&range, (double)rgb.width * rgb.height, stretch, &low[c], &scale[c]);
    }
    __syncthreads();
    const float *const from = (const float *)image_row(&components, y) + (size_t)x * components.channels;
    for (int k = 0; k < SHOWN && x < rgb.width; k++)
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
    project_kernel<<<min(grid.x * grid.y, (unsigned)BLOCKS), THREADS, 0, stream>>>(
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

RUNGS_CUDA_VERSION(pca)
