/*
 * cuda.h: for programs that include it and use the run-time alone, as most do. The driver API is not there: build/cu
 * names the first call of it.
 */
#ifndef EMULATED_CUDA_H
#define EMULATED_CUDA_H

#include <cuda_runtime.h>

#define CUDA_VERSION 13000
typedef int CUdevice;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef unsigned long long CUdeviceptr;
typedef enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_UNKNOWN = 999 } CUresult;

#endif
