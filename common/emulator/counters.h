/*
 * counters.h: counts what each kernel, and each source line of it, costs in terms of memory: requests of a warp, the
 * sectors and wavefronts that they take, lanes whose atomic operations meet, branches at which lanes of a warp part.
 *
 * The lanes of a warp run one after the other here; on a GPU they run together. So the watch over accesses
 * (races_hooks.cpp) and over basic blocks (gcc's -fsanitize-coverage=trace-pc) keeps what each lane does, in order, and
 * the warp is run again from that: in each step, of all lanes those that are at the lowest place of the program go on
 * together, the others wait. As compilers lay out code, that is where a GPU lets them part and meet: lanes that have
 * left a loop wait behind it for those that are still inside. What lanes access together at one place is a request.
 *
 * Code is compiled for it with -DEMULATED_COUNTED: a kernel's functions are put into it, so that places are in order.
 *
 * RUNGS_EMULATOR_COUNTERS=1 prints a table of each kernel and its lines on stdout when the program ends, =FILE with a
 * '/' in its name writes them as CSV there.
 */
#ifndef RUNGS_COUNTERS_H
#define RUNGS_COUNTERS_H

#include <map>
#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

#include "common/emulator/races_internal.h"

namespace emulated
{

struct launch_site;
struct worker;
struct task;

enum cost { GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC, CONSTANT_LOAD, COSTS };

struct tally {
    uint64_t requests, lanes, bytes; /* of all requests: lanes that took part, bytes that they asked for */
    /* Sectors of 32 bytes; of shared memory wavefronts, as many as a request needs because of its banks; of constant
     * memory different words. */
    uint64_t units;
    uint64_t least; /* shared memory: wavefronts without a bank conflict */
    uint64_t meet;  /* atomics: lanes at the address of the request that has most of them */

    void operator+=(const tally &other);
};

/* Behind a basic block. `both` says that lanes have gone to different places from it: a branch. */
struct branch {
    uint64_t taken, parted; /* by warps; by lanes of a warp in two directions */
    uint32_t goes;          /* where the last lane went */
    bool both;
};

struct kernel_costs {
    std::string name, file;
    int line; /* of the launch */
    uint64_t launches, blocks, warps, barriers /* once for each warp */;
    std::map<uint32_t, tally> places[COSTS]; /* by the place in the program, behind the call */
    std::map<uint32_t, branch> branches;
};

/* Whether this program's launches are counted. */
extern bool counting;
void counters_begin_launch(const launch_site &site, uint64_t blocks, uint64_t warps);
/* Of the running host thread's block. */
void counters_begin_block(worker &w);
void counters_barrier(worker &w); /* all have met */
void counters_thread_ends(worker &w, const task &t);
/* The running thread's. `frame` is the stack pointer before the call. */
void counters_access(access kind, const volatile void *address, size_t bytes, const void *caller, const void *frame);
/* The same of a range that a GPU reads or writes piece by piece. */
void counters_range(access kind, const volatile void *address, size_t bytes, const void *caller, const void *frame);

/* Memory of the device. */
void counters_register(const void *memory, size_t bytes);
void counters_forget(const void *memory);

/* Of all kernels so far: sectors that accesses to global memory moved, and wavefronts that bank conflicts cost. */
uint64_t counted_sectors();
uint64_t counted_conflicts();

/* counters_table.cpp: at the program's end. */
void print_counters(const std::vector<kernel_costs> &kernels, const char *where);

} /* namespace emulated */

#endif
