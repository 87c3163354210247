/*
 * runtime.cpp: the CUDA runtime of the emulator: errors, memory, streams, events, the device's properties.
 */
#include <atomic>
#include <functional>
#include <limits.h>
#include <map>
#include <mutex>
#include <set>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "common/emulator/emulator_internal.h"
#include "common/emulator/races.h"

struct CUgraph_st {
    std::vector<std::function<void()>> works;
};

struct CUgraphExec_st : CUgraph_st {
};

struct CUstream_st {
    CUgraph_st *captured = nullptr; /* the graph in the making, while this stream is captured */
};

struct CUevent_st {
    bool recorded, timed;
    long long nanoseconds;
    uint64_t asked, done; /* records asked for, and the last one whose turn has come */
};

namespace emulated
{

/* ------------------------------------------------------------------------------------------------------- errors */

struct error_text {
    cudaError_t error;
    const char *name, *text;
};

static const error_text ERRORS[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered", "host memory already registered"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "host memory was not registered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

static const error_text &text_of(cudaError_t error)
{
    for (const error_text &e : ERRORS)
        if (e.error == error)
            return e;
    return text_of(cudaErrorUnknown);
}

/* Never destroyed, as all state here: versions may free device memory while the program ends. */
struct lasting {
    std::mutex mutex;
    cudaError_t error = cudaSuccess;
    std::string message;
};

static lasting &the_lasting_error()
{
    static lasting *const it = new lasting;

    return *it;
}

static thread_local cudaError_t last_error, explained_error;
static thread_local char explanation[1280];

static cudaError_t set_error_text(cudaError_t error, const char *reason)
{
    last_error = explained_error = error;
    snprintf(explanation, sizeof(explanation), "%s: %s", text_of(error).text, reason);
    return error;
}

cudaError_t set_error(cudaError_t error, const char *format, ...)
{
    char reason[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    return set_error_text(error, reason);
}

void set_lasting_error(cudaError_t error, const std::string &message)
{
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(it.mutex);

    it.error = error;
    it.message = message;
    set_error_text(error, message.c_str());
}

cudaError_t lasting_error()
{
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(it.mutex);

    return it.error == cudaSuccess ? cudaSuccess : set_error_text(it.error, it.message.c_str());
}

/* ------------------------------------------------------------------------------------------------ guarded memory */

enum { ALLOCATION_ALIGNMENT = 256, GUARD_VALUE = 0xB7 };

void *guarded_allocate(size_t bytes)
{
    void *memory = nullptr;

    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, ALLOCATION_ALIGNMENT, bytes + 2 * GUARD_BYTES) != 0)
        return nullptr;
    memset(memory, GUARD_VALUE, GUARD_BYTES);
    memset((char *)memory + GUARD_BYTES + bytes, GUARD_VALUE, GUARD_BYTES);
    races_register((char *)memory + GUARD_BYTES, bytes, GUARD_BYTES);
    return (char *)memory + GUARD_BYTES;
}

void guarded_free(void *pointer, size_t bytes)
{
    if (pointer == nullptr)
        return;
    races_forget(pointer, bytes, GUARD_BYTES);
    free((char *)pointer - GUARD_BYTES);
}

ptrdiff_t guarded_damage(const void *pointer, size_t bytes)
{
    const unsigned char *p = static_cast<const unsigned char *>(pointer);

    for (ptrdiff_t i = 0; i < GUARD_BYTES; i++)
        if (p[bytes + (size_t)i] != GUARD_VALUE)
            return (ptrdiff_t)bytes + i;
    for (ptrdiff_t i = 1; i <= GUARD_BYTES; i++)
        if (p[-i] != GUARD_VALUE)
            return -i;
    return 0;
}

/* ---------------------------------------------------------------------------------------------- the memory table */

struct allocation {
    size_t bytes;
    memory kind;
};

struct memory_table {
    std::mutex mutex;
    std::map<uintptr_t, allocation> allocations; /* by address */
    uint64_t random = 0x52756E6773;              /* for garbage */
    uint64_t count = 0;                          /* of all that were ever made on the device */
};

static memory_table &the_table()
{
    static memory_table *const it = new memory_table;

    return *it;
}

/* The allocation that holds `pointer` or ends there; the table is locked. */
static std::map<uintptr_t, allocation>::iterator find_allocation(memory_table &table, const void *pointer)
{
    const uintptr_t address = (uintptr_t)pointer;
    auto it = table.allocations.upper_bound(address);

    if (it == table.allocations.begin())
        return table.allocations.end();
    --it;
    return address - it->first <= it->second.bytes ? it : table.allocations.end();
}

/* The device's memory: the machine's. */
/* RUNGS_EMULATOR_MEMORY, or what the machine has. */
static size_t device_bytes()
{
    const char *const text = getenv("RUNGS_EMULATOR_MEMORY");
    const size_t told = text != nullptr ? (size_t)strtoull(text, nullptr, 10) : 0;

    return told > 0 ? told : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that an allocation of this kind may still have. */
static size_t room_for(const memory_table &table, memory kind)
{
    size_t room = device_bytes();

    if (kind != memory::device && kind != memory::managed)
        return SIZE_MAX;
    for (const auto &[address, its] : table.allocations)
        if (its.kind == memory::device || its.kind == memory::managed)
            room -= std::min(room, its.bytes);
    return room;
}

cudaError_t allocate(void **pointer, size_t bytes, memory kind)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (lasting_error() != cudaSuccess)
        return lasting_error();
    if (pointer == nullptr)
        return set_error(cudaErrorInvalidValue, "the address of the pointer is NULL");
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes <= room_for(table, kind))
        *pointer = guarded_allocate(bytes);
    if (*pointer == nullptr)
        return set_error(cudaErrorMemoryAllocation, "%zu bytes", bytes);
    fill_fresh_device_memory(*pointer, bytes, &table.random);
    table.allocations[(uintptr_t)*pointer] = {bytes, kind};
    table.count += kind == memory::device || kind == memory::managed;
    return cudaSuccess;
}

uint64_t allocation_count()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    return table.count;
}

static cudaError_t release(void *pointer, bool on_host)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = table.allocations.find((uintptr_t)pointer);
    const char *const what = on_host ? "cudaFreeHost" : "cudaFree";
    bool fits;

    if (pointer == nullptr)
        return lasting_error();
    fits = it != table.allocations.end() &&
           (on_host ? it->second.kind == memory::pinned
                    : it->second.kind == memory::device || it->second.kind == memory::managed);
    if (fits) {
        guarded_free(pointer, it->second.bytes);
        table.allocations.erase(it);
    }
    if (lasting_error() != cudaSuccess)
        return lasting_error();
    if (!fits)
        return set_error(cudaErrorInvalidValue, "%s(%p): not the start of memory that is allocated now (freed twice?)",
                         what, pointer);
    return cudaSuccess;
}

std::string damaged_allocation()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    for (const auto &[address, its] : table.allocations) {
        const bool guarded = its.kind != memory::symbol && its.kind != memory::registered;
        const ptrdiff_t offset = guarded ? guarded_damage((const void *)address, its.bytes) : 0;
        char text[160];

        if (offset != 0) {
            snprintf(text, sizeof(text), "a thread wrote outside of an allocation of %zu bytes at byte %td", its.bytes,
                     offset);
            memset((char *)address - GUARD_BYTES, GUARD_VALUE, GUARD_BYTES);
            memset((char *)address + its.bytes, GUARD_VALUE, GUARD_BYTES);
            return text;
        }
    }
    return "";
}

bool check_pointer(const launch_site &site, int position, const volatile void *pointer)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (pointer == nullptr || find_allocation(table, const_cast<const void *>(pointer)) != table.allocations.end())
        return true;
    if (lasting_error() == cudaSuccess)
        set_error(cudaErrorInvalidValue,
                  "kernel %s (%s:%d): argument %d points to host memory or freed memory, which a kernel cannot use",
                  site.name, site.file, site.line, position);
    return false;
}

void *symbol_address(const void *symbol, size_t bytes)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    table.allocations[(uintptr_t)symbol] = {bytes, memory::symbol};
    return const_cast<void *>(symbol);
}

/* Checks one side of a copy of `bytes` bytes. */
static cudaError_t check_side(const char *call, const char *side, const void *pointer, size_t bytes, bool on_device)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = find_allocation(table, pointer);
    size_t room;

    if (pointer == nullptr)
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is NULL", call, side);
    if (it == table.allocations.end()) {
        if (!on_device)
            return cudaSuccess;
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is not device memory", call, side);
    }
    room = it->first + it->second.bytes - (uintptr_t)pointer;
    if (on_device && (it->second.kind == memory::pinned || it->second.kind == memory::registered))
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is host memory (pinned), not device memory", call,
                         side);
    if (!on_device && room > 0 && (it->second.kind == memory::device || it->second.kind == memory::symbol))
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is device memory, not host memory", call, side);
    if (bytes > room && (on_device || room > 0) && it->second.kind != memory::registered)
        return set_error(cudaErrorInvalidValue, "%s: %zu bytes too many for the %s, which has %zu bytes from there on",
                         call, bytes - room, side, room);
    return cudaSuccess;
}

static bool is_device_memory(const void *pointer)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = find_allocation(table, pointer);

    return it != table.allocations.end() && it->second.kind != memory::pinned && it->second.kind != memory::registered;
}

/* Checks both sides of a copy; each spans that many bytes. */
static cudaError_t check_copy(const char *call, const void *to, size_t to_bytes, const void *from, size_t from_bytes,
                              cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    cudaError_t error = lasting_error();

    if (kind == cudaMemcpyDefault) {
        to_device = is_device_memory(to);
        from_device = is_device_memory(from);
    } else if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return set_error(cudaErrorInvalidMemcpyDirection, "%s: there is no cudaMemcpyKind %d", call, (int)kind);
    }
    if (error == cudaSuccess)
        error = check_side(call, "destination", to, to_bytes, to_device);
    if (error == cudaSuccess)
        error = check_side(call, "source", from, from_bytes, from_device);
    return error;
}

/* Whether these bytes are device memory, or page-locked: memory that the device can reach by itself. */
static bool is_known(const void *pointer)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    return find_allocation(table, pointer) != table.allocations.end();
}

static std::atomic<uint64_t> stream_copies;

uint64_t stream_copy_count()
{
    return stream_copies;
}

static void observe_copy_of(cudaMemcpyKind kind, size_t bytes)
{
    static const char *const names[] = {"[CUDA memcpy HtoH]", "[CUDA memcpy HtoD]", "[CUDA memcpy DtoH]",
                                        "[CUDA memcpy DtoD]", "[CUDA memcpy]"};

    observe_copy(names[kind], bytes);
}

cudaError_t copy_symbol(const void *symbol, size_t symbol_bytes, size_t offset, void *to, const void *from,
                        size_t bytes, cudaMemcpyKind kind)
{
    const bool writes = to == nullptr;
    const char *const call = writes ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol";
    char *const place = static_cast<char *>(symbol_address(symbol, symbol_bytes)) + offset;
    cudaError_t error;

    wait_for_blocking_streams();
    if (writes && from == nullptr)
        return set_error(cudaErrorInvalidValue, "%s: the source pointer is NULL", call);
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault &&
        kind != (writes ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost))
        return set_error(cudaErrorInvalidMemcpyDirection, "%s: kind %d does not fit", call, (int)kind);
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return set_error(cudaErrorInvalidValue, "%s: %zu bytes at offset %zu of a symbol of %zu bytes", call, bytes,
                         offset, symbol_bytes);
    if (bytes == 0)
        return lasting_error();
    error =
        writes ? check_copy(call, place, bytes, from, bytes, kind) : check_copy(call, to, bytes, place, bytes, kind);
    if (error == cudaSuccess) {
        memcpy(writes ? place : to, writes ? from : place, bytes);
        observe_copy_of(kind, bytes);
    }
    return error;
}

/* ---------------------------------------------------------------------------------------------------- functions */

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

/* ------------------------------------------------------------------------------------------- streams and events */

template <class T> struct handle_table {
    std::mutex mutex;
    std::set<T *> handles;

    T *create()
    {
        const std::lock_guard<std::mutex> lock(mutex);

        return *handles.insert(new T()).first;
    }
    bool has(T *handle)
    {
        const std::lock_guard<std::mutex> lock(mutex);

        return handles.count(handle) != 0;
    }
    bool destroy(T *handle)
    {
        const std::lock_guard<std::mutex> lock(mutex);

        if (handles.erase(handle) == 0)
            return false;
        delete handle;
        return true;
    }
};

static handle_table<CUstream_st> &the_streams()
{
    static handle_table<CUstream_st> *const it = new handle_table<CUstream_st>;

    return *it;
}

static handle_table<CUevent_st> &the_events()
{
    static handle_table<CUevent_st> *const it = new handle_table<CUevent_st>;

    return *it;
}

bool is_stream(cudaStream_t stream)
{
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           the_streams().has(stream);
}

static cudaError_t check_stream(const char *call, cudaStream_t stream)
{
    const cudaError_t error = lasting_error();

    if (error == cudaSuccess && !is_stream(stream))
        return set_error(cudaErrorInvalidResourceHandle, "%s: this stream does not exist", call);
    return error;
}

static cudaError_t check_event(const char *call, cudaEvent_t event)
{
    const cudaError_t error = lasting_error();

    if (error == cudaSuccess && !the_events().has(event))
        return set_error(cudaErrorInvalidResourceHandle, "%s: this event does not exist", call);
    return error;
}

static handle_table<CUgraph_st> &the_graphs()
{
    static handle_table<CUgraph_st> *const it = new handle_table<CUgraph_st>;

    return *it;
}

static handle_table<CUgraphExec_st> &the_executables()
{
    static handle_table<CUgraphExec_st> *const it = new handle_table<CUgraphExec_st>;

    return *it;
}

bool is_capturing(cudaStream_t stream)
{
    return the_streams().has(stream) && stream->captured != nullptr;
}

bool is_for_later(const launch_site &site)
{
    if (is_capturing(site.stream) || (is_late(site.stream) && launch_is_legal(site)))
        return true;
    if (!the_streams().has(site.stream))
        wait_for_blocking_streams();
    return false;
}

void keep(cudaStream_t stream, std::function<void()> work)
{
    if (is_capturing(stream))
        stream->captured->works.push_back(std::move(work));
    else
        put_off(stream, [work = std::move(work)] {
            work();
            return true;
        });
}

/* For calls that a captured stream cannot take. */
static cudaError_t check_not_capturing(const char *call, cudaStream_t stream)
{
    const cudaError_t error = check_stream(call, stream);

    if (error == cudaSuccess && is_capturing(stream))
        return set_error(cudaErrorStreamCaptureUnsupported, "%s: this stream is being captured", call);
    return error;
}

/* A call that works on `stream` in its turn: now, later, or each time that the graph runs that is being captured. */
template <class Work> static cudaError_t in_turn(const char *call, cudaStream_t stream, Work work)
{
    const cudaError_t error = check_stream(call, stream);

    if (error != cudaSuccess)
        return error;
    if (!is_capturing(stream) && !is_late(stream))
        return work();
    keep(stream, [work] { work(); });
    return cudaSuccess;
}

/* The same for a copy, which does not wait for its turn when one side is host memory that is not page-locked. */
template <class Work>
static cudaError_t copy_in_turn(const char *call, const void *to, const void *from, cudaStream_t stream, Work work)
{
    if (the_streams().has(stream) && !is_capturing(stream)) {
        if (!is_known(to) || !is_known(from)) {
            wait_for_stream(stream);
            return work();
        }
        stream_copies.fetch_add(1, std::memory_order_relaxed);
    }
    return in_turn(call, stream, work);
}

/* What the calls that wait return: the error of the works that they waited for, or of what was before. */
static cudaError_t after_waiting()
{
    const cudaError_t error = lasting_error();

    return error != cudaSuccess || !streams_are_late() ? error : last_error;
}

/* Bytes from the first byte of a pitched area to its last. */
static size_t area_bytes(size_t pitch, size_t width, size_t height)
{
    return (height - 1) * pitch + width;
}

} /* namespace emulated */

using namespace emulated;

extern "C" {

const char *cudaGetErrorName(cudaError_t error)
{
    return text_of(error).name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error != cudaSuccess && error == explained_error ? explanation : text_of(error).text;
}

cudaError_t cudaPeekAtLastError(void)
{
    const cudaError_t lasts = lasting_error();

    return lasts != cudaSuccess ? lasts : last_error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = cudaPeekAtLastError();

    last_error = cudaSuccess;
    return error;
}

/* ------------------------------------------------------------------------------------------------------- device */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return lasting_error();
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return lasting_error();
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? lasting_error()
                       : set_error(cudaErrorInvalidDevice, "device %d: there is only device 0", device);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    cudaDeviceProp p = {};
    size_t free_bytes;

    if (device != 0)
        return set_error(cudaErrorInvalidDevice, "device %d: there is only device 0", device);
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
    p.multiProcessorCount = MULTIPROCESSORS;
    p.maxThreadsPerMultiProcessor = MULTIPROCESSOR_THREADS;
    p.maxBlocksPerMultiProcessor = MULTIPROCESSOR_BLOCKS;
    p.l2CacheSize = 50 << 20;
    p.canMapHostMemory = p.concurrentKernels = p.asyncEngineCount = p.unifiedAddressing = 1;
    p.memoryBusWidth = 5120;
    *properties = p;
    return lasting_error();
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p = {};
    const cudaError_t error = cudaGetDeviceProperties(&p, device);

    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = (int)p.sharedMemPerBlock;
        return cudaSuccess;
    case cudaDevAttrTotalConstantMemory:
        *value = (int)p.totalConstMem;
        return cudaSuccess;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        return cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
        *value = p.regsPerBlock;
        return cudaSuccess;
    case cudaDevAttrClockRate:
        *value = 1000000; /* kHz: clock64() counts nanoseconds */
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = p.l2CacheSize;
        return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = p.maxThreadsPerMultiProcessor;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p.sharedMemPerMultiprocessor;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)p.sharedMemPerBlockOptin;
        return cudaSuccess;
    }
    return set_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: the emulator does not know attribute %d",
                     (int)attribute);
}

cudaError_t cudaDeviceSynchronize(void)
{
    wait_for_all_streams();
    return after_waiting();
}

cudaError_t cudaDeviceReset(void)
{
    memory_table &table = the_table();
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(table.mutex), lasting_lock(it.mutex);

    for (const auto &[address, its] : table.allocations)
        if (its.kind != memory::symbol && its.kind != memory::registered)
            guarded_free((void *)address, its.bytes);
    table.allocations.clear();
    it.error = last_error = cudaSuccess;
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

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *total_bytes = device_bytes();
    return lasting_error();
}

/* ------------------------------------------------------------------------------------------------------- memory */

cudaError_t cudaFree(void *pointer)
{
    wait_for_all_streams();
    return release(pointer, false);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    return in_turn("cudaFreeAsync", stream, [=] { return release(pointer, false); });
}

cudaError_t cudaFreeHost(void *pointer)
{
    wait_for_all_streams();
    return release(pointer, true);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (pointer == nullptr || bytes == 0)
        return set_error(cudaErrorInvalidValue, "cudaHostRegister: %zu bytes at %p", bytes, pointer);
    if (!table.allocations.insert({(uintptr_t)pointer, {bytes, memory::registered}}).second)
        return set_error(cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister(%p)", pointer);
    return lasting_error();
}

cudaError_t cudaHostUnregister(void *pointer)
{
    wait_for_all_streams();

    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = table.allocations.find((uintptr_t)pointer);

    if (it == table.allocations.end() || it->second.kind != memory::registered)
        return set_error(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister(%p)", pointer);
    table.allocations.erase(it);
    return lasting_error();
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    wait_for_blocking_streams();
    const cudaError_t error = bytes == 0 ? lasting_error() : check_copy("cudaMemcpy", to, bytes, from, bytes, kind);

    if (error == cudaSuccess && bytes > 0) {
        memmove(to, from, bytes);
        observe_copy_of(kind, bytes);
    }
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in_turn("cudaMemcpyAsync", to, from, stream, [=] { return cudaMemcpy(to, from, bytes, kind); });
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    wait_for_blocking_streams();
    cudaError_t error = lasting_error();

    if (error == cudaSuccess && (to_pitch < width || from_pitch < width))
        error = set_error(cudaErrorInvalidPitchValue, "cudaMemcpy2D: a pitch (%zu, %zu) is less than the width %zu",
                          to_pitch, from_pitch, width);
    if (width == 0 || height == 0 || error != cudaSuccess)
        return error;
    error = check_copy("cudaMemcpy2D", to, area_bytes(to_pitch, width, height), from,
                       area_bytes(from_pitch, width, height), kind);
    for (size_t y = 0; y < height && error == cudaSuccess; y++)
        memmove((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
    if (error == cudaSuccess)
        observe_copy_of(kind, width * height);
    return error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in_turn("cudaMemcpy2DAsync", to, from, stream,
                        [=] { return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); });
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    wait_for_blocking_streams();
    cudaError_t error = lasting_error();

    if (error == cudaSuccess && pitch < width)
        error =
            set_error(cudaErrorInvalidPitchValue, "cudaMemset2D: pitch %zu is less than the width %zu", pitch, width);
    if (width == 0 || height == 0 || error != cudaSuccess)
        return error;
    error = check_side("cudaMemset", "destination", to, area_bytes(pitch, width, height), true);
    for (size_t y = 0; y < height && error == cudaSuccess; y++)
        memset((char *)to + y * pitch, value, width);
    if (error == cudaSuccess)
        observe_copy("[CUDA memset]", width * height);
    return error;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return in_turn("cudaMemset2DAsync", stream, [=] { return cudaMemset2D(to, pitch, value, width, height); });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemset2D(to, bytes, value, bytes, 1);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}

/* ------------------------------------------------------------------------------------------- streams and events */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = the_streams().create();
    late_stream_begin(*stream, (flags & cudaStreamNonBlocking) == 0);
    return lasting_error();
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    late_stream_end(stream);
    if (!the_streams().destroy(stream))
        return set_error(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: this stream does not exist");
    return lasting_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const cudaError_t error = check_not_capturing("cudaStreamSynchronize", stream);

    if (error != cudaSuccess)
        return error;
    wait_for_stream(stream);
    return after_waiting();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const cudaError_t error = check_not_capturing("cudaStreamQuery", stream);

    if (error != cudaSuccess)
        return error;
    return is_late(stream) && do_something() ? cudaErrorNotReady : after_waiting();
}

static bool has_happened(cudaEvent_t event, uint64_t record)
{
    return !the_events().has(event) || event->done >= record;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    cudaError_t error = check_not_capturing("cudaStreamWaitEvent", stream);

    if (error == cudaSuccess)
        error = check_event("cudaStreamWaitEvent", event);
    if (error != cudaSuccess)
        return error;
    const auto happened = [event, record = event->asked] { return has_happened(event, record); };

    if (is_late(stream))
        put_off(stream, happened);
    else
        wait_until(happened);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    *event = the_events().create();
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return lasting_error();
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!the_events().destroy(event))
        return set_error(cudaErrorInvalidResourceHandle, "cudaEventDestroy: this event does not exist");
    return lasting_error();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = check_event("cudaEventRecord", event);

    if (error == cudaSuccess)
        error = check_not_capturing("cudaEventRecord", stream);
    if (error != cudaSuccess)
        return error;
    const auto happen = [event, record = ++event->asked] {
        if (the_events().has(event)) {
            event->recorded = true;
            event->nanoseconds = clock64();
            event->done = record;
        }
        return true;
    };

    if (is_late(stream)) {
        put_off(stream, happen);
    } else {
        wait_for_blocking_streams();
        happen();
    }
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const cudaError_t error = check_event("cudaEventSynchronize", event);

    if (error != cudaSuccess)
        return error;
    wait_until([event, record = event->asked] { return has_happened(event, record); });
    return after_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const cudaError_t error = check_event("cudaEventQuery", event);

    if (error != cudaSuccess)
        return error;
    if (has_happened(event, event->asked))
        return after_waiting();
    do_something();
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t error = check_event("cudaEventElapsedTime", start);

    if (error == cudaSuccess)
        error = check_event("cudaEventElapsedTime", end);
    if (error != cudaSuccess)
        return error;
    if (!has_happened(start, start->asked) || !has_happened(end, end->asked))
        return cudaErrorNotReady;
    if (!start->recorded || !end->recorded || !start->timed || !end->timed)
        return set_error(cudaErrorInvalidResourceHandle,
                         "cudaEventElapsedTime: an event was never recorded or keeps no time");
    *milliseconds = (float)(end->nanoseconds - start->nanoseconds) * 1e-6f;
    return cudaSuccess;
}

/* ------------------------------------------------------------------------------------------------------- graphs */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    const cudaError_t error = check_not_capturing("cudaStreamBeginCapture", stream);

    if (error == cudaSuccess && !the_streams().has(stream))
        return set_error(cudaErrorStreamCaptureUnsupported, "cudaStreamBeginCapture: not of the default stream");
    if (error == cudaSuccess)
        stream->captured = the_graphs().create();
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const cudaError_t error = check_stream("cudaStreamEndCapture", stream);

    *graph = nullptr;
    if (error == cudaSuccess && !is_capturing(stream))
        return set_error(cudaErrorInvalidValue, "cudaStreamEndCapture: this stream is not being captured");
    if (error == cudaSuccess)
        *graph = std::exchange(stream->captured, nullptr);
    return error;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
    *executable = nullptr;
    if (!the_graphs().has(graph))
        return set_error(cudaErrorInvalidValue, "cudaGraphInstantiate: this graph does not exist");
    *executable = the_executables().create();
    (*executable)->works = graph->works;
    return lasting_error();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const cudaError_t error = check_not_capturing("cudaGraphLaunch", stream);

    if (error != cudaSuccess)
        return error;
    if (!the_executables().has(executable))
        return set_error(cudaErrorInvalidValue, "cudaGraphLaunch: this graph does not exist");
    return in_turn("cudaGraphLaunch", stream, [works = executable->works] {
        const cudaError_t before = std::exchange(last_error, cudaSuccess);

        for (const std::function<void()> &work : works)
            if (last_error == cudaSuccess)
                work();
        if (last_error != cudaSuccess)
            return last_error;
        last_error = before;
        return lasting_error();
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!the_graphs().destroy(graph))
        return set_error(cudaErrorInvalidValue, "cudaGraphDestroy: this graph does not exist");
    return lasting_error();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    if (!the_executables().destroy(executable))
        return set_error(cudaErrorInvalidValue, "cudaGraphExecDestroy: this graph does not exist");
    return lasting_error();
}

} /* extern "C" */
