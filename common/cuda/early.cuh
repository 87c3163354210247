/*
 * early.cuh: a kernel that is launched before the last one of its stream has ended (programmatic dependent launch), so
 * that its start, 1 to 2 us, lies beside the end of the other:
 *
 *     cudaLaunchAttribute early;
 *     cudaLaunchConfig_t launch = {grid, block, 0, stream, &early, early_attributes(&early)};
 *
 *     CUDA_TRY(cudaLaunchKernelEx(&launch, kernel, ...));
 *
 * From allow_next() on the next kernel may be launched; without it, from the end of each block on. Every thread of the
 * early kernel calls wait_for_last() before it reads what the last one wrote, or writes what that reads.
 *
 * GPUs before Hopper launch one kernel after the other; so does the emulator.
 */
#ifndef RUNGS_EARLY_CUH
#define RUNGS_EARLY_CUH

#include <cuda_runtime.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define allow_next()
#define wait_for_last()
#else
#define allow_next()    cudaTriggerProgrammaticLaunchCompletion()
#define wait_for_last() cudaGridDependencySynchronize()
#endif

/* Fills in what a launch says to be early; returns how many attributes that is, for the GPU in use. */
static inline unsigned early_attributes(cudaLaunchAttribute *early)
{
    int device = 0, major = 0;

    early->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early->val.programmaticStreamSerializationAllowed = 1;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
}

#endif
