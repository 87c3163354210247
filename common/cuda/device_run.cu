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

enum status device_run(const struct version *version, void *state, struct device_images *images,
                       const struct image in[], struct image out[], const void *params)
{
    const int inputs = version->algorithm->input_count, outputs = version->algorithm->output_count;
    enum status status = STATUS_OK;

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
}
