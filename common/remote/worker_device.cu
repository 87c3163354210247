#include "common/remote/worker.h"

#include "common/cuda/device.h"
#include "common/verify/verify.h"

#ifdef RUNGS_EMULATED
#include "common/emulator/emulator.h"
#endif

static struct image device_in[ALGORITHM_MAX_INPUTS], device_out;

void worker_device_end(void)
{
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        if (device_in[i].data)
            device_image_free(&device_in[i]);
    if (device_out.data)
        device_image_free(&device_out);
}

struct channel_counts worker_device_counts(void)
{
    struct channel_counts counts = {};
#ifdef RUNGS_EMULATED
    const struct emulator_counts emulated = emulator_count();

    counts.allocations = emulated.allocations;
    counts.launches = emulated.launches;
    counts.shared_bytes = emulated.shared_bytes;
    counts.barriers = emulated.barriers;
    counts.stream_copies = emulated.stream_copies;
#endif
    return counts;
}

enum status worker_device_pin(const struct image *image)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaHostRegister(image->data, image->stride * (size_t)image->height, cudaHostRegisterDefault));
out:
    return status;
}

static enum status verify(const struct version *version, void *state, const struct channel *request)
{
    struct verify_buffer in[ALGORITHM_MAX_INPUTS] = {}, out = {};

    for (int i = 0; i < request->inputs; i++) {
        in[i].image = request->in[i];
        in[i].memory = (uint8_t *)request->in_memory[i];
        in[i].bytes = request->in_bytes[i];
    }
    out.image = request->out;
    out.memory = (uint8_t *)request->out_memory;
    out.bytes = request->out_bytes;
    return verify_launch(version, state, in, request->inputs, &out, request->params);
}

static enum status upload(const struct version *version, void *state, const struct channel *request)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < request->inputs; i++) {
        if (!device_in[i].data)
            TRY(device_image_create(&device_in[i], &request->in[i]));
        TRY(device_upload(&device_in[i], &request->in[i]));
    }
    if (!device_out.data)
        TRY(device_image_create(&device_out, &request->out));
    TRY(device_upload(&device_out, &request->out)); /* its poison */
    TRY(version->setup(state, device_in, request->params));
    CUDA_TRY(cudaDeviceSynchronize());
out:
    return status;
}

enum status worker_device(const struct version *version, void *state, const struct channel *request)
{
    struct image out = request->out;
    enum status status = STATUS_OK;

    if (!version->launch)
        return status_set(STATUS_FAILED, "a CPU version has no launch()");
    switch (request->request) {
    case CHANNEL_VERIFY:
        return verify(version, state, request);
    case CHANNEL_UPLOAD:
        return upload(version, state, request);
    case CHANNEL_LAUNCH:
        for (int i = 0; i < request->repeat; i++) {
            if (i == request->repeat - 1)
                CUDA_TRY(cudaMemsetAsync(device_out.data, 0x5A, device_out.stride * (size_t)device_out.height, 0));
            TRY(version->launch(state, device_in, &device_out, request->params, 0));
        }
        CUDA_TRY(cudaDeviceSynchronize());
        break;
    case CHANNEL_DOWNLOAD:
        return device_download(&out, &device_out);
    default:
        break;
    }
out:
    return status;
}
