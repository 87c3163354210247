/*
 * calls.h: calls of the run-time that programs make and Rungs does not. Most ask for speed (a cache, a priority, where
 * managed memory should be), and do nothing here but look at their arguments. Meaning: CUDA Runtime API.
 */
#ifndef EMULATED_PROGRAM_CALLS_H
#define EMULATED_PROGRAM_CALLS_H

#include <functional>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- the device */

enum {
    cudaDeviceScheduleAuto = 0,
    cudaDeviceScheduleSpin = 1,
    cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4,
    cudaDeviceBlockingSync = 4,
    cudaDeviceMapHost = 8,
    cudaDeviceLmemResizeToMax = 16
};
enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};
enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault = 0,
    cudaSharedMemBankSizeFourByte = 1,
    cudaSharedMemBankSizeEightByte = 2
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
};
enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
};
enum { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };

#define EMULATED_NOTHING(...)                                                                                          \
    inline cudaError_t __VA_ARGS__                                                                                     \
    {                                                                                                                  \
        return emulated::no_effect();                                                                                  \
    }
namespace emulated
{
/* What a call returns that has nothing to do: the error that lasts, if there is one. */
inline cudaError_t no_effect()
{
    int device;

    return cudaGetDevice(&device);
}
} /* namespace emulated */

EMULATED_NOTHING(cudaSetDeviceFlags(unsigned))
EMULATED_NOTHING(cudaDeviceSetLimit(cudaLimit, size_t))
EMULATED_NOTHING(cudaDeviceSetCacheConfig(cudaFuncCache))
EMULATED_NOTHING(cudaDeviceSetSharedMemConfig(cudaSharedMemConfig))
EMULATED_NOTHING(cudaCtxResetPersistingL2Cache())
template <class Function>
EMULATED_NOTHING(cudaFuncSetCacheConfig(Function, cudaFuncCache))
template <class Function>
EMULATED_NOTHING(cudaFuncSetSharedMemConfig(Function, cudaSharedMemConfig))

inline cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = cudaDeviceMapHost;
    return emulated::no_effect();
}

inline cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit)
{
    *value = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitMallocHeapSize ? 8 << 20 : 1 << 20;
    return emulated::no_effect();
}

inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return emulated::no_effect();
}

inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config)
{
    *config = cudaSharedMemBankSizeFourByte;
    return emulated::no_effect();
}

inline cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *)
{
    return cudaGetDevice(device);
}

inline cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    snprintf(text, (size_t)length, "0000:%02x:00.0", device);
    return emulated::no_effect();
}

inline cudaError_t cudaThreadSynchronize()
{
    return cudaDeviceSynchronize();
}

inline cudaError_t cudaThreadExit()
{
    return cudaDeviceReset();
}

/* ----------------------------------------------------------------------------------------------- several devices */

/* Every device's memory is the host's, but a kernel that follows another device's pointer still fails. */
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return emulated::no_effect();
}

inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    return cudaErrorPeerAccessUnsupported;
}

inline cudaError_t cudaDeviceDisablePeerAccess(int)
{
    return cudaErrorPeerAccessNotEnabled;
}

inline cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

inline cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream = 0)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

/* -------------------------------------------------------------------------------------------------------- memory */

enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
enum { cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };

EMULATED_NOTHING(cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0))
EMULATED_NOTHING(cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t = 0))
EMULATED_NOTHING(cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int))
EMULATED_NOTHING(cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation))
EMULATED_NOTHING(cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0, unsigned = cudaMemAttachSingle))

template <class T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned)
{
    *device = (T *)host;
    return emulated::no_effect();
}

/* Pools: there is one, and memory goes back at once. */
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh
};
EMULATED_NOTHING(cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *))
EMULATED_NOTHING(cudaMemPoolTrimTo(cudaMemPool_t, size_t))
EMULATED_NOTHING(cudaDeviceSetMemPool(int, cudaMemPool_t))

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = nullptr;
    return emulated::no_effect();
}

inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int)
{
    *pool = nullptr;
    return emulated::no_effect();
}

/* ---------------------------------------------------------------------------------------------- streams, events */

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2
};
enum { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1, cudaEventInterprocess = 4, cudaEventWaitDefault = 0 };
#define CUDART_CB
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);
typedef void (*cudaHostFn_t)(void *data);

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return emulated::no_effect();
}

inline cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority)
{
    *priority = 0;
    return emulated::no_effect();
}

/* What stays in a cache. */
enum cudaAccessProperty {
    cudaAccessPropertyNormal = 0,
    cudaAccessPropertyStreaming = 1,
    cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    cudaAccessProperty hitProp, missProp;
};
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1, cudaStreamAttributePriority = 8 };
union cudaStreamAttrValue {
    cudaAccessPolicyWindow accessPolicyWindow;
    int priority;
};
EMULATED_NOTHING(cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *))

inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned = 0)
{
    return cudaEventRecord(event, stream);
}

namespace emulated
{
/* runtime_streams.cpp: a host function in its turn on a stream. */
cudaError_t host_function_in_turn(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t callback_in_turn(cudaStream_t stream, cudaStreamCallback_t function, void *data);
} /* namespace emulated */

inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    return emulated::host_function_in_turn(stream, function, data);
}

inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned)
{
    return emulated::callback_in_turn(stream, function, data);
}

/* -------------------------------------------------------------------------------------------------------- graphs */

typedef struct CUgraphNode_st *cudaGraphNode_t;
namespace emulated
{
/* runtime_streams.cpp: a graph of nothing, and how many works one has. */
cudaError_t make_graph(cudaGraph_t *graph);
cudaError_t count_nodes(cudaGraph_t graph, size_t *count);
} /* namespace emulated */

inline cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
    return emulated::make_graph(graph);
}

inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    for (size_t i = 0; nodes != nullptr && i < *count; i++)
        nodes[i] = nullptr;
    return emulated::count_nodes(graph, count);
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, cudaGraphNode_t *, char *,
                                        size_t)
{
    return cudaGraphInstantiate(executable, graph, 0ULL);
}

inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                                 unsigned long long flags = 0)
{
    return cudaGraphInstantiate(executable, graph, flags);
}

/* ----------------------------------------------------------------------------------------------------- functions */

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};

/* What a compiler for a device would know is not known here, and 0. */
template <class Function> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Function)
{
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = 48 << 10;
    return emulated::no_effect();
}

enum { cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1 };

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Function, int threads,
                                                                   size_t dynamic_bytes, unsigned)
{
    return emulated::occupancy(blocks, threads, dynamic_bytes);
}

/* By threads and shared memory alone: the largest block that fills a multiprocessor. */
template <class Function, class Bytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, Function, Bytes bytes_of,
                                                           int limit = 0)
{
    int best = 0, device, multiprocessors;

    for (int threads = limit > 0 && limit < 1024 ? limit : 1024; threads >= 32; threads -= 32) {
        int blocks;
        const cudaError_t error = emulated::occupancy(&blocks, threads, bytes_of(threads));

        if (error != cudaSuccess)
            return error;
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks;
        }
    }
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    *grid *= multiprocessors;
    return cudaSuccess;
}

template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Function function, size_t dynamic_bytes = 0,
                                               int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, function, [dynamic_bytes](int) { return dynamic_bytes; }, limit);
}

namespace emulated
{
/* Calls a kernel whose arguments are given as addresses. */
template <class... Parameters, size_t... I>
void launch_by_addresses(const launch_site &site, void (*kernel)(Parameters...), void **arguments,
                         std::index_sequence<I...>)
{
    (site.stream == nullptr
         ? run_with<void (*)(Parameters...), std::remove_cvref_t<Parameters>...>
         : run_or_keep<void (*)(Parameters...),
                       std::remove_cvref_t<Parameters>...>)(site, kernel,
                                                            *static_cast<std::remove_cvref_t<Parameters> *>(
                                                                arguments[I])...);
}
} /* namespace emulated */

/* The translator takes a cast to void * from before the kernel's name. */
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    const emulated::launch_site site = {"of cudaLaunchKernel", file,  line, (const void *)kernel, grid, block,
                                        shared_bytes,          stream};

    emulated::launch_by_addresses(site, kernel, arguments, std::index_sequence_for<Parameters...>());
    return cudaPeekAtLastError();
}

namespace emulated
{
/* cooperative.cpp: whether the next launches of this host thread run all their blocks at the same time. */
void want_cooperative_launch(bool now);
} /* namespace emulated */

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    /* At once, also where streams are late: who runs a late launch does not know that it is cooperative. */
    cudaStreamSynchronize(stream);
    emulated::want_cooperative_launch(true);
    const emulated::launch_site site = {"of cudaLaunchKernel", file,   line, (const void *)kernel, grid, block,
                                        shared_bytes,          nullptr};
    emulated::launch_by_addresses(site, kernel, arguments, std::index_sequence_for<Parameters...>());
    emulated::want_cooperative_launch(false);
    return cudaPeekAtLastError();
}

#undef EMULATED_NOTHING

#endif
