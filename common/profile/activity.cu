#include "common/profile/activity.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/cuda/device.h"

#if defined(__NVCC__)

#include <cuda_occupancy.h>

/* The Makefile defines RUNGS_CUPTI, the library's path, where it found CUPTI. */
#ifdef RUNGS_CUPTI

#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>

/* The functions of CUPTI that are used. Loaded, not linked: a program that only benchmarks shall not have a profiler's
 * library in its process. */
static struct {
    decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
    decltype(&cuptiActivityEnable) enable;
    decltype(&cuptiActivityDisable) disable;
    decltype(&cuptiActivityFlushAll) flush_all;
    decltype(&cuptiActivityGetNextRecord) next_record;
    decltype(&cuptiGetTimestamp) timestamp;
    decltype(&cuptiGetCallbackName) callback_name;
    decltype(&cuptiGetResultString) result_string;
} cupti;

static const CUpti_ActivityKind recorded[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                              CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
                                              CUPTI_ACTIVITY_KIND_DRIVER};

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGNMENT = 8 };

/* Full buffers, as CUPTI gave them back; read at the end. */
static pthread_mutex_t buffers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct buffer {
    struct buffer *next;
    uint8_t *bytes;
    size_t used;
} * buffers;
static bool active;

template <class Function> static bool load(void *library, const char *name, Function *function)
{
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
}

static enum status load_cupti(void)
{
    void *library = dlopen(RUNGS_CUPTI, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return status_set(STATUS_UNSUPPORTED, "CUPTI cannot be loaded: %s", dlerror());
    if (!load(library, "cuptiActivityRegisterCallbacks", &cupti.register_callbacks) ||
        !load(library, "cuptiActivityEnable", &cupti.enable) ||
        !load(library, "cuptiActivityDisable", &cupti.disable) ||
        !load(library, "cuptiActivityFlushAll", &cupti.flush_all) ||
        !load(library, "cuptiActivityGetNextRecord", &cupti.next_record) ||
        !load(library, "cuptiGetTimestamp", &cupti.timestamp) ||
        !load(library, "cuptiGetCallbackName", &cupti.callback_name) ||
        !load(library, "cuptiGetResultString", &cupti.result_string))
        return status_set(STATUS_UNSUPPORTED, "CUPTI lacks a function: %s", dlerror());
    return STATUS_OK;
}

static enum status cupti_status(CUptiResult result, const char *what)
{
    const char *reason = "unknown error";

    if (result == CUPTI_SUCCESS)
        return STATUS_OK;
    cupti.result_string(result, &reason);
    return status_set(STATUS_UNSUPPORTED, "CUPTI refuses %s: %s%s", what, reason,
                      result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                          ? " (another profiler is attached; --bare leaves the recording to it)"
                          : "");
}

static void CUPTIAPI give_buffer(uint8_t **bytes, size_t *size, size_t *most_records)
{
    *bytes = (uint8_t *)aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *size = *bytes ? BUFFER_BYTES : 0;
    *most_records = 0; /* as many as fit */
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *bytes, size_t, size_t used)
{
    struct buffer *buffer = (struct buffer *)malloc(sizeof *buffer);

    if (!buffer || used == 0) {
        free(buffer);
        free(bytes);
        return;
    }
    pthread_mutex_lock(&buffers_mutex);
    *buffer = {buffers, bytes, used};
    buffers = buffer;
    pthread_mutex_unlock(&buffers_mutex);
}

static enum status start_cupti(void)
{
    enum status status = STATUS_OK;

    TRY(load_cupti());
    TRY(cupti_status(cupti.register_callbacks(give_buffer, take_buffer), "callbacks"));
    for (CUpti_ActivityKind kind : recorded)
        TRY(cupti_status(cupti.enable(kind), "to record"));
    active = true;
out:
    return status;
}

/* ------------------------------------------------------------------------------------------ records into events */

/* CUPTI's clock (nanoseconds) to CLOCK_MONOTONIC in seconds: both count alike, from different points. */
static double clock_offset(void)
{
    double best = 1, offset = 0;

    /* Of a few tries the one with the closest readings. */
    for (int i = 0; i < 10; i++) {
        uint64_t theirs = 0;
        const double before = trace_now();
        cupti.timestamp(&theirs);
        const double after = trace_now();

        if (after - before < best) {
            best = after - before;
            offset = (before + after) / 2 - 1e-9 * (double)theirs;
        }
    }
    return offset;
}

static void set_occupancy(struct trace_launch *launch, const cudaDeviceProp &properties)
{
    const cudaOccDeviceProp device(properties);
    const cudaOccDeviceState state;
    cudaOccFuncAttributes function;
    cudaOccResult result;
    const int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    const int warps = (threads + 31) / 32, most = properties.maxThreadsPerMultiProcessor / 32;

    function.maxThreadsPerBlock = properties.maxThreadsPerBlock;
    function.numRegs = launch->registers;
    function.sharedSizeBytes = (size_t)launch->static_shared;
    function.maxDynamicSharedSizeBytes = (size_t)launch->dynamic_shared;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.numBlockBarriers = 1;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads,
                                                (size_t)launch->dynamic_shared) != CUDA_OCC_SUCCESS)
        return;
    launch->occupancy = (double)result.activeBlocksPerMultiprocessor * warps / most;
    snprintf(launch->limit, sizeof launch->limit, "%s",
             result.limitingFactors & OCC_LIMIT_REGISTERS       ? "registers"
             : result.limitingFactors & OCC_LIMIT_SHARED_MEMORY ? "shared memory"
             : result.limitingFactors & OCC_LIMIT_WARPS         ? "warps"
             : result.limitingFactors & OCC_LIMIT_BLOCKS        ? "blocks"
                                                                : "");
}

static void kernel_event(struct trace_event *event, const CUpti_ActivityKernel9 *record,
                         const cudaDeviceProp &properties)
{
    struct trace_launch *launch = &event->launch;
    int error = 0;
    char *demangled = abi::__cxa_demangle(record->name, nullptr, nullptr, &error);

    event->kind = TRACE_KERNEL;
    trace_kernel_name(demangled ? demangled : record->name, event->name, sizeof event->name);
    free(demangled);
    event->row = (int)record->streamId;
    *launch = {{(unsigned)record->gridX, (unsigned)record->gridY, (unsigned)record->gridZ},
               {(unsigned)record->blockX, (unsigned)record->blockY, (unsigned)record->blockZ},
               record->registersPerThread,
               record->staticSharedMemory,
               record->dynamicSharedMemory,
               (int)record->localMemoryPerThread,
               0,
               ""};
    set_occupancy(launch, properties);
}

static const char *copy_name(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        return "[CUDA memcpy HtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        return "[CUDA memcpy DtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
        return "[CUDA memcpy DtoD]";
    default:
        return "[CUDA memcpy]";
    }
}

/* "cudaMemcpy2D_v3020" is cudaMemcpy2D. */
static void api_event(struct trace_event *event, const CUpti_ActivityAPI *record, CUpti_CallbackDomain domain)
{
    const char *name = nullptr;

    event->kind = TRACE_API;
    event->row = (int)record->threadId;
    if (cupti.callback_name(domain, record->cbid, &name) != CUPTI_SUCCESS || !name)
        name = "?";
    snprintf(event->name, sizeof event->name, "%s", name);
    if (char *suffix = strstr(event->name, "_v"); suffix && strspn(suffix + 2, "0123456789") >= 4)
        *suffix = '\0';
}

/* False for records of other kinds. */
static bool read_record(struct trace_event *event, CUpti_Activity *record, double offset,
                        const cudaDeviceProp &properties)
{
    uint64_t start, end;

    memset(event, 0, sizeof *event);
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;

        kernel_event(event, kernel, properties);
        start = kernel->start, end = kernel->end;
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy5 *copy = (const CUpti_ActivityMemcpy5 *)record;

        event->kind = TRACE_COPY;
        snprintf(event->name, sizeof event->name, "%s", copy_name(copy->copyKind));
        event->row = (int)copy->streamId;
        event->bytes = copy->bytes;
        start = copy->start, end = copy->end;
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;

        event->kind = TRACE_SET;
        snprintf(event->name, sizeof event->name, "[CUDA memset]");
        event->row = (int)set->streamId;
        event->bytes = set->bytes;
        start = set->start, end = set->end;
        break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
        const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)record;

        api_event(event, call,
                  record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                              : CUPTI_CB_DOMAIN_DRIVER_API);
        start = call->start, end = call->end;
        break;
    }
    default:
        return false;
    }
    event->start = 1e-9 * (double)start + offset;
    event->seconds = 1e-9 * (double)(end - start);
    return true;
}

/* Events in the order of their start, longer ones first: a driver call that lies inside another call of its thread is
 * the runtime's own business. */
static int by_thread_and_start(const void *a, const void *b)
{
    const struct trace_event *first = (const struct trace_event *)a, *second = (const struct trace_event *)b;

    if (first->kind != second->kind)
        return first->kind < second->kind ? -1 : 1;
    if (first->row != second->row)
        return first->row < second->row ? -1 : 1;
    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    return first->seconds > second->seconds ? -1 : first->seconds < second->seconds;
}

static void add_events(struct trace *trace, struct trace_event *events, size_t count, double from)
{
    const struct trace_event *outer = nullptr;

    qsort(events, count, sizeof *events, by_thread_and_start);
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];

        if (event->start < from)
            continue;
        if (event->kind == TRACE_API) {
            if (strcmp(event->name, "cuKernelGetName") == 0) /* CUPTI's own, one for each launch */
                continue;
            if (outer && outer->row == event->row && event->start < outer->start + outer->seconds)
                continue;
            outer = event;
        }
        trace_add(trace, event);
    }
}

static enum status collect(struct trace *trace, double from)
{
    enum status status = STATUS_OK;
    const double offset = clock_offset();
    struct trace_event *events = nullptr;
    size_t count = 0, capacity = 0;
    cudaDeviceProp properties;
    int device = 0;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaGetDeviceProperties(&properties, device));
    for (const struct buffer *buffer = buffers; buffer; buffer = buffer->next) {
        CUpti_Activity *record = nullptr;

        while (cupti.next_record(buffer->bytes, buffer->used, &record) == CUPTI_SUCCESS) {
            if (count == capacity) {
                capacity = capacity ? 2 * capacity : 4096;
                void *const more = realloc(events, capacity * sizeof *events);
                if (!more) {
                    status = status_set(STATUS_NO_MEMORY, "no memory for CUPTI's records");
                    goto out;
                }
                events = (struct trace_event *)more;
            }
            count += read_record(&events[count], record, offset, properties);
        }
    }
    add_events(trace, events, count, from);
out:
    free(events);
    return status;
}

static enum status stop_cupti(struct trace *trace, double from)
{
    enum status status = STATUS_OK;

    if (!active)
        return STATUS_OK;
    active = false;
    TRY(cupti_status(cupti.flush_all(0), "to hand over its records"));
    for (CUpti_ActivityKind kind : recorded)
        cupti.disable(kind);
    TRY(collect(trace, from));
out:
    while (buffers) {
        struct buffer *const next = buffers->next;

        free(buffers->bytes);
        free(buffers);
        buffers = next;
    }
    return status;
}

#else

static enum status start_cupti(void)
{
    return status_set(STATUS_UNSUPPORTED, "CUPTI was not found beside the CUDA Toolkit when Rungs was built");
}

static enum status stop_cupti(struct trace *, double)
{
    return STATUS_OK;
}

#endif

enum status activity_start(void)
{
    const enum status recording = start_cupti();
    char why[256];
    enum status status = STATUS_OK;

    if (recording != STATUS_OK)
        snprintf(why, sizeof why, "%s", status_message());
    CUDA_TRY(cudaFree(NULL)); /* starts the runtime */
    CUDA_TRY(cudaDeviceSynchronize());
    if (recording != STATUS_OK)
        status = status_set(recording, "%s", why);
out:
    return status;
}

enum status activity_stop(struct trace *trace, double from)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaDeviceSynchronize());
    TRY(stop_cupti(trace, from));
out:
    return status;
}

#else

#include "common/emulator/emulator.h"

static struct trace *emulated_trace;

static void note_launch(const char *name, const unsigned grid[3], const unsigned block[3], size_t dynamic_shared)
{
    struct trace_event event = {};

    event.kind = TRACE_KERNEL;
    snprintf(event.name, sizeof event.name, "%s", name);
    event.start = trace_now();
    memcpy(event.launch.grid, grid, sizeof event.launch.grid);
    memcpy(event.launch.block, block, sizeof event.launch.block);
    event.launch.static_shared = -1;
    event.launch.dynamic_shared = (int)dynamic_shared;
    trace_add(emulated_trace, &event);
}

static void note_copy(const char *what, size_t bytes)
{
    struct trace_event event = {};

    event.kind = strstr(what, "memset") ? TRACE_SET : TRACE_COPY;
    snprintf(event.name, sizeof event.name, "%s", what);
    event.start = trace_now();
    event.bytes = bytes;
    trace_add(emulated_trace, &event);
}

static const struct emulator_observer observer = {note_launch, note_copy};

enum status activity_start(void)
{
    emulated_trace = trace_create();
    if (!emulated_trace)
        return status_set(STATUS_NO_MEMORY, "no memory for what the emulator does");
    emulator_observe(&observer);
    return STATUS_OK;
}

enum status activity_stop(struct trace *trace, double from)
{
    emulator_observe(nullptr);
    for (size_t i = 0; emulated_trace && i < trace_count(emulated_trace); i++)
        if (trace_at(emulated_trace, i)->start >= from)
            trace_add(trace, trace_at(emulated_trace, i));
    trace_free(emulated_trace);
    emulated_trace = nullptr;
    return STATUS_OK;
}

#endif
