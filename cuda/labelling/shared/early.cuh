/*
 * early.cuh: a kernel that is launched before the one in front of it on the stream has ended. Its blocks come to the GPU as
 * that one's leave, and wait there until all that it wrote can be read.
 */
#ifndef RUNGS_LABELLING_STEPS_EARLY_CUH
#define RUNGS_LABELLING_STEPS_EARLY_CUH

#include "common/cuda/device.h"

/* GPUs before Hopper launch one kernel after the other, and do not have these instructions: a condition that the compiler only drops
 * where it optimises would not do. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define EARLY(call)
#else
#define EARLY(call) call
#endif

/* From here on the next kernel may be launched. */
static inline __device__ void allow_next(void)
{
    EARLY(cudaTriggerProgrammaticLaunchCompletion());
}

/* Every thread calls this before it reads what a kernel in front has written. */
static inline __device__ void wait_for_last(void)
{
    EARLY(cudaGridDependencySynchronize());
}

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
