/*
 * Problem:  Each pixel in cuda/v1.1 updates the same four numbers per component: atomic contention.
 * Idea:     Privatization: a block (256 pixels) joins these numbers (smallest, largest, sums) in
 *           shared memory and adds only its result to global memory. The covariance matrix is now
 *           correlation's cuda/v1.2.
 * Expect:   256 times fewer atomics on one address; the covariance matrix takes most of the time.
 * Result:   291 times as fast as cuda/v1.1, 2.0 ms (results/h100/pca/pca_1024x1024.json), mostly by
 *           correlation's cuda/v1.2, 0.63 ms instead of 575 ms.
 * Run:      make diff-pca A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/algo/pca.h"
#include "common/cuda/device.h"
#include "cuda/pca/shared/ranges.cuh"

enum { SHOWN = 3 /* components in the colours */ };

static const struct pca_versions versions = {.correlation = "cuda/v1.2", .eigen = "cuda/v1.1"};

struct state {
    struct pca_steps steps;    /* their images in device memory */
    struct extremes *extremes; /* in device memory */
};

static __global__ void project_kernel(struct image in, struct image vectors, struct image components,
                                      struct extremes *extremes)
{
    __shared__ struct extremes own;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const bool inside = x < in.width && y < in.height, first = threadIdx.x + threadIdx.y == 0;

    const void *pixel = pca_pixel(&in, inside ? x : 0, inside ? y : 0);
    float *to = (float *)image_row(&components, y) + (size_t)x * components.channels;
    for (int k = 0; k < components.channels; k++) {
        float sum = 0;
        for (int band = 0; band < in.channels; band++)
            sum += pca_sample(&in, pixel, band) * (float)((const double *)image_row(&vectors, band))[k];
        __syncthreads();
        if (first)
            own = {0xffffffffu, 0, ordered(0), 0, 0};
        __syncthreads();
        if (inside) {
            to[k] = sum;
            atomicMin(&own.smallest, ordered(sum));
            atomicMax(&own.largest, ordered(sum));
            atomicMax(&own.longest, ordered(pca_squares(&in, pixel)));
            atomicAdd(&own.sum, (double)sum);
            atomicAdd(&own.squares, (double)sum * sum);
        }
        __syncthreads();
        if (first) {
            atomicMin(&extremes[k].smallest, own.smallest);
            atomicMax(&extremes[k].largest, own.largest);
            atomicMax(&extremes[k].longest, own.longest);
            atomicAdd(&extremes[k].sum, own.sum);
            atomicAdd(&extremes[k].squares, own.squares);
        }
    }
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
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(step_run(&steps->correlation, in, &steps->matrix, stream));
    TRY(step_run(&steps->eigen, &steps->matrix, results, stream));
    clear_extremes_kernel<<<1, PCA_MAX_COMPONENTS, 0, stream>>>(state->extremes);
    CUDA_TRY(cudaGetLastError());
    project_kernel<<<grid, block, 0, stream>>>(*in, steps->vectors, out[PCA_COMPONENTS], state->extremes);
    CUDA_TRY(cudaGetLastError());
    colour_kernel<<<grid, block, 0, stream>>>(out[PCA_COMPONENTS], state->extremes, params->stretch, out[PCA_RGB]);
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
