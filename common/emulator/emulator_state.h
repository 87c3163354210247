/*
 * emulator_state.h: the blocks and threads that run now: what the scheduler (emulator.cpp) and what explains its faults
 * (faults.cpp) share.
 */
#ifndef RUNGS_EMULATOR_STATE_H
#define RUNGS_EMULATOR_STATE_H

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "common/emulator/emulator_internal.h"

namespace emulated
{

enum class state { ready, at_barrier, at_collective, ended };

struct call { /* of a barrier or a warp collective */
    const char *name, *file;
    int line;
};

/* What each thread needs comes first, in one line of the cache: a block of 1024 has them in an order drawn by lot. */
struct alignas(64) task : thread {
    struct fiber *fiber; /* NULL before it has started */
    enum state state;
    int atomics_given;  /* what atomics_left began with, so that the difference has been done */
    bool quiet;         /* what it does now is the emulator's own work (counters.cpp) */
    uint64_t steps;     /* accesses since it met other lanes, where the compiler tells of them (races_hooks.cpp) */
    uint64_t all_steps; /* since it began */
    struct call call;   /* the one it waits at */
    unsigned mask;      /* at a collective */
    compute_function *compute;
};

struct warp {
    unsigned waiting, gone; /* lanes at a collective; lanes that have ended or never were */
    uint64_t most_steps;    /* of a lane since lanes met */
    /* What the lanes that wait have asked for, side by side: to read it in 32 tasks took longer than all else of a
     * collective. */
    compute_function *compute; /* of the first of them */
    unsigned mask;
    bool mixed; /* another of them waits for something else */
    void *operands[32];
};

struct shared_allocation {
    const char *site, *name;
    void *memory;
    size_t size;
    bool in_use; /* by the block that runs now */
};

struct running_launch {
    const launch_site *site;
    void (*body)(void *context);
    void *context;
    unsigned threads; /* of a block */
    uint64_t blocks, seed;
    std::atomic<uint64_t> next_block;
    std::atomic<bool> failed;
    std::mutex mutex;
    uint64_t failed_block; /* the lowest one, so that the message does not depend on which came first */
    std::string message;
    cudaError_t error;
    uint32_t place; /* in the program, behind the instruction (line_of() in races.h); 0: not known */
};

/* What one host thread needs to run blocks; kept from launch to launch for its stacks. */
struct worker : block {
    running_launch *launch;
    const void *thread; /* the host thread that ran it last: where that has `active` */
    uint64_t launches;  /* so far */
    uint64_t starts;    /* how often its fibers had to be started anew */
    uint64_t number;    /* of the block */
    uint64_t random;
    uint64_t atomics; /* operations of this launch */
    uint64_t lane_steps, warp_steps, busiest_steps;
    std::vector<task> tasks;
    std::vector<task *> ready; /* the first ready_count, in an order drawn by lot, the next one last */
    unsigned ready_count, live;
    unsigned left_out; /* tasks that do nothing (EMULATOR_LACKS_THREADS) */
    std::vector<warp> warps;

    unsigned at_barrier, votes;
    int barrier_result;
    struct call barrier_call; /* of the first that waits */
    bool barrier_mixed;       /* not all wait there */

    std::vector<shared_allocation> shared;
    void *dynamic_memory;

    fiber host, *current;
    std::vector<fiber *> fibers, idle;
    bool dropped; /* the block ended by a fault, its fibers hold the rest of it */
    alignas(16) char signal_stack[32768];
};

/* Of this host thread; NULL when it runs no kernel. */
extern __thread worker *active;

/* Of kernels whose accesses the compiler tells of; emulator.h says what they mean. */
extern std::atomic<uint64_t> lane_steps, warp_steps, global_loads, global_atomics, busiest_steps, host_bytes;

/* For the report of a launch: so many bytes of a block, all its shared variables together. */
void count_shared(uint64_t bytes);

/* ----------------------------------------------------------------------------------------- shared_memory.cpp */

/* Whether nobody has written beside the block's shared variables, at its end; else the message is kept. */
bool check_shared_guards(worker &w);
/* Garbage in all of them, after a barrier when EMULATOR_LACKS_SHARED_MEMORY is asked for. */
void forget_shared_memory(worker &w);

/* ------------------------------------------------------------------------------------------- cooperative.cpp */

/* Whether the launch may go on: it is cooperative when the calling thread wanted one, and then not too large. */
bool begin_cooperative_launch(const launch_site &site, uint64_t blocks);
bool is_cooperative_launch();

/* ------------------------------------------------------------------------------------------------ random.cpp */

uint64_t number_from_environment(const char *name, uint64_t preset);
uint64_t next_launch_seed();
/* A random permutation of 0..count-1 without a table: a Feistel network over the next even number of bits, applied
 * again where it leaves the range. */
uint64_t shuffled(uint64_t index, uint64_t count, uint64_t seed);
void fill_fresh_shared_memory(void *memory, size_t bytes, uint64_t *random);

inline unsigned random_below(uint64_t *random, unsigned limit)
{
    return (unsigned)((next_random(random) >> 32) * limit >> 32);
}

/* ------------------------------------------------------------------------------------------------ faults.cpp */

std::string formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Keeps what went wrong in the block that runs now, as "kernel blur (cuda/blur/x.cu:70), block (1,0,0): text". */
void keep_message(const std::string &kind, const std::string &text, cudaError_t error = cudaErrorLaunchFailure,
                  uint32_t place = 0);
/* Leaves the block for good. What runs now is dropped without its destructors, so no caller may hold a std::string. */
[[noreturn]] void drop_block();
/* Explains why no task of the block can go on. */
void keep_divergence(const worker &w);
/* For wild pointers and stacks of fibers that are full: they end the kernel with an error, or, where the C library was
 * called with one, the process with a note. Leaves alone what the program has installed itself. */
void install_crash_notes();

} /* namespace emulated */

#endif
