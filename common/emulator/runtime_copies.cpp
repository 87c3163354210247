/*
 * runtime_copies.cpp: copies and fills of the emulator's CUDA runtime.
 */
#include <string.h>

#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#include "common/emulator/runtime_internal.h"

namespace emulated
{

/* Checks one side of a copy of `bytes` bytes. */
static cudaError_t check_side(const char *call, const char *side, const void *pointer, size_t bytes, bool on_device)
{
    size_t room = 0;
    const std::optional<memory> kind = kind_of(pointer, &room);

    if (pointer == nullptr)
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is NULL", call, side);
    if (!kind) {
        if (!on_device)
            return cudaSuccess;
        return set_error(cudaErrorInvalidValue, "%s%s: the %s pointer is not device memory%s", call,
                         line_of_running().c_str(), side, where_freed(pointer).c_str());
    }
    if (on_device && (kind == memory::pinned || kind == memory::registered))
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is host memory (pinned), not device memory", call,
                         side);
    if (!on_device && room > 0 && (kind == memory::device || kind == memory::symbol))
        return set_error(cudaErrorInvalidValue, "%s: the %s pointer is device memory, not host memory", call, side);
    if (bytes > room && (on_device || room > 0) && kind != memory::registered)
        return set_error(cudaErrorInvalidValue, "%s: %zu bytes too many for the %s, which has %zu bytes from there on",
                         call, bytes - room, side, room);
    return cudaSuccess;
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

static void observe_copy_of(cudaMemcpyKind kind, size_t bytes, bool crosses)
{
    static const char *const names[] = {"[CUDA memcpy HtoH]", "[CUDA memcpy HtoD]", "[CUDA memcpy DtoH]",
                                        "[CUDA memcpy DtoD]", "[CUDA memcpy]"};

    observe_copy(names[kind], bytes);
    if (crosses)
        count_copied(bytes);
}

/* Whether a copy goes from the host to the device or back. */
static bool crosses(const void *to, const void *from)
{
    return is_device_memory(to) != is_device_memory(from);
}

cudaError_t copy_symbol(const void *symbol, size_t symbol_bytes, size_t offset, void *to, const void *from,
                        size_t bytes, cudaMemcpyKind kind)
{
    const bool writes = to == nullptr;
    const char *const call = writes ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol";
    char *const place = static_cast<char *>(symbol_address(symbol, symbol_bytes)) + offset;
    cudaError_t error;

    wait_for_blocking_streams();
    operation_runs now(call, nullptr, program_place(__builtin_return_address(0)), true);
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
        now.reads(writes ? from : place, bytes, bytes, 1);
        now.writes(writes ? place : to, bytes, bytes, 1);
        now.host_waits();
        observe_copy_of(kind, bytes, kind != cudaMemcpyDeviceToDevice);
    }
    return error;
}

cudaError_t copy_to_symbol_in_turn(const void *symbol, size_t symbol_bytes, size_t offset, const void *from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in_turn("cudaMemcpyToSymbolAsync", symbol_address(symbol, symbol_bytes), from, stream,
                        program_place(__builtin_return_address(0)),
                        [=] { return copy_symbol(symbol, symbol_bytes, offset, nullptr, from, bytes, kind); });
}

/* Bytes from the first byte of a pitched area to its last. */
static size_t area_bytes(size_t pitch, size_t width, size_t height)
{
    return (height - 1) * pitch + width;
}

} /* namespace emulated */

using namespace emulated;

extern "C" {

/* Between two places of the device's own the host does not wait for a copy. */
static bool host_waits_for(const void *to, const void *from)
{
    return kind_of(to) != memory::device || kind_of(from) != memory::device;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, uint32_t place)
{
    wait_for_blocking_streams();
    const bool waits = host_waits_for(to, from);
    operation_runs now("cudaMemcpy", nullptr, place, waits);
    const cudaError_t error = bytes == 0 ? lasting_error() : check_copy("cudaMemcpy", to, bytes, from, bytes, kind);

    if (error == cudaSuccess && bytes > 0) {
        memmove(to, from, bytes);
        now.reads(from, bytes, bytes, 1);
        now.writes(to, bytes, bytes, 1);
        observe_copy_of(kind, bytes, crosses(to, from));
    }
    if (waits)
        now.host_waits();
    return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    const cudaError_t error = check_no_record("cudaMemcpy");

    return error == cudaSuccess ? copy(to, from, bytes, kind, program_place(__builtin_return_address(0))) : error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in_turn("cudaMemcpyAsync", to, from, stream, program_place(__builtin_return_address(0)),
                        [=] { return copy(to, from, bytes, kind, 0); });
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           cudaMemcpyKind kind, uint32_t place)
{
    wait_for_blocking_streams();
    const bool waits = host_waits_for(to, from);
    operation_runs now("cudaMemcpy2D", nullptr, place, waits);
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
    if (error != cudaSuccess)
        return error;
    now.reads(from, from_pitch, width, height);
    now.writes(to, to_pitch, width, height);
    observe_copy_of(kind, width * height, crosses(to, from));
    if (waits)
        now.host_waits();
    return error;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    const cudaError_t error = check_no_record("cudaMemcpy2D");

    return error == cudaSuccess ? copy_2d(to, to_pitch, from, from_pitch, width, height, kind,
                                          program_place(__builtin_return_address(0)))
                                : error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_in_turn("cudaMemcpy2DAsync", to, from, stream, program_place(__builtin_return_address(0)),
                        [=] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, 0); });
}

static cudaError_t set_2d(void *to, size_t pitch, int value, size_t width, size_t height)
{
    wait_for_blocking_streams();
    operation_runs now("cudaMemset", nullptr, 0, false);
    cudaError_t error = lasting_error();

    if (error == cudaSuccess && pitch < width)
        error =
            set_error(cudaErrorInvalidPitchValue, "cudaMemset2D: pitch %zu is less than the width %zu", pitch, width);
    if (width == 0 || height == 0 || error != cudaSuccess)
        return error;
    error = check_side("cudaMemset", "destination", to, area_bytes(pitch, width, height), true);
    for (size_t y = 0; y < height && error == cudaSuccess; y++)
        memset((char *)to + y * pitch, value, width);
    if (error != cudaSuccess)
        return error;
    now.writes(to, pitch, width, height);
    observe_copy("[CUDA memset]", width * height);
    return error;
}

static cudaError_t set_in_turn(const char *call, void *to, size_t pitch, int value, size_t width, size_t height,
                               cudaStream_t stream, uint32_t place)
{
    return in_turn(call, stream, place, [=] { return set_2d(to, pitch, value, width, height); });
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    const cudaError_t error = check_no_record("cudaMemset2D");

    return error == cudaSuccess ? set_in_turn("cudaMemset2D", to, pitch, value, width, height, nullptr,
                                              program_place(__builtin_return_address(0)))
                                : error;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return set_in_turn("cudaMemset2DAsync", to, pitch, value, width, height, stream,
                       program_place(__builtin_return_address(0)));
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    const cudaError_t error = check_no_record("cudaMemset");

    return error == cudaSuccess ? set_in_turn("cudaMemset", to, bytes, value, bytes, 1, nullptr,
                                              program_place(__builtin_return_address(0)))
                                : error;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return set_in_turn("cudaMemsetAsync", to, bytes, value, bytes, 1, stream,
                       program_place(__builtin_return_address(0)));
}

} /* extern "C" */
