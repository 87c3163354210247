/*
 * Problem:  cuda/v1.0 allocates and frees its device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state. The steps (covariance matrix, eigenvectors) are cuda/v1.1 of their ladders.
 * Expect:   A few ms less end to end in every call but the first, little beside the matrix.
 * Result:   The same time as cuda/v1.0, 0.61 s end to end (results/h100/pca/pca_1024x1024.json), as
 *           predicted.
 * Run:      make diff-pca A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/pca.h"
#include "common/cuda/device.h"
#include "cuda/pca/shared/ranges.cuh"

static const struct pca_versions versions = {.correlation = "cuda/v1.1", .eigen = "cuda/v1.1"};

struct state {
    struct pca_steps steps;    /* their images in device memory */
    struct extremes *extremes; /* in device memory */
    struct image in, out[PCA_VECTORS + 1];
};

static __global__ void project_kernel(struct image in, struct image vectors, struct image components,
                                      struct extremes *extremes)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    const void *pixel = pca_pixel(&in, x, y);
    float *to = (float *)image_row(&components, y) + (size_t)x * components.channels;
    for (int k = 0; k < components.channels; k++) {
        float sum = 0;
        for (int band = 0; band < in.channels; band++)
            sum += pca_sample(&in, pixel, band) * (float)((const double *)image_row(&vectors, band))[k];
        to[k] = sum;
        atomicMin(&extremes[k].smallest, ordered(sum));
        atomicMax(&extremes[k].largest, ordered(sum));
        atomicMax(&extremes[k].longest, ordered(pca_squares(&in, pixel)));
        atomicAdd(&extremes[k].sum, (double)sum);
        atomicAdd(&extremes[k].squares, (double)sum * sum);
    }
}

static __global__ void colour_kernel(struct image components, const struct extremes *extremes, int stretch,
                                     struct image rgb)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= rgb.width || y >= rgb.height)
        return;
    for (int c = 0; c < 3; c++) {
        const int k = min(c, components.channels - 1);
        const struct pca_range range = range_of(&extremes[k]);
        float low, scale;
        pca_stretch(&range, (double)rgb.width * rgb.height, stretch, &low, &scale);
        ((uint8_t *)image_row(&rgb, y))[3 * x + c] =
            pca_level(((const float *)image_row(&components, y))[(size_t)x * components.channels + k], low, scale);
    }
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
    device_image_free(&state->in);
    for (struct image &out : state->out)
        device_image_free(&out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out, const struct pca_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot <= PCA_VECTORS; slot++)
        if (!state->out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot <= PCA_VECTORS; slot++)
        TRY(device_download(&out[slot], &state->out[slot]));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(pca)
