#include "common/cuda/device_run.h"

#include "common/cuda/device.h"

enum status device_images_create(struct device_images *images, const struct image in[], int inputs,
                                 const struct image out[], int outputs)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < inputs; i++)
        if (!images->in[i].data && in[i].width > 0)
            TRY(device_image_create(&images->in[i], &in[i]));
    for (int i = 0; i < outputs; i++)
        if (!images->out[i].data && out[i].width > 0)
            TRY(device_image_create(&images->out[i], &out[i]));
out:
    return status;
}

/* A call whose launch() gets bands of rows. */
struct rows_call {
    const struct version *version;
    void *state;
    const struct device_images *images;
    const void *params;
};

static struct image rows_of(const struct image *image, int first, int end)
{
    struct image rows = *image;

    rows.data = image_row(image, first);
    rows.height = end - first;
    return rows;
}

static enum status launch_rows(void *pointer, int first, int end, cudaStream_t stream)
{
    const struct rows_call *call = (const struct rows_call *)pointer;
    const struct algorithm *algorithm = call->version->algorithm;
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];

    for (int i = 0; i < algorithm->input_count; i++)
        in[i] = rows_of(&call->images->in[i], first, end);
    for (int i = 0; i < algorithm->output_count; i++)
        out[i] = rows_of(&call->images->out[i], first, end);
    return call->version->launch(call->state, in, out, call->params, stream);
}

/* On streams that do not wait for the default one. When it fails nothing is on them any more. */
static enum status run_staged(const struct version *version, void *state, struct device_images *images,
                              const struct image in[], struct image out[], const void *params)
{
    const int inputs = version->algorithm->input_count, outputs = version->algorithm->output_count;
    enum status status = STATUS_OK;

    TRY(version->setup(state, in, params));
    TRY(device_images_create(images, in, inputs, out, outputs));
    if (!images->stream)
        CUDA_TRY(cudaStreamCreateWithFlags(&images->stream, cudaStreamNonBlocking));
    if (version->by_rows) {
        struct rows_call call = {version, state, images, params};

        if (!images->back)
            CUDA_TRY(cudaStreamCreateWithFlags(&images->back, cudaStreamNonBlocking));
        TRY(staging_by_rows(&images->staging, {images->in, in, inputs}, {images->out, out, outputs}, launch_rows, &call,
                            images->stream, images->back));
        goto out;
    }
    TRY(staging_upload(&images->staging, images->in, in, inputs, images->stream));
    phase_begin(PHASE_KERNEL, 0);
    TRY(version->launch(state, images->in, images->out, params, images->stream));
    TRY(staging_download(&images->staging, out, images->out, outputs, images->stream));
out:
    if (status != STATUS_OK && images->stream) {
        cudaStreamSynchronize(images->stream);
        cudaGetLastError(); /* the first error is the one that is told */
    }
    return status;
}

enum status device_run(const struct version *version, void *state, struct device_images *images,
                       const struct image in[], struct image out[], const void *params)
{
    const int inputs = version->algorithm->input_count, outputs = version->algorithm->output_count;
    enum status status = STATUS_OK;

    if (version->staged)
        return run_staged(version, state, images, in, out, params);
    TRY(version->setup(state, in, params));
    TRY(device_images_create(images, in, inputs, out, outputs));
    for (int i = 0; i < inputs; i++)
        if (in[i].width > 0)
            TRY(device_upload(&images->in[i], &in[i]));
    phase_begin(PHASE_KERNEL, 0);
    TRY(version->launch(state, images->in, images->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int i = 0; i < outputs; i++)
        if (out[i].width > 0)
            TRY(device_download(&out[i], &images->out[i]));
out:
    return status;
}

void device_images_free(struct device_images *images)
{
    for (struct image &image : images->in)
        device_image_free(&image);
    for (struct image &image : images->out)
        device_image_free(&image);
    staging_free(&images->staging);
    for (cudaStream_t *stream : {&images->stream, &images->back}) {
        if (*stream)
            cudaStreamDestroy(*stream);
        *stream = NULL;
    }
}
