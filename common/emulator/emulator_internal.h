/*
 * emulator_internal.h: what the emulator's scheduler (emulator.cpp) and its CUDA runtime (runtime*.cpp) share.
 */
#ifndef RUNGS_EMULATOR_INTERNAL_H
#define RUNGS_EMULATOR_INTERNAL_H

#include <cuda_runtime.h>
#include <functional>
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

/* ---------------------------------------------------------------------------------------------- devices.cpp */

enum { MOST_DEVICES = 16 };
/* RUNGS_DEVICES, or 1. */
int device_count();
/* Of this host thread: what cudaSetDevice() said. */
extern __thread int current_device; /* of C: no function stands between, which UBSan takes for a null pointer */
/* While it lives, work that belongs to another device runs in this host thread. */
struct on_device {
    const int before = current_device;
    explicit on_device(int device)
    {
        current_device = device;
    }
    ~on_device()
    {
        current_device = before;
    }
    on_device(const on_device &) = delete;
    on_device &operator=(const on_device &) = delete;
};
/* Whether RUNGS_EMULATOR_LOSE takes the current device away now, with this launch; then its lasting error is set. */
bool device_is_lost_now();
/* RUNGS_EMULATOR_MEMORY for the current device, or 0. */
size_t told_device_bytes();

/* Memory of exactly `bytes` bytes between guards, aligned to 256 (as cudaMalloc's); NULL when there is none. */
void *guarded_allocate(size_t bytes);
void guarded_free(void *pointer, size_t bytes);
/* The offset from `pointer` of a guard byte that has changed; 0 when all are intact. */
ptrdiff_t guarded_damage(const void *pointer, size_t bytes);
/* Makes the guards intact again. */
void guarded_mend(void *pointer, size_t bytes);

/* For handlers of signals; neither finds anything while the table of allocations is in use. Of the one nearest to an
 * address outside of all: its size, and how many bytes the address lies behind its end (at least 0) or before its
 * start (below 0). */
bool nearest_allocation(const void *address, size_t *bytes, ptrdiff_t *distance);
/* The size of the freed allocation, one of the last 256, that held the address; 0 for none. */
size_t freed_bytes_at(const void *address);

/* Fills memory with garbage drawn from *random. */
void fill_with_garbage(void *memory, size_t bytes, uint64_t *random);
/* The same for memory that has just been allocated, unless emulator_perturb() says what it holds. */
void fill_fresh_device_memory(void *memory, size_t bytes, uint64_t *random);
/* The next number of a splitmix64 generator. */
inline uint64_t next_random(uint64_t *random)
{
    uint64_t z = *random += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Records an error of the calling thread with its explanation and returns it. */
cudaError_t set_error(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records the error that a broken kernel leaves: from now on every call returns it, as with a GPU's context. */
void set_lasting_error(cudaError_t error, const std::string &message);
/* The calling thread's last error, of a launch, is one that only asking for it shows: with RUNGS_EMULATOR_TELL=1 it is
 * printed at the program's end if nobody has asked. */
void owe_error();
/* cudaSuccess, or the lasting error (which is then also the calling thread's last). */
cudaError_t lasting_error();

uint64_t stream_copy_count();
uint64_t stream_download_count();
uint64_t streams_at_once();
/* Bytes are copied between the host and the device: for a stream's work that had been put off, or while the host
 * waits. */
void count_copied(uint64_t bytes);
uint64_t waited_bytes();
uint64_t busiest_bytes();
void forget_busiest();

/* Tells the observer (emulator.h), if there is one. */
void observe_launch(const launch_site &site);
void observe_copy(const char *what, size_t bytes);

bool is_stream(cudaStream_t stream);
/* Whether work for this stream belongs to the current device; the default streams are those of whichever it is. */
bool is_stream_of_device(cudaStream_t stream);

/* Work that is put off (streams.cpp). All of this does nothing unless RUNGS_EMULATOR_LATE is 1, or
 * emulator_configure() said so. Streams belong to the device that was current when they were made; who waits for all of
 * them waits for the current device's. */
bool streams_are_late();
void late_stream_begin(cudaStream_t stream, bool blocking);
void late_stream_end(cudaStream_t stream); /* does what is left */
/* Whether work for this stream is to be put off: not for cudaStreamPerThread, nor for work whose turn has come. */
bool is_late(cudaStream_t stream);
/* The work says whether it is done: one that waits for an event cannot always be. */
void put_off(cudaStream_t stream, std::function<bool()> work);
bool do_something();
void wait_until(const std::function<bool()> &done);
void wait_for_stream(cudaStream_t stream);
void wait_for_blocking_streams(); /* as everything on the default stream does */
void wait_for_all_streams();
void set_late(bool late);
/* RUNGS_EMULATOR_SEED, or 1. */
uint64_t seed_from_environment();
/* Whether a launch is legal; sets the error when not. */
bool launch_is_legal(const launch_site &site);
/* Dynamic shared memory that cudaFuncSetAttribute() allowed a kernel; at least STATIC_SHARED_BYTES. */
size_t allowed_dynamic_bytes(const void *kernel);
size_t memory_used();
/* How often device memory was allocated. */
uint64_t allocation_count();
/* Describes a device allocation whose guards a kernel has overwritten; "" when there is none. */
std::string damaged_allocation();

} /* namespace emulated */

#endif
