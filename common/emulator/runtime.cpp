/*
 * runtime.cpp: the CUDA runtime of the emulator: functions and the device's properties. Errors, memory and streams have
 * files of their own.
 */
#include <atomic>
#include <limits.h>
#include <map>
#include <mutex>
#include <stdio.h>
#include <string>

#include "common/emulator/emulator.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/runtime_internal.h"

namespace emulated
{

struct function_table {
    std::mutex mutex;
    std::map<const void *, size_t> dynamic_bytes;
};

static function_table &the_functions()
{
    static function_table *const it = new function_table;

    return *it;
}

size_t allowed_dynamic_bytes(const void *kernel)
{
    function_table &table = the_functions();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = table.dynamic_bytes.find(kernel);

    return it == table.dynamic_bytes.end() || it->second < STATIC_SHARED_BYTES ? (size_t)STATIC_SHARED_BYTES
                                                                               : it->second;
}

cudaError_t set_function_attribute(const void *function, cudaFuncAttribute attribute, int value)
{
    function_table &table = the_functions();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (lasting_error() != cudaSuccess)
        return lasting_error();
    if (function == nullptr)
        return set_error(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute: the function is NULL");
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value >= -1 && value <= 100
                   ? cudaSuccess
                   : set_error(cudaErrorInvalidValue, "cudaFuncSetAttribute: a carveout of %d is not -1..100 %%",
                               value);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return set_error(cudaErrorInvalidValue, "cudaFuncSetAttribute: attribute %d", (int)attribute);
    if (value < 0 || value > MOST_SHARED_BYTES)
        return set_error(cudaErrorInvalidValue, "cudaFuncSetAttribute: %d bytes of dynamic shared memory: at most %d",
                         value, (int)MOST_SHARED_BYTES);
    table.dynamic_bytes[function] = (size_t)value;
    return cudaSuccess;
}

static std::atomic<int> multiprocessors; /* emulator_set_multiprocessors() */

cudaError_t occupancy(int *blocks, int threads, size_t dynamic_shared_bytes)
{
    const int warps = (threads + 31) / 32;
    const int by_threads = threads > 0 ? MULTIPROCESSOR_THREADS / 32 / warps : 0;
    const int by_shared =
        (int)(MULTIPROCESSOR_SHARED_BYTES / (dynamic_shared_bytes + 1024)); /* 1 KiB is the system's */
    int most = MULTIPROCESSOR_BLOCKS;

    if (blocks == nullptr || threads < 1)
        return set_error(cudaErrorInvalidValue, "cudaOccupancyMaxActiveBlocksPerMultiprocessor: %d threads", threads);
    most = by_threads < most ? by_threads : most;
    most = by_shared < most ? by_shared : most;
    *blocks = threads > MOST_THREADS || dynamic_shared_bytes > MOST_SHARED_BYTES ? 0 : most;
    return lasting_error();
}

} /* namespace emulated */

using namespace emulated;

size_t emulator_memory_used(void)
{
    return memory_used();
}

void emulator_set_multiprocessors(int count)
{
    multiprocessors = count;
}

static cudaError_t check_device(int device)
{
    if (device >= 0 && device < device_count())
        return cudaSuccess;
    return set_error(cudaErrorInvalidDevice, "device %d: there %s device%s 0%s%s", device,
                     device_count() == 1 ? "is only" : "are", device_count() == 1 ? "" : "s",
                     device_count() == 1 ? "" : " to ",
                     device_count() == 1 ? "" : std::to_string(device_count() - 1).c_str());
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return lasting_error();
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return lasting_error();
}

cudaError_t cudaSetDevice(int device)
{
    const cudaError_t error = check_device(device);

    if (error != cudaSuccess)
        return error;
    current_device = device;
    return lasting_error();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    cudaDeviceProp p = {};
    size_t free_bytes;

    if (check_device(device) != cudaSuccess)
        return cudaErrorInvalidDevice;
    snprintf(p.name, sizeof(p.name), "Rungs emulator");
    cudaMemGetInfo(&free_bytes, &p.totalGlobalMem);
    p.sharedMemPerBlock = STATIC_SHARED_BYTES;
    p.sharedMemPerBlockOptin = MOST_SHARED_BYTES;
    p.sharedMemPerMultiprocessor = MULTIPROCESSOR_SHARED_BYTES;
    p.totalConstMem = CONSTANT_BYTES;
    p.regsPerBlock = 65536;
    p.warpSize = 32;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = MOST_THREADS;
    p.maxThreadsDim[2] = MOST_BLOCK_Z;
    p.maxGridSize[0] = INT_MAX;
    p.maxGridSize[1] = p.maxGridSize[2] = MOST_GRID_YZ;
    p.major = 9;
    p.multiProcessorCount = multiprocessors > 0 ? multiprocessors.load() : MULTIPROCESSORS;
    p.maxThreadsPerMultiProcessor = MULTIPROCESSOR_THREADS;
    p.maxBlocksPerMultiProcessor = MULTIPROCESSOR_BLOCKS;
    p.l2CacheSize = 50 << 20;
    p.persistingL2CacheMaxSize = p.l2CacheSize / 4 * 3; /* which nothing here makes use of */
    p.accessPolicyMaxWindowSize = 128 << 20;
    p.canMapHostMemory = p.concurrentKernels = p.asyncEngineCount = p.unifiedAddressing = 1;
    p.memoryBusWidth = 5120;
    p.clockRate = p.memoryClockRate = 1000000; /* kHz: clock64() counts nanoseconds */
    p.regsPerMultiprocessor = p.regsPerBlock;
    p.managedMemory = p.concurrentManagedAccess = p.hostRegisterSupported = p.streamPrioritiesSupported = 1;
    p.cooperativeLaunch = p.deviceOverlap = p.memoryPoolsSupported = 1;
    p.globalL1CacheSupported = p.localL1CacheSupported = p.canUseHostPointerForRegisteredMem = 1;
    p.memPitch = INT_MAX;
    p.textureAlignment = p.surfaceAlignment = 512;
    p.texturePitchAlignment = 32;
    p.pciDeviceID = device;
    p.singleToDoublePrecisionPerfRatio = 2;
    p.maxTexture1D = p.maxTexture2D[0] = p.maxTexture2D[1] = 131072;
    *properties = p;
    return lasting_error();
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p = {};
    const cudaError_t error = cudaGetDeviceProperties(&p, device);

    if (error != cudaSuccess)
        return error;
    const struct {
        cudaDeviceAttr attribute;
        int value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, (int)p.totalConstMem},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrClockRate, p.clockRate},
        {cudaDevAttrMemoryClockRate, p.memoryClockRate},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)p.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
        {cudaDevAttrGpuOverlap, p.deviceOverlap},
        {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
        {cudaDevAttrIntegrated, p.integrated},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrComputeMode, p.computeMode},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
        {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
    };
    for (const auto &known : values)
        if (known.attribute == attribute) {
            *value = known.value;
            return cudaSuccess;
        }
    return set_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: the emulator does not know attribute %d",
                     (int)attribute);
}

cudaError_t cudaDeviceSynchronize(void)
{
    wait_for_all_streams();
    order_host_waits_for_device();
    return after_waiting();
}

cudaError_t cudaDeviceReset(void)
{
    wait_for_all_streams();
    order_host_waits_for_device();
    free_memory_of_device();
    clear_errors();
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return lasting_error();
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return lasting_error();
}

} /* extern "C" */
