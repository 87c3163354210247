/*
 * emulator_internal.h: what the emulator's scheduler (emulator.cpp) and its CUDA runtime (runtime.cpp) share.
 */
#ifndef RUNGS_EMULATOR_INTERNAL_H
#define RUNGS_EMULATOR_INTERNAL_H

#include <cuda_runtime.h>
#include <string>

#include "common/emulator/fiber.h"

namespace emulated
{

/* The device that the emulator stands for: an H100 or H200 (compute capability 9.0), but for the number of its
 * multiprocessors, which only decides how large a grid of resident blocks gets. */
enum {
    MOST_THREADS = 1024,
    MOST_BLOCK_Z = 64,
    MOST_GRID_YZ = 65535,
    STATIC_SHARED_BYTES = 48 * 1024,
    MOST_SHARED_BYTES = 227 * 1024,
    MULTIPROCESSOR_SHARED_BYTES = 228 * 1024,
    MULTIPROCESSOR_THREADS = 2048,
    MULTIPROCESSOR_BLOCKS = 32,
    MULTIPROCESSORS = 8,
    CONSTANT_BYTES = 64 * 1024
};

/* Bytes on both sides of an allocation that nobody may write. AddressSanitizer has its own. */
#ifdef EMULATED_ASAN
enum { GUARD_BYTES = 0 };
#else
enum { GUARD_BYTES = 256 };
#endif

/* Memory of exactly `bytes` bytes between guards, aligned to 256 (as cudaMalloc's); NULL when there is none. */
void *guarded_allocate(size_t bytes);
void guarded_free(void *pointer);
/* The offset from `pointer` of a guard byte that has changed; 0 when all are intact. */
ptrdiff_t guarded_damage(const void *pointer, size_t bytes);

/* Fills memory with garbage drawn from *random. */
void fill_with_garbage(void *memory, size_t bytes, uint64_t *random);
/* The next number of a splitmix64 generator. */
uint64_t next_random(uint64_t *random);

/* Records an error of the calling thread with its explanation and returns it. */
cudaError_t set_error(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records the error that a broken kernel leaves: from now on every call returns it, as with a GPU's context. */
void set_lasting_error(cudaError_t error, const std::string &message);
/* cudaSuccess, or the lasting error (which is then also the calling thread's last). */
cudaError_t lasting_error();

/* Tells the observer (emulator.h), if there is one. */
void observe_launch(const launch_site &site);
void observe_copy(const char *what, size_t bytes);

bool is_stream(cudaStream_t stream);
/* Dynamic shared memory that cudaFuncSetAttribute() allowed a kernel; at least STATIC_SHARED_BYTES. */
size_t allowed_dynamic_bytes(const void *kernel);
/* How often device memory was allocated. */
uint64_t allocation_count();
/* Describes a device allocation whose guards a kernel has overwritten; "" when there is none. */
std::string damaged_allocation();

} /* namespace emulated */

#endif
