/*
 * races.h: sees races between the threads of a kernel: two accesses to a byte, one of them a write and one no atomic,
 * that nothing orders.
 *
 * The Makefile compiles .cu files with the instrumentation of -fsanitize=thread, which calls __tsan_read4(address) and
 * its relatives before each access. ThreadSanitizer itself is not there: races.cpp has these functions, and knows what
 * orders the threads of a grid: __syncthreads() all of a block, __syncwarp() those of a warp that take part,
 * __threadfence() with an atomic operation behind it those that see its result (of one block: races_block.cpp). No
 * access has to happen at the wrong moment to be seen, so a race that a run meets is found in each.
 *
 * For each byte of device memory a cell holds who wrote it last, and who has read it since. "Who" is a segment: what
 * a thread does between two barriers. Where several have read, or added atomically, one segment stands for lanes of a
 * warp, threads of a block, or blocks (races_segments.h). Segments are numbered through all launches, so that what an
 * earlier launch left in the cells is known by its number to be over.
 *
 * Writes of the value that is there already (a flag that many threads set) harm nobody and are no race.
 */
#ifndef RUNGS_RACES_H
#define RUNGS_RACES_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

namespace emulated
{

struct launch_site;

/* Whether races are wanted (RUNGS_EMULATOR_RACES, emulator_watch_races()), the program has code that tells of its
 * accesses, and this launch is to be watched: one of the first of its shape at its place in the program. Then its
 * blocks must run on one host thread. */
bool races_begin_launch(const struct launch_site &site);
void races_end_launch();

/* The block that runs from now on. */
void races_begin_block(uint32_t number, unsigned warps);
void races_end_block();
/* The running thread has come to its end. */
void races_thread_ends();
/* All threads of the block have met. */
void races_barrier();
/* Some lanes of a warp have met: their clock is now the one returned. */
unsigned races_warp_barrier(unsigned warp, unsigned lanes);

/* Device memory between guards: an access to these is a fault. */
void races_register(const void *memory, size_t bytes, size_t guard);
void races_forget(const void *memory, size_t bytes, size_t guard);

/* With RUNGS_EMULATOR_RACES=2: the host, or a copy, has written this memory; nobody has written this shared memory.
 * What a kernel reads before anybody wrote it is a fault then, and so is what the host reads or writes of the
 * device's. */
void races_written(const void *memory, size_t bytes);
void races_fresh(const void *memory, size_t bytes);

/* emulator.cpp: the name of the memory of this block that holds an address, shared or other; "" for none. */
const char *shared_name(const void *address, ptrdiff_t *offset);

/* A place in the program, behind a call there: in bytes from the program's start. */
uint32_t program_place(const void *return_address);
/* " in cuda/blur/v1.2_tiled.cu:41" for such a place; "" for 0 and where binutils are not there. */
std::string line_of(uint32_t place);
/* lines.cpp: of several at once "cuda/blur/v1.2_tiled.cu:41", "" where that is not known. `own` gets whether the code
 * is the emulator's, put into the program's. */
std::vector<std::string> lines_of(const std::vector<uint32_t> &places, std::vector<bool> *own);

} /* namespace emulated */

#endif
