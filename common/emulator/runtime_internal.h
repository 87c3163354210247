/*
 * runtime_internal.h: what the files of the emulator's CUDA runtime share.
 */
#ifndef RUNGS_EMULATOR_RUNTIME_INTERNAL_H
#define RUNGS_EMULATOR_RUNTIME_INTERNAL_H

#include <optional>

#include "common/emulator/emulator_internal.h"

namespace emulated
{

/* ---------------------------------------------------------------------------------------- runtime_errors.cpp */

/* Of the calling thread: what cudaGetLastError() returns, unless there is a lasting one. */
extern thread_local cudaError_t last_error;
void clear_errors();

/* ----------------------------------------------------------------------- guarded_memory.cpp, runtime_memory.cpp */

/* Memory of exactly `bytes` bytes between guards, its end close to pages that nobody can reach; NULL when there is
 * none. */
enum : size_t { MOST_IN_PAGES = 8192 /* allocations at a time: each is three of 65530 mappings of a process */ };
void *pages_allocate(size_t bytes);
void pages_free(void *memory, size_t bytes);
/* As guarded_damage() and guarded_mend() (emulator_internal.h), of all that can be reached around it. */
ptrdiff_t pages_damage(const void *memory, size_t bytes);
void pages_mend(void *memory, size_t bytes);

/* Which memory this is that the device can reach by itself; none: the host's ordinary memory. *room gets how many bytes
 * it has from there on. */
std::optional<memory> kind_of(const void *pointer, size_t *room = nullptr);
inline bool is_known(const void *pointer)
{
    return kind_of(pointer).has_value();
}
inline bool is_page_locked(const void *pointer)
{
    return kind_of(pointer) == memory::pinned || kind_of(pointer) == memory::registered;
}
inline bool is_device_memory(const void *pointer)
{
    return is_known(pointer) && !is_page_locked(pointer);
}
/* ": freed in f.cu:9, allocated in f.cu:3" of what held that address and was freed last; "" for none. */
std::string where_freed(const void *pointer);
void free_memory_of_device(); /* of the current one, and what is page-locked when there is no other */

/* --------------------------------------------------------------------------------------- runtime_streams.cpp */

/* For calls on the default stream. While a stream that it waits for is captured they are refused, and the record is
 * broken. */
cudaError_t check_no_record(const char *call);

/* A call, made at `place` (races.h), that works on `stream` in its turn: now, later, or each time that the graph runs
 * that is being captured. */
cudaError_t in_turn(const char *call, cudaStream_t stream, uint32_t place, const std::function<cudaError_t()> &work);
/* The same for a copy, which does not wait for its turn when one side is host memory that is not page-locked. */
cudaError_t copy_in_turn(const char *call, const void *to, const void *from, cudaStream_t stream, uint32_t place,
                         const std::function<cudaError_t()> &work);
/* What the calls that wait return: the error of the works that they waited for, or of what was before. */
cudaError_t after_waiting();

} /* namespace emulated */

#endif
