#include "common/cuda/device.h"

#include <cstdio>

#include "common/trace/step.h"
#ifdef RUNGS_EMULATED
#include "common/emulator/emulator.h"
#endif

static void wait_for_device(void)
{
    cudaDeviceSynchronize(); /* an error stays with the device: the next checked call reports it */
}

__attribute__((constructor)) static void install_synchronize(void)
{
    phase_synchronize = wait_for_device;
}

#ifndef RUNGS_EMULATED
static cudaEvent_t events[STEP_MAX_MARKS]; /* one device, one recording at a time */

static enum status mark_on_device(int index, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (!events[index])
        CUDA_TRY(cudaEventCreate(&events[index]));
    CUDA_TRY(cudaEventRecord(events[index], stream));
out:
    return status;
}

static enum status elapsed_on_device(int index, double *seconds)
{
    enum status status = STATUS_OK;
    float milliseconds = 0;

    CUDA_TRY(cudaEventSynchronize(events[index]));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, events[0], events[index]));
    *seconds = 1e-3 * (double)milliseconds;
out:
    return status;
}

__attribute__((constructor)) static void install_device_clock(void)
{
    step_device_mark = mark_on_device;
    step_device_elapsed = elapsed_on_device;
}
#endif

enum status cuda_status(cudaError_t error, const char *expression, const char *file, int line)
{
    if (error == cudaSuccess)
        return STATUS_OK;
    cudaGetLastError(); /* clears it (unless the device is lost), so that no later launch reports it once more */
    return status_set(STATUS_FAILED, "%s:%d: %s: %s", file, line, expression, cudaGetErrorString(error));
}

enum status device_allocate(void **pointer, size_t bytes)
{
    enum status status = STATUS_OK;

    *pointer = NULL;
    phase_begin(PHASE_ALLOCATE, bytes);
    CUDA_TRY(cudaMalloc(pointer, bytes));
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

void device_free(void *pointer)
{
    if (!pointer)
        return;
    phase_begin(PHASE_FREE, 0);
    cudaFree(pointer);
    phase_begin(PHASE_OTHER, 0);
}

enum status device_upload_bytes(void *device, const void *host, size_t bytes)
{
    enum status status = STATUS_OK;

    phase_begin(PHASE_UPLOAD, bytes);
    CUDA_TRY(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaStreamSynchronize(0)); /* from ordinary memory it may return before the last bytes have arrived */
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status device_clear(void *device, size_t bytes)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemset(device, 0, bytes));
    CUDA_TRY(cudaStreamSynchronize(0));
out:
    return status;
}

enum status device_image_create(struct image *image, const struct image *like)
{
    enum status status = STATUS_OK;

    *image = *like;
    image->data = NULL;
    image->stride = image_minimal_stride(image);
    const size_t used = image_row_bytes(image), padding = image->stride - used;
    TRY(device_allocate(&image->data, image->stride * (size_t)image->height));
    if (padding > 0) { /* versions may read it (image.h), and memory that was never written is a finding of initcheck */
        CUDA_TRY(cudaMemset2D((char *)image->data + used, image->stride, 0, padding, (size_t)image->height));
        CUDA_TRY(cudaStreamSynchronize(0)); /* as device_clear() */
    }
out:
    if (status != STATUS_OK)
        device_image_free(image);
    return status;
}

void device_image_free(struct image *image)
{
    device_free(image->data);
    *image = {};
}

/* Copies the pixels alone, row by row: padding on either side may hold another image's pixels. */
static enum status copy_image(struct image *to, const struct image *from, enum phase phase, cudaMemcpyKind kind)
{
    enum status status = STATUS_OK;

    if (!image_same_shape(to, from))
        return status_set(STATUS_FAILED, "%s: images of different shapes, %dx%dx%d %s and %dx%dx%d %s",
                          phase_name(phase), from->width, from->height, from->channels, pixel_name(from->type),
                          to->width, to->height, to->channels, pixel_name(to->type));
    phase_begin(phase, image_pixel_bytes(from));
    CUDA_TRY(cudaMemcpy2D(to->data, to->stride, from->data, from->stride, image_row_bytes(from), (size_t)from->height,
                          kind));
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status device_upload(struct image *device, const struct image *host)
{
    return copy_image(device, host, PHASE_UPLOAD, cudaMemcpyHostToDevice);
}

enum status device_download(struct image *host, const struct image *device)
{
    return copy_image(host, device, PHASE_DOWNLOAD, cudaMemcpyDeviceToHost);
}

const char *device_block_illegal(int threads, size_t shared_bytes)
{
    enum { MOST_THREADS = 1024, MOST_SHARED_BYTES = 48 << 10 };
    static thread_local char reason[96];

    if (threads <= MOST_THREADS && shared_bytes <= MOST_SHARED_BYTES)
        return NULL;
    if (threads > MOST_THREADS)
        snprintf(reason, sizeof reason, "%d threads in a block, of which CUDA allows %d", threads, MOST_THREADS);
    else
        snprintf(reason, sizeof reason, "%zu bytes of shared memory for a block, of which CUDA grants %d", shared_bytes,
                 MOST_SHARED_BYTES);
    return reason;
}

bool device_is_emulated(void)
{
#ifdef RUNGS_EMULATED
    return true;
#else
    return false;
#endif
}

void device_perturb(int device_byte, int shared_byte)
{
#ifdef RUNGS_EMULATED
    emulator_perturb(device_byte, shared_byte);
#else
    (void)device_byte, (void)shared_byte;
#endif
}

size_t device_memory_used(void)
{
#ifdef RUNGS_EMULATED
    return emulator_memory_used();
#else
    return 0;
#endif
}

static int small_device; /* see device_make_small() */

void device_make_small(int blocks)
{
    small_device = blocks;
#ifdef RUNGS_EMULATED
    emulator_set_multiprocessors(blocks);
#endif
}

unsigned device_blocks(unsigned most)
{
    return small_device && most > (unsigned)small_device ? (unsigned)small_device : most;
}

enum status device_start(void)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaFree(NULL));
out:
    return status;
}

const char *device_needs_capability(int capability)
{
    static thread_local char reason[160];
    int device = 0, major = 0, minor = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(reason, sizeof reason, "no CUDA device: %s", cudaGetErrorString(error));
        return reason;
    }
    if (10 * major + minor >= capability)
        return NULL;
    snprintf(reason, sizeof reason, "needs compute capability %d.%d, this GPU has %d.%d", capability / 10,
             capability % 10, major, minor);
    return reason;
}
