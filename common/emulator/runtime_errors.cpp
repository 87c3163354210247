/*
 * runtime_errors.cpp: the errors of the emulator's CUDA runtime, each with an explanation.
 */
#include <atomic>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>

#include "common/emulator/runtime_internal.h"

namespace emulated
{

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
    {cudaErrorNotYetImplemented, "cudaErrorNotYetImplemented", "API call is not yet implemented"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported", "peer access is not supported"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered", "host memory already registered"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "host memory was not registered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

static const error_text &text_of(cudaError_t error)
{
    for (const error_text &e : ERRORS)
        if (e.error == error)
            return e;
    return text_of(cudaErrorUnknown);
}

/* Of each device. Never destroyed, as all state here: versions may free device memory while the program ends. */
struct lasting {
    std::mutex mutex;
    cudaError_t error[MOST_DEVICES] = {};
    std::string message[MOST_DEVICES];
};

static lasting &the_lasting_error()
{
    static lasting *const it = new lasting;

    return *it;
}

thread_local cudaError_t last_error;
static thread_local cudaError_t explained_error;
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

/* A launch gives no error back: what a program never asks for would be lost, so it is owed until the program's end. */
static std::atomic<bool> owes;
static std::string *owed; /* never destroyed; the first one's text */

static void tell_owed(int status, void *)
{
    if (!owes)
        return;
    fflush(nullptr);
    fprintf(stderr, "emulator: the program never asked for this error: %s\n", owed->c_str());
    _exit(status != 0 ? status : 1);
}

void owe_error()
{
    static std::mutex mutex;
    static const bool tells = [] {
        const char *const text = getenv("RUNGS_EMULATOR_TELL");

        return text != nullptr && (strcmp(text, "1") == 0 || strcmp(text, "2") == 0) &&
               on_exit(tell_owed, nullptr) == 0;
    }();
    const std::lock_guard<std::mutex> lock(mutex);

    if (!tells || owes)
        return;
    if (owed == nullptr)
        owed = new std::string;
    *owed = explanation;
    owes = true;
}

void set_lasting_error(cudaError_t error, const std::string &message)
{
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(it.mutex);

    it.error[current_device] = error;
    it.message[current_device] = message;
    set_error_text(error, message.c_str());
    owe_error();
}

cudaError_t lasting_error()
{
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(it.mutex);

    return it.error[current_device] == cudaSuccess
               ? cudaSuccess
               : set_error_text(it.error[current_device], it.message[current_device].c_str());
}

void clear_errors()
{
    lasting &it = the_lasting_error();
    const std::lock_guard<std::mutex> lock(it.mutex);

    it.error[current_device] = last_error = cudaSuccess;
}

} /* namespace emulated */

using namespace emulated;

extern "C" {

const char *cudaGetErrorName(cudaError_t error)
{
    owes = owes && error == cudaSuccess;
    return text_of(error).name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    owes = owes && error == cudaSuccess;
    return error != cudaSuccess && error == explained_error ? explanation : text_of(error).text;
}

cudaError_t cudaPeekAtLastError(void)
{
    const cudaError_t lasts = lasting_error(), error = lasts != cudaSuccess ? lasts : last_error;

    owes = owes && error == cudaSuccess;
    return error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = cudaPeekAtLastError();

    last_error = cudaSuccess;
    return error;
}

} /* extern "C" */
