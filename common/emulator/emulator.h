/*
 * emulator.h: what a program that was built with CUDA=emulated can ask of the emulator.
 *
 * The emulator runs the threads of a block as fibers on one host thread and blocks in parallel on several. In which
 * order threads and blocks get their turn is drawn anew for each launch from a seed, so that a kernel that relies on an
 * order by luck fails sooner or later, and with the same seed (and one host thread) fails the same way again.
 *
 * With RUNGS_EMULATOR_LATE=1 what is put on a stream, the default one as well, waits until somebody waits for it, and
 * streams get their turns in an order drawn by lot, but for what CUDA orders between the default one and blocking ones:
 * a result that is read, or a buffer that is used again, before the wait for it holds what it should not. Copies from
 * and to memory that is not page-locked are done at once, as on a GPU.
 *
 * RUNGS_EMULATOR_SEED     the seed at the start, a number; default 1
 * RUNGS_EMULATOR_THREADS  host threads, 1..256; default: as many as the machine runs at once
 * RUNGS_EMULATOR_MEMORY   bytes of memory that the device has; default: as many as the machine. "A,B,C": those of
 *                         devices 0, 1 and all others
 * RUNGS_EMULATOR_LOSE     "1:20 2:3": device 1 is lost with its 20th launch, device 2 with its third
 * RUNGS_DEVICES           devices, 1..16; default 1. Memory, streams, events and lasting errors belong to the device
 *                         that was current in the host thread (cudaSetDevice()); a kernel that is given another
 *                         device's memory fails, as does a launch on another device's stream
 * RUNGS_EMULATOR_LATE     1: see above; `rungs check` sets it; else all is done at once, in the order of the calls
 *
 * RUNGS_EMULATOR_TELL     1: the error of a launch that the program never asks for is printed at its end, and its exit
 *                         status is 1 if it was 0; cu sets it. 2: and a program that ends with 0 is told which
 *                         memory it never freed, and the lines that asked for it; cu --race sets it
 * RUNGS_EMULATOR_RACES    1: races between threads end the launch (races.h); `rungs check` sets it. 2: launches of up
 *                         to a million threads are watched, not 8,192, allocations of up to 16 MiB, not 4; and what is
 *                         not is said on stderr, once for each kernel; what nobody has written and what the host reads
 *                         of the device's memory are faults, too; cu sets it
 *
 * Host threads live no longer than a launch, so a process may fork between launches.
 */
#ifndef RUNGS_EMULATOR_H
#define RUNGS_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the sequence of random orders anew. */
void emulator_seed(uint64_t seed);

/* What a program must not be able to do without, if it is what it says: a result that is right without kernels was
 * computed elsewhere; one that is right though shared memory lost at every barrier what it held did not go through it;
 * and one that is right though of each eight threads one, drawn by lot, did nothing is the work of a few. */
enum emulator_lack {
    EMULATOR_LACKS_NOTHING,
    EMULATOR_LACKS_KERNELS,
    EMULATOR_LACKS_SHARED_MEMORY,
    EMULATOR_LACKS_THREADS
};

/* In place of RUNGS_EMULATOR_THREADS and RUNGS_EMULATOR_LATE, from now on. */
void emulator_configure(unsigned threads, bool late, enum emulator_lack lack);

/* As RUNGS_EMULATOR_RACES=1, before the first call of CUDA's, for a program whose own code must not be able to tell:
 * grids of any size are watched, and of the many launches of one shape some by lot. */
void emulator_watch_races(void);

/* From now on what the lanes of a warp ask for together is counted (counters.h); slower. */
void emulator_count_requests(void);

/* Whether this program has kernels that tell of their accesses (races.h), so that races can be watched. */
bool emulator_can_watch_races(void);

/* What fresh device memory and fresh shared memory hold from now on in every byte; 0: garbage, drawn anew each time. */
void emulator_perturb(int device_byte, int shared_byte);

/* Bytes that are allocated now, on all devices and page-locked. */
size_t emulator_memory_used(void);

/* Multiprocessors that a device says it has from now on; 0: 8. */
void emulator_set_multiprocessors(int count);

/* Is told, on the calling host thread, of each legal launch before it runs and of each copy and memset that was done;
 * `what` is "[CUDA memcpy HtoD]" and the like. */
struct emulator_observer {
    void (*launch)(const char *name, const unsigned grid[3], const unsigned block[3], size_t dynamic_shared);
    void (*copy)(const char *what, size_t bytes);
};

/* From now on, until the next call; NULL: nobody. */
void emulator_observe(const struct emulator_observer *observer);

/* What has been done since the program began, by all threads. */
struct emulator_counts {
    uint64_t allocations;      /* cudaMalloc and its relatives */
    uint64_t launches;         /* kernels that ran */
    uint64_t threads;          /* of all their grids */
    uint64_t shared_bytes;     /* the most shared memory, static and dynamic, that a block had */
    uint64_t barriers;         /* __syncthreads() reached, once per block */
    uint64_t atomics;          /* operations, in global and in shared memory */
    uint64_t stream_copies;    /* between the device and page-locked memory, on a stream of the program's own */
    uint64_t stream_downloads; /* those of them that went to page-locked memory */
    uint64_t streams;          /* the most that had work to do at the same time, where work is put off */
    uint64_t waited_bytes;     /* copied between host and device at once, not put off */
    uint64_t busiest_bytes;    /* copied by the one stream that copied most, since emulator_configure() */
    /* Of a program that called emulator_watch_races(), of its kernels that tell of their accesses. A step is an access
     * to global or shared memory. Between two places where its lanes meet (barrier, collective, end) a warp takes as
     * many steps as its busiest lane: warp_steps. 32 warp_steps - lane_steps is what lanes idled. Of the steps so many
     * read global memory, and so many are atomic operations there. */
    uint64_t lane_steps, warp_steps, global_loads, global_atomics;
    /* Of such a program too, since emulator_configure(): the steps of the one lane that took most; and the bytes that
     * code of the host read or wrote by itself, but for those of its stack. */
    uint64_t busiest_steps, host_bytes;
    uint64_t barrier_waits; /* threads that waited at a barrier, each time that one did */
    /* Of a program that called emulator_count_requests() too: sectors of 32 bytes that its warps' accesses to global
     * memory moved, and wavefronts of shared memory that bank conflicts cost (counters.h). */
    uint64_t global_sectors, bank_conflicts;
};
struct emulator_counts emulator_count(void);

#ifdef __cplusplus
}
#endif
#endif
