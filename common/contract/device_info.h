/*
 * device_info.h: is there a device, and which? For C files; device.cu implements it. These calls start the CUDA
 * runtime, so a process that will fork must not make them (process.h).
 */
#ifndef RUNGS_DEVICE_INFO_H
#define RUNGS_DEVICE_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "common/core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True in a build whose .cu files run in the emulator: results count, times don't. */
bool device_is_emulated(void);

/* What fresh device memory and fresh shared memory hold from now on, in the emulator; 0: whatever it does. On a GPU
 * nothing. */
void device_perturb(int device_byte, int shared_byte);

/* From now on device_blocks() (common/cuda/device.h) hands out so many blocks at most, and an emulated device has so
 * many multiprocessors; 0: as many as there are. Grids that do not grow with the picture are small then, and what a
 * loop over blocks does in its second turn shows in small pictures. */
void device_make_small(int blocks);

/* Bytes of memory of an emulated device, and page-locked ones, that are in use; of a GPU, which others use as well,
 * 0. */
size_t device_memory_used(void);

/* NULL when there is a device with at least this compute capability (80 = 8.0; 0 = any), else why not, in one line. */
const char *device_needs_capability(int capability);

/* Starts the driver on the first device: a context, as the first call of any version would make it. */
enum status device_start(void);

#ifdef __cplusplus
}
#endif
#endif
