/*
 * channel.h: the memory that a judge (remote.c) and a worker (worker.c) share, mapped at the same address in both, and
 * how they take turns on it.
 *
 * A worker is a program of its own with one version in it: no other version, no registry, no reference result. A
 * pipeline finds the versions of its steps there, but no other pipeline. All that a worker can reach is this memory,
 * and whatever it writes there is checked, never trusted: the judge keeps its own copies of shapes, inputs and guards,
 * and takes the time itself.
 *
 * Turns: the judge fills in the request, adds 1 to `asked` and waits for `answered` to become equal; both are futexes.
 */
#ifndef RUNGS_CHANNEL_H
#define RUNGS_CHANNEL_H

#include <stdint.h>

#include "common/contract/registry.h"

/* Free in every process that we start, under AddressSanitizer too; 46 bits, so processors with 47 have it. */
#define CHANNEL_ADDRESS ((void *)0x200000000000)

enum {
    CHANNEL_FILE = 3, /* the worker's number of the shared file */
    CHANNEL_HEADER = 1 << 20,
    CHANNEL_MAX_PARAMS = 4096,
    CHANNEL_MAX_TUNABLES = 8,
    CHANNEL_MAX_DEPTH = 64 /* frames in flight of a pipeline that is judged */
};
/* Of a pipeline whose steps are to be seen (worker_steps.c): not now; from this request on; go on. */
enum { CHANNEL_LISTEN_NOT, CHANNEL_LISTEN_ANEW, CHANNEL_LISTEN_ON };
/* Address space, not memory: pages come into being when they are written. */
#define CHANNEL_BYTES ((size_t)2 << 30)

enum channel_request {
    CHANNEL_NOTHING, /* a round trip, to see that the worker lives */
    CHANNEL_RUN,     /* run() on host images */
    CHANNEL_VERIFY,  /* verify_launch() on host buffers: setup() and `repeat` launch() on device copies of them */
    CHANNEL_UPLOAD,  /* makes device copies of the host images, and setup(), which sees older inputs */
    CHANNEL_LAUNCH, /* launch() `repeat` times, from number `value` on with these inputs, the last into poison; waits */
    CHANNEL_DOWNLOAD, /* the device's result to the host image */
    CHANNEL_END,      /* teardown(); the next call finds a zeroed state */
    CHANNEL_START,    /* a pipeline's start() with in[0], its submit() of in[0], its receive() into out */
    CHANNEL_SUBMIT,
    CHANNEL_RECEIVE,
    CHANNEL_PIN, /* in[0]'s memory will hold frames: makes it what the pipeline wants them in */
    CHANNEL_TUNE /* sets tunable number `tunable` to `value` */
};

/* What the emulator counted during a call; all 0 on a GPU. */
struct channel_counts {
    uint64_t allocations;               /* of device memory and of page-locked memory */
    uint64_t launches;                  /* of kernels */
    uint64_t threads;                   /* of all of them */
    uint64_t shared_bytes;              /* the most shared memory that a block had */
    uint64_t barriers;                  /* __syncthreads() that threads reached, once per block */
    uint64_t barrier_waits;             /* threads that reached one, each time */
    uint64_t atomics;                   /* operations */
    uint64_t stream_copies;             /* on streams of its own, from or to page-locked memory */
    uint64_t stream_downloads;          /* those of them to page-locked memory */
    uint64_t streams;                   /* the most of them that had work to do at the same time */
    uint64_t waited_bytes;              /* between host and device while the host waited */
    uint64_t busiest_bytes;             /* by the one stream that copied most */
    uint64_t stream_bytes;              /* between host and device while the host did not wait */
    uint64_t to_host_bytes;             /* copied to the host, from the device or from elsewhere on the host */
    uint64_t block_width, block_height; /* of the launch with most threads */
    uint64_t other_threads;             /* of all launches with blocks of another width or height */
    /* Of a race worker's kernels, else 0 (common/emulator/emulator.h): */
    uint64_t lane_steps, warp_steps, global_loads, global_atomics, busiest_steps, host_bytes;
    /* ... and by kernels_seen.cu: loads from shared memory of what another thread of the block wrote, and the bytes
     * that the one thread that reads most reads, of shared and global memory. */
    uint64_t shared_taken, busiest_reads;
    uint64_t global_sectors, bank_conflicts; /* where the request says counts_requests */
    /* Of a race worker of a version in C, else 0 (races.h): bytes that its accesses touched, and the most of them that
     * come one after the other. */
    uint64_t work_bytes, longest_bytes;
    /* Of a pipeline's receive(), where the judge listens (worker_steps.c), of the runs of steps that its result came
     * from: their processor time, what of it passed while nobody called the pipeline, and the most streams that were
     * in the midst of such runs at the same time. */
    uint64_t steps_ns, between_ns, step_streams;
};

struct channel {
    uint32_t asked, answered; /* by __atomic_...() alone */

    /* The request. */
    int request;
    int inputs, outputs;
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];         /* an absent output has width 0 */
    void *in_memory[ALGORITHM_MAX_INPUTS], *out_memory[ALGORITHM_MAX_OUTPUTS]; /* CHANNEL_VERIFY: around the images */
    size_t in_bytes[ALGORITHM_MAX_INPUTS], out_bytes[ALGORITHM_MAX_OUTPUTS];
    int repeat;
    int tunable, value;
    int lack;                   /* of the emulator: enum emulator_lack */
    bool counts_requests;       /* of a race worker's kernels: what the lanes of a warp ask for together is counted */
    int one_page_in;            /* of a race worker in C: how many pages of memory are watched, by lot; 0: all */
    int listens;                /* to a pipeline's steps: CHANNEL_LISTEN_... */
    int heap_byte, shared_byte; /* what fresh memory holds during the call (device_perturb()); 0 = whatever it does */
    double params[CHANNEL_MAX_PARAMS / sizeof(double)]; /* the algorithm's parameter struct */

    /* Before the worker's program runs: the child says that it is confined, and waits until the judge has looked. */
    uint32_t confined, released;
    int threads; /* of the emulator */

    /* The answer. */
    enum status status;
    char message[1024];
    struct channel_counts counts;
    int refused; /* 1 + number of a system call that the filter refused; the worker has ended then */

    /* About the version, from the start on. */
    int is_cuda, emulated;
    int depth; /* of a pipeline (pipeline.h); 0: it is none */
    char algorithm[64];
    char unavailable[256];
    int tunables;
    struct {
        char name[64];
        int preset, legal[32]; /* ascending, 0-terminated */
    } tunable_list[CHANNEL_MAX_TUNABLES];
};

#endif
