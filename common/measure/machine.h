/*
 * machine.h: what a measurement was made on and with. Everything is read from the system at run time but the compiler
 * and its flags, which the build knows: common/measure/machine.c is compiled with -DRUNGS_FLAGS="..." (optional). On a
 * machine that has a copy of the sources the environment variable RUNGS_COMMIT may say which commit was built. The
 * host's name is not read: results get published.
 */
#ifndef RUNGS_MACHINE_H
#define RUNGS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

struct machine {
    char cpu[128];           /* model name */
    int cores;               /* that this process may run on */
    int numa_nodes;          /* that the kernel shows, at least 1 */
    size_t last_level_cache; /* bytes; 0 = the kernel does not say */
    char compiler[128];      /* "gcc 12.2.0" */
    char flags[512];         /* "-O3 -march=native ...", "" when the build did not say */
    char commit[64];         /* RUNGS_COMMIT if set, else git describe --always --dirty, else "unknown" */
    bool emulated;           /* no GPU: .cu files run in the emulator */
    char gpu[128];           /* "" when there is none */
    char driver[64];         /* of the GPU, "" when there is none */
    char cuda[64];           /* runtime version, "13.0"; "" when emulated */
    int gpu_capability;      /* 90 = 9.0; 0 when there is none */
    int gpu_multiprocessors;
    size_t gpu_l2, gpu_memory; /* bytes */
    char no_gpu[256];          /* why gpu is "" */
};

/* Fills in all facts. Asks the CUDA runtime in a child process. Never fails: what is not known is "" or 0. */
void machine_read(struct machine *machine);

/* The processor's model name, as in struct machine. */
void machine_cpu_name(char *name, size_t size);

/* Cores that this process may run on (its affinity mask), at least 1. */
int machine_cores(void);

/* Bytes of the largest CPU cache, 0 = not known. */
size_t machine_last_level_cache(void);

/* Bytes that this process can still get without swapping: what the kernel calls available, or the control group's limit
 * where that is less; 0 = not known. */
size_t machine_available_memory(void);

#endif
