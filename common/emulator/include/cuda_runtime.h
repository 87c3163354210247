/*
 * cuda_runtime.h: the emulator's stand-in for NVIDIA's header of that name: the part of the CUDA runtime that Rungs
 * uses, on the CPU. Names, values and meaning follow the CUDA Runtime API; __CUDACC__ stays undefined, RUNGS_EMULATED
 * is.
 *
 * What differs from a GPU: every call returns when its work is done; device memory is host memory, but copies refuse a
 * host pointer where a device pointer belongs and the other way round, and fresh memory holds garbage; and
 * cudaGetErrorString() of an error that just happened says in words what was wrong. Times are those of the CPU.
 */
#ifndef RUNGS_EMULATOR_CUDA_RUNTIME_H
#define RUNGS_EMULATOR_CUDA_RUNTIME_H

#define RUNGS_EMULATED 1
#define CUDART_VERSION 13000

#ifdef EMULATED_PROGRAM
/* Programs define this function themselves, which C++17, the default of nvcc, does not have. */
#define lerp emulated_lerp
#include <cmath>
#include <math.h>
#undef lerp
#include "program/nvidia_names.h"
#endif

#include "emulated_core.h"
#include "emulated_device.h"
#include "emulated_intrinsics.h"
#include "vector_types.h"

#ifndef CUDARTAPI
#define CUDARTAPI
#endif

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidHostPointer = 16,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNotYetImplemented = 31,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorUnsupportedLimit = 215,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorAssert = 710,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906,
    cudaErrorCapturedEvent = 907,
    cudaErrorUnknown = 999
} cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    /* What the emulator says to these stands in runtime.cpp. */
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, l2CacheSize;
    int integrated, canMapHostMemory, concurrentKernels, asyncEngineCount, unifiedAddressing, memoryBusWidth;
    /* What programs print or ask for. The clocks have left CUDA 13; here they say that the time is a CPU's. */
    int managedMemory, concurrentManagedAccess, pageableMemoryAccess, cooperativeLaunch, computePreemptionSupported;
    int regsPerMultiprocessor, clockRate, memoryClockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled;
    int ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, directManagedMemAccessFromHost;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, canUseHostPointerForRegisteredMem;
    int pageableMemoryAccessUsesHostPageTables, hostRegisterSupported, memoryPoolsSupported;
    int persistingL2CacheMaxSize, accessPolicyMaxWindowSize, cooperativeMultiDeviceLaunch, maxTexture1D;
    int maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3], maxTexture2DLinear[3];
    size_t memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment, reservedSharedMemPerBlock;
};

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };

union cudaLaunchAttributeValue {
    char pad[64];
    int programmaticStreamSerializationAllowed;
};

struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};

/* Initialised in order: gridDim and blockDim, as CUDA calls its first members, are macros but in whole programs. */
struct cudaLaunchConfig_t {
#ifdef EMULATED_PROGRAM
    dim3 gridDim, blockDim;
#define EMULATED_GRID  gridDim
#define EMULATED_BLOCK blockDim
#else
    dim3 grid, block;
#define EMULATED_GRID  grid
#define EMULATED_BLOCK block
#endif
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

/* The attributes only allow the kernel to start early, which the emulator never does. */
#define cudaLaunchKernelEx(config, kernel, ...)                                                                        \
    (EMULATED_KERNEL(kernel)((config)->EMULATED_GRID, (config)->EMULATED_BLOCK, (config)->dynamicSmemBytes,            \
                             (config)->stream)(__VA_ARGS__),                                                           \
     cudaPeekAtLastError())

typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaStreamCaptureModeRelaxed = 2
};

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
#define cudaStreamLegacy    ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };
enum { cudaMemAttachGlobal = 1 };

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0, /* the host's ordinary memory */
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device; /* the current one; -2: of none */
    void *devicePointer, *hostPointer;
};

extern "C" {

const char *cudaGetErrorName(cudaError_t error);
/* For the calling thread's last error of this kind: with the emulator's explanation. Valid until the next one. */
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

/* A graph is the launches, copies and fills that were given to one stream, in their order; it has no branches. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

} /* extern "C" */

namespace emulated
{

/* Which memory an allocation is for; symbols and registered memory belong to the program. */
enum class memory { device, pinned, managed, registered, symbol };
cudaError_t allocate(void **pointer, size_t bytes, memory kind);
/* A global variable (__constant__, __device__) as device memory. */
void *symbol_address(const void *symbol, size_t bytes);
cudaError_t copy_to_symbol_in_turn(const void *symbol, size_t symbol_bytes, size_t offset, const void *from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy_symbol(const void *symbol, size_t symbol_bytes, size_t offset, void *to, const void *from,
                        size_t bytes, cudaMemcpyKind kind);
cudaError_t set_function_attribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int *blocks, int threads, size_t dynamic_shared_bytes);

} /* namespace emulated */

/* Always put into its caller, so that the address where the emulator's function returns to is the caller's line. */
#define EMULATED_CALL [[gnu::always_inline]] inline cudaError_t

template <class T> EMULATED_CALL cudaMalloc(T **pointer, size_t bytes)
{
    return emulated::allocate((void **)pointer, bytes, emulated::memory::device);
}

template <class T> EMULATED_CALL cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t)
{
    return emulated::allocate((void **)pointer, bytes, emulated::memory::device);
}

template <class T> EMULATED_CALL cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return emulated::allocate((void **)pointer, *pitch * height, emulated::memory::device);
}

template <class T> EMULATED_CALL cudaMallocManaged(T **pointer, size_t bytes, unsigned = cudaMemAttachGlobal)
{
    return emulated::allocate((void **)pointer, bytes, emulated::memory::managed);
}

template <class T> EMULATED_CALL cudaMallocHost(T **pointer, size_t bytes, unsigned = 0)
{
    return emulated::allocate((void **)pointer, bytes, emulated::memory::pinned);
}

template <class T> EMULATED_CALL cudaHostAlloc(T **pointer, size_t bytes, unsigned)
{
    return emulated::allocate((void **)pointer, bytes, emulated::memory::pinned);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return emulated::copy_symbol(&symbol, sizeof(symbol), offset, nullptr, from, bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return emulated::copy_to_symbol_in_turn(&symbol, sizeof(symbol), offset, from, bytes, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return emulated::copy_symbol(&symbol, sizeof(symbol), offset, to, nullptr, bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = 0)
{
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

template <class T> cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    *pointer = emulated::symbol_address(&symbol, sizeof(symbol));
    return cudaSuccess;
}

template <class T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    *bytes = sizeof(symbol);
    return cudaSuccess;
}

template <class Function> cudaError_t cudaFuncSetAttribute(Function function, cudaFuncAttribute attribute, int value)
{
    return emulated::set_function_attribute((const void *)function, attribute, value);
}

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int threads, size_t dynamic_bytes)
{
    return emulated::occupancy(blocks, threads, dynamic_bytes);
}

#ifdef EMULATED_PROGRAM
#include "texture_indirect_functions.h"

#include "program/calls.h"
#include "program/intrinsics.h"
#endif

#endif
