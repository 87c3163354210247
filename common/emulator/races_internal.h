/*
 * races_internal.h: what the watch over accesses (races.cpp) gives to the functions that the compiler calls
 * (races_hooks.cpp).
 */
#ifndef RUNGS_RACES_INTERNAL_H
#define RUNGS_RACES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

namespace emulated
{

enum class access { read, write, atomic_read, atomic_write };

/* Whether some of the program's code calls these functions: else there is nothing to watch, and no need of cells. */
extern bool can_watch;
/* Whether this launch is watched. */
extern bool watching;
/* Whether somebody wants to know of accesses now: this watch, the counters (counters.h) or a judge (is_told). */
extern bool listening;

struct cell {
    uint32_t write, write_place, read, read_place; /* segments, and the places in the program */
};
enum { CHUNK_BITS = 20, ADDRESS_BITS = 48 };
extern cell **chunks; /* by address / 2^CHUNK_BITS */
inline cell *find_cell(uintptr_t address)
{
    cell *const chunk = address >> ADDRESS_BITS ? nullptr : chunks[address >> CHUNK_BITS];

    return chunk == nullptr ? nullptr : &chunk[address & ((1 << CHUNK_BITS) - 1)];
}
/* Memory for a table of which little will be used; NULL when there is none. */
void *reserve(size_t bytes);
/* What no segment is called. */
enum : uint32_t { NOT_DEVICE_MEMORY, UNTOUCHED, GUARD, WRITTEN, FIRST_NAME, LAST_NAME = 0xf0000000 };
/* Whether such a cell stands for memory of the device (races_segments.h): registered, or a global variable. */
bool is_of_device(const cell &c, uintptr_t address);

/* races_streams.cpp: an operation on a stream that is no kernel, or the host, accesses this memory. A name for each
 * (launch_order.h). */
uint32_t races_begin_names(const char *what);
void races_range(access kind, const void *memory, size_t bytes, uint32_t name, const char *what, uint32_t place);
void races_host(access kind, const void *memory, size_t bytes, const void *caller);
/* Names from this one on are of what is not ordered before the kernel or the operation that runs. */
extern uint32_t unordered_from;
/* Of what was done before this launch: whose access to a byte is not ordered before one of this launch, and where it
 * was; NULL for none. A plain read is kept beside the one that was there. */
const struct execution *unordered_access(const cell &c, uintptr_t address, access kind, uint32_t *place, bool *wrote);
/* This memory is another one from now on. */
void forget_second_reads(uintptr_t first, size_t bytes);

/* A thread of a kernel accesses so many bytes; `caller` is the place in the program. */
void races_access(access kind, const volatile void *at, size_t bytes, const void *caller);
/* Besides, an atomic operation tells what was known before a fence to those that see its result. */
void races_atomic_access(access kind, volatile void *address, size_t bytes, const void *caller);
void races_fence(bool of_device); /* or of the block alone: __threadfence_block() */
/* races_which.cpp: told by emulator_watch_races(); RUNGS_EMULATOR_RACES=2; whether a launch is one to watch, where
 * accesses of launches of its shape are counted, and after how many of them it is let go. */
extern bool is_told;
bool of_program();
bool is_to_be_watched(const struct launch_site &site, uint64_t **counter, uint64_t *most);
/* races_block.cpp, for threads of the block that runs: what orders them between two barriers. */
void block_order_begins(unsigned threads);
void block_order_barrier();
void block_order_fence(unsigned thread, unsigned clock);
void block_order_atomic(uintptr_t address, unsigned thread, bool writes);
void block_order_warp(unsigned warp, unsigned lanes); /* these lanes have met at __syncwarp() */
/* How often this thread has fenced in its block. */
uint16_t part_of_thread(unsigned thread);
/* Whether `thread` knows that what `other`, of that warp, did in this part at this clock is over. */
bool block_order_knows(unsigned thread, unsigned other, unsigned part, unsigned warp, unsigned clock);
/* Whether this is global or shared memory of the device whose accesses are watched. */
bool races_knows(const volatile void *address);

} /* namespace emulated */

#endif
