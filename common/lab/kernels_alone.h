/*
 * kernels_alone.h: what comes before a student's .cu file in the emulator. There it is C++ of the host, whose compiler
 * knows more than CUDA has: atomic operations that nobody counts, and instructions of this processor. A file that names
 * them does not compile, as it would not with nvcc; one that includes headers of C++ that do neither. The emulator's
 * come first, and the one of the project that uses them.
 */
#ifndef RUNGS_KERNELS_ALONE_H
#define RUNGS_KERNELS_ALONE_H

#include "common/cuda/relaxed.h"

#pragma GCC poison __atomic_add_fetch __atomic_sub_fetch __atomic_and_fetch __atomic_or_fetch __atomic_xor_fetch
#pragma GCC poison __atomic_fetch_add __atomic_fetch_sub __atomic_fetch_and __atomic_fetch_or __atomic_fetch_xor
#pragma GCC poison __atomic_nand_fetch __atomic_fetch_nand __atomic_exchange __atomic_exchange_n
#pragma GCC poison __atomic_compare_exchange __atomic_compare_exchange_n __atomic_test_and_set
#pragma GCC poison __sync_fetch_and_add __sync_fetch_and_sub __sync_fetch_and_or __sync_fetch_and_and
#pragma GCC poison __sync_fetch_and_xor __sync_fetch_and_nand __sync_add_and_fetch __sync_sub_and_fetch
#pragma GCC poison __sync_or_and_fetch __sync_and_and_fetch __sync_xor_and_fetch __sync_nand_and_fetch
#pragma GCC poison __sync_bool_compare_and_swap __sync_val_compare_and_swap __sync_lock_test_and_set
#pragma GCC poison atomic atomic_ref atomic_flag omp asm __asm __asm__
#include "common/lab/c_alone.h"

/* Whether it is compiled to be watched is none of its business. */
#undef __SANITIZE_THREAD__

#endif
