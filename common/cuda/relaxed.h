/*
 * relaxed.h: loads and stores of memory that other threads change meanwhile, where any of the values that it holds in
 * the meantime will do. CUDA calls these accesses relaxed: each reads or writes a whole int, past the L1 cache, when
 * the program says so and not from a register; they order nothing. Two that meet are no race, as with atomics; a plain
 * access that meets another thread's write is one.
 */
#ifndef RUNGS_RELAXED_H
#define RUNGS_RELAXED_H

#include <cuda_runtime.h>

#ifdef RUNGS_EMULATED
#define load_relaxed(from)       __atomic_load_n(from, __ATOMIC_RELAXED)
#define store_relaxed(to, value) __atomic_store_n(to, value, __ATOMIC_RELAXED)
#else
/* PTX ISA, Memory Consistency Model: volatile accesses are relaxed ones. */
static __device__ inline int load_relaxed(const int *from)
{
    return *(const volatile int *)from;
}

static __device__ inline void store_relaxed(int *to, int value)
{
    *(volatile int *)to = value;
}
#endif

#endif
