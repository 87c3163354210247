/*
 * device.h: what every CUDA version needs and no student should have to read twice: checked calls, device images and
 * copies. Included by .cu files only. The same source is compiled by nvcc for a GPU and by the emulator for the CPU.
 */
#ifndef RUNGS_DEVICE_H
#define RUNGS_DEVICE_H

#include <cuda_runtime.h>

#include "common/contract/device_info.h"
#include "common/contract/registry.h"
#include "common/core/status.h"
#include "common/cuda/device_run.h"
#include "common/image/image.h"
#include "common/trace/phase.h"

/* STATUS_OK for cudaSuccess, else STATUS_FAILED with "file:line: expression: reason". */
enum status cuda_status(cudaError_t error, const char *expression, const char *file, int line);

/* For a CUDA call inside a function with a local `status` and a label `out:`. After a launch:
 * CUDA_TRY(cudaGetLastError()) reports an illegal launch shape. */
#define CUDA_TRY(call) TRY(cuda_status((call), #call, __FILE__, __LINE__))

/* Device memory of `bytes` bytes: cudaMalloc as a phase, and cudaFree of it (NULL is fine; *pointer becomes NULL). */
enum status device_allocate(void **pointer, size_t bytes);
void device_free(void *pointer);
/* Copies `bytes` bytes from the host to device memory, returning when done. */
enum status device_upload_bytes(void *device, const void *host, size_t bytes);
/* Sets device memory to 0, returning when done: a stream that does not wait for the default one (cudaStreamNonBlocking)
 * may use it next, and cudaMemset alone returns before the device has begun. */
enum status device_clear(void *device, size_t bytes);

/* Allocates device memory for an image of the shape of `like`, rows 64-byte aligned as on the host. */
enum status device_image_create(struct image *image, const struct image *like);
void device_image_free(struct image *image);

/* Copies the pixels of one image between host and device; both return when the copy is done. */
enum status device_upload(struct image *device, const struct image *host);
enum status device_download(struct image *host, const struct image *device);

/* NULL, or in one line why no block can have so many threads and so much dynamic shared memory: what every GPU allows a
 * kernel that does not ask for more (CUDA C++ Programming Guide, Technical Specifications per Compute Capability). */
const char *device_block_illegal(int threads, size_t shared_bytes);

/* Blocks for a kernel that does its work with any number of them, in a loop that goes on by gridDim: `most`, which is
 * what is fast. `rungs check` has fewer at times (device_make_small()). */
unsigned device_blocks(unsigned most);

/* Blocks of `size` that cover `count` items. */
static inline unsigned ceiling_divide(int count, int size)
{
    return (unsigned)((count + size - 1) / size);
}

#endif
