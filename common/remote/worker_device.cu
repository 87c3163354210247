#include "common/remote/worker.h"

#include <string.h>

#include <functional>

#include "common/cuda/device.h"
#include "common/verify/verify.h"

#ifdef RUNGS_EMULATED
#include "common/emulator/emulator.h"
#endif

/* device_next holds what device_in will be in the midst of the launches that are timed. */
static struct image device_in[ALGORITHM_MAX_INPUTS], device_next[ALGORITHM_MAX_INPUTS],
    device_out[ALGORITHM_MAX_OUTPUTS];

void worker_device_end(void)
{
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        if (device_in[i].data) {
            device_image_free(&device_in[i]);
            device_image_free(&device_next[i]);
        }
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        if (device_out[i].data)
            device_image_free(&device_out[i]);
}

#ifdef RUNGS_EMULATED
namespace emulated
{
void put_off(cudaStream_t stream, std::function<bool()> work); /* in no graph, whether one is captured or not */
}

void worker_device_in_turn(struct CUstream_st *stream, void (*function)(void *), void *argument)
{
    emulated::put_off(stream, [function, argument] {
        function(argument);
        return true;
    });
}

#define EMULATED_ALLOCATE "_ZN8emulated8allocateEPPvmNS_6memoryE" /* emulated::allocate() */

enum { MOST_SHAPES = 16 };

static struct {
    uint64_t crossing_bytes, to_host_bytes, locked; /* since the program began; `locked`: allocations */
    uint64_t threads, block[2];                     /* of the launch of this call that had most */
    struct shape {
        uint64_t block[2], threads;
    } shapes[MOST_SHAPES]; /* of this call's launches; the last has all that find no other place */
} seen;

static void see_launch(const char *, const unsigned grid[3], const unsigned block[3], size_t)
{
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)grid[i] * block[i];
    for (auto &shape : seen.shapes)
        if (shape.threads == 0 || (shape.block[0] == block[0] && shape.block[1] == block[1]) ||
            &shape == &seen.shapes[MOST_SHAPES - 1]) {
            shape = {{block[0], block[1]}, shape.threads + threads};
            break;
        }
    if (threads <= seen.threads)
        return;
    seen.threads = threads;
    seen.block[0] = block[0], seen.block[1] = block[1];
}

/* A copy that leaves its direction to CUDA may be one to the host, and may be none that crosses. */
static void see_copy(const char *what, size_t bytes)
{
    const bool upload = strcmp(what, "[CUDA memcpy HtoD]") == 0, download = strcmp(what, "[CUDA memcpy DtoH]") == 0,
               any = strcmp(what, "[CUDA memcpy]") == 0;

    if (upload || download)
        seen.crossing_bytes += bytes;
    if (download || any || strcmp(what, "[CUDA memcpy HtoH]") == 0)
        seen.to_host_bytes += bytes;
}

/* Page-locked memory takes as long to get as the device's, and the emulator does not count it: the linker puts these in
 * the place of its functions (assignments/labs.mk). */
cudaError_t real_allocate(void **pointer, size_t bytes, emulated::memory kind) asm("__real_" EMULATED_ALLOCATE);
cudaError_t wrap_allocate(void **pointer, size_t bytes, emulated::memory kind) asm("__wrap_" EMULATED_ALLOCATE);
extern "C" cudaError_t __real_cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
extern "C" cudaError_t __wrap_cudaHostRegister(void *pointer, size_t bytes, unsigned flags);

cudaError_t wrap_allocate(void **pointer, size_t bytes, emulated::memory kind)
{
    seen.locked += kind == emulated::memory::pinned;
    return real_allocate(pointer, bytes, kind);
}

extern "C" cudaError_t __wrap_cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    seen.locked++;
    return __real_cudaHostRegister(pointer, bytes, flags);
}
#else
void worker_device_in_turn(struct CUstream_st *, void (*)(void *), void *)
{
}
#endif

struct channel_counts worker_device_counts(void)
{
    struct channel_counts counts = {};
#ifdef RUNGS_EMULATED
    const struct emulator_counts emulated = emulator_count();

    counts.allocations = emulated.allocations + seen.locked;
    counts.launches = emulated.launches;
    counts.threads = emulated.threads;
    counts.shared_bytes = emulated.shared_bytes;
    counts.barriers = emulated.barriers;
    counts.barrier_waits = emulated.barrier_waits;
    counts.atomics = emulated.atomics;
    counts.stream_copies = emulated.stream_copies;
    counts.stream_downloads = emulated.stream_downloads;
    counts.streams = emulated.streams;
    counts.waited_bytes = emulated.waited_bytes;
    counts.busiest_bytes = emulated.busiest_bytes;
    counts.stream_bytes = seen.crossing_bytes > emulated.waited_bytes ? seen.crossing_bytes - emulated.waited_bytes : 0;
    counts.to_host_bytes = seen.to_host_bytes;
    counts.block_width = seen.block[0];
    counts.block_height = seen.block[1];
    for (const auto &shape : seen.shapes)
        if (shape.block[0] != seen.block[0] || shape.block[1] != seen.block[1])
            counts.other_threads += shape.threads;
    counts.lane_steps = emulated.lane_steps;
    counts.warp_steps = emulated.warp_steps;
    counts.global_loads = emulated.global_loads;
    counts.global_atomics = emulated.global_atomics;
    counts.busiest_steps = emulated.busiest_steps;
    counts.host_bytes = emulated.host_bytes;
    counts.global_sectors = emulated.global_sectors;
    counts.bank_conflicts = emulated.bank_conflicts;
#endif
    return counts;
}

void worker_device_begin(int threads, int lack, bool counts_requests)
{
#ifdef RUNGS_EMULATED
    static const struct emulator_observer observer = {see_launch, see_copy};

    seen.threads = seen.block[0] = seen.block[1] = 0;
    memset(seen.shapes, 0, sizeof seen.shapes);
    emulator_observe(&observer);
    emulator_configure((unsigned)threads, true, (enum emulator_lack)lack);
    if (counts_requests)
        emulator_count_requests();
#else
    (void)threads, (void)lack, (void)counts_requests;
#endif
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
    struct verify_buffer in[ALGORITHM_MAX_INPUTS] = {}, out[ALGORITHM_MAX_OUTPUTS] = {};

    for (int i = 0; i < request->inputs; i++) {
        in[i].image = request->in[i];
        in[i].memory = (uint8_t *)request->in_memory[i];
        in[i].bytes = request->in_bytes[i];
    }
    for (int i = 0; i < request->outputs; i++) {
        out[i].image = request->out[i];
        out[i].memory = (uint8_t *)request->out_memory[i];
        out[i].bytes = request->out_bytes[i];
    }
    return verify_launch(version, state, in, request->inputs, out, request->outputs, request->params, request->repeat,
                         WAITS_FOR_NOTHING, NULL);
}

static enum status upload(const struct version *version, void *state, const struct channel *request)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < request->inputs; i++) {
        if (!device_in[i].data) {
            TRY(device_image_create(&device_in[i], &request->in[i]));
            TRY(device_image_create(&device_next[i], &request->in[i]));
            CUDA_TRY(cudaMemset(device_in[i].data, 0, device_in[i].stride * (size_t)device_in[i].height));
        }
        TRY(device_upload(&device_next[i], &request->in[i]));
    }
    for (int i = 0; i < request->outputs; i++) {
        if (!request->out[i].data)
            continue;
        if (!device_out[i].data)
            TRY(device_image_create(&device_out[i], &request->out[i]));
        TRY(device_upload(&device_out[i], &request->out[i])); /* its poison */
    }
    TRY(version->setup(state, device_in, request->params));
    CUDA_TRY(cudaDeviceSynchronize());
out:
    return status;
}

enum status worker_device(const struct version *version, void *state, const struct channel *request)
{
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
            for (int slot = 0; slot < request->inputs && i == request->value; slot++)
                CUDA_TRY(cudaMemcpyAsync(device_in[slot].data, device_next[slot].data,
                                         device_in[slot].stride * (size_t)device_in[slot].height,
                                         cudaMemcpyDeviceToDevice, 0));
            for (int slot = 0; slot < request->outputs && i == request->repeat - 1; slot++)
                if (device_out[slot].data)
                    CUDA_TRY(cudaMemsetAsync(device_out[slot].data, 0x5A,
                                             device_out[slot].stride * (size_t)device_out[slot].height, 0));
            TRY(version->launch(state, device_in, device_out, request->params, 0));
        }
        CUDA_TRY(cudaDeviceSynchronize());
        break;
    case CHANNEL_DOWNLOAD:
        for (int slot = 0; slot < request->outputs; slot++) {
            struct image out = request->out[slot];

            if (out.data)
                TRY(device_download(&out, &device_out[slot]));
        }
        break;
    default:
        break;
    }
out:
    return status;
}
