#include "common/verify/verify.h"

#include "common/cuda/device.h"

/* A buffer's copy on the device: all of it, guards included. */
struct device_copy {
    void *memory;
    struct image image;
};

static enum status copy_up(struct device_copy *copy, const struct verify_buffer *buffer, bool is_input)
{
    const size_t offset = (size_t)((uint8_t *)buffer->image.data - buffer->memory);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMalloc(&copy->memory, buffer->bytes));
    CUDA_TRY(cudaMemcpy(copy->memory, buffer->memory, buffer->bytes, cudaMemcpyHostToDevice));
    copy->image = buffer->image;
    copy->image.data = (uint8_t *)copy->memory + offset;
    if (device_is_emulated())
        verify_protect(buffer, copy->memory, is_input, true);
out:
    return status;
}

static enum status copy_back(const struct device_copy *copy, struct verify_buffer *buffer, bool is_input)
{
    enum status status = STATUS_OK;

    if (device_is_emulated())
        verify_protect(buffer, copy->memory, is_input, false);
    CUDA_TRY(cudaMemcpy(buffer->memory, copy->memory, buffer->bytes, cudaMemcpyDeviceToHost));
out:
    return status;
}

enum status verify_launch(const struct version *version, void *state, struct verify_buffer in[], int inputs,
                          struct verify_buffer out[], int outputs, const void *params)
{
    struct device_copy device_in[ALGORITHM_MAX_INPUTS] = {}, device_out[ALGORITHM_MAX_OUTPUTS] = {};
    struct image images[ALGORITHM_MAX_INPUTS] = {}, results[ALGORITHM_MAX_OUTPUTS] = {};
    cudaStream_t stream = NULL;
    enum status status = STATUS_OK;

    for (int i = 0; i < inputs; i++) {
        TRY(copy_up(&device_in[i], &in[i], true));
        images[i] = device_in[i].image;
    }
    for (int i = 0; i < outputs; i++) {
        if (!out[i].memory)
            continue;
        TRY(copy_up(&device_out[i], &out[i], false));
        results[i] = device_out[i].image;
    }
    TRY(version->setup(state, images, params));
    /* A copy from pageable memory may return before its last bytes are on the device. */
    CUDA_TRY(cudaDeviceSynchronize());

    /* A stream that does not wait for the default one: work that launch() puts elsewhere comes too late. */
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(version->launch(state, images, results, params, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));

    for (int i = 0; i < inputs; i++)
        TRY(copy_back(&device_in[i], &in[i], true));
    for (int i = 0; i < outputs; i++)
        if (out[i].memory)
            TRY(copy_back(&device_out[i], &out[i], false));
out:
    if (stream)
        cudaStreamDestroy(stream);
    for (int i = 0; i < inputs; i++)
        cudaFree(device_in[i].memory);
    for (int i = 0; i < outputs; i++)
        cudaFree(device_out[i].memory);
    return status;
}
