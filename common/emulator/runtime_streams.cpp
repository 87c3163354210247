/*
 * runtime_streams.cpp: streams and events of the emulator's CUDA runtime.
 */
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#include "common/emulator/runtime_streams.h"

namespace emulated
{

handle_table<CUstream_st> &the_streams()
{
    static handle_table<CUstream_st> *const it = new handle_table<CUstream_st>;

    return *it;
}

handle_table<CUevent_st> &the_events()
{
    static handle_table<CUevent_st> *const it = new handle_table<CUevent_st>;

    return *it;
}

bool is_stream(cudaStream_t stream)
{
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           the_streams().has(stream);
}

bool is_stream_of_device(cudaStream_t stream)
{
    return !the_streams().has(stream) || stream->device == current_device;
}

cudaError_t check_no_record(const char *call)
{
    bool beside = false;

    {
        handle_table<CUstream_st> &table = the_streams();
        const std::lock_guard<std::mutex> lock(table.mutex);

        for (CUstream_st *stream : table.handles) {
            CUgraph_st *const graph = stream->captured;

            if (stream->device == current_device && stream->blocking && graph) {
                graph->broken = true;
                beside = true;
            }
        }
    }
    return beside ? set_error(cudaErrorStreamCaptureImplicit,
                              "%s: a stream that the default stream waits for is being captured", call)
                  : cudaSuccess;
}

static bool is_default(cudaStream_t stream)
{
    return stream == nullptr || stream == cudaStreamLegacy;
}

cudaError_t check_stream(const char *call, cudaStream_t stream)
{
    const cudaError_t error = lasting_error();

    if (error == cudaSuccess && !is_stream(stream))
        return set_error(cudaErrorInvalidResourceHandle, "%s: this stream does not exist", call);
    return error == cudaSuccess && is_default(stream) ? check_no_record(call) : error;
}

static cudaError_t check_event(const char *call, cudaEvent_t event)
{
    const cudaError_t error = lasting_error();

    if (error == cudaSuccess && !the_events().has(event))
        return set_error(cudaErrorInvalidResourceHandle, "%s: this event does not exist", call);
    return error;
}

bool is_capturing(cudaStream_t stream)
{
    return the_streams().has(stream) && stream->captured != nullptr;
}

static thread_local bool refused; /* the launch that keep() is called for next */

bool is_for_later(const launch_site &site)
{
    refused = is_default(site.stream) && check_no_record((std::string("kernel ") + site.name).c_str()) != cudaSuccess;
    if (refused || is_capturing(site.stream) || (is_late(site.stream) && launch_is_legal(site)))
        return true;
    if (!the_streams().has(site.stream))
        wait_for_blocking_streams();
    return false;
}

static void keep(cudaStream_t stream, const char *call, uint32_t place, std::function<void()> work)
{
    if (is_capturing(stream)) {
        CUgraph_st *const graph = stream->captured;

        graph->works.push_back(std::move(work));
        graph->streams[stream][stream]++;
    } else
        put_off(stream, [work = std::move(work), its = put_on_stream(call, stream, place)] {
            const operation_runs now(its);

            work();
            return true;
        });
}

void keep(cudaStream_t stream, void (*work)(const void *context), void *context, void (*release)(void *context))
{
    const std::shared_ptr<void> held(context, release);

    if (!refused)
        keep(stream, "kernel", 0, [work, held] { work(held.get()); });
}

cudaError_t check_not_capturing(const char *call, cudaStream_t stream)
{
    const cudaError_t error = check_stream(call, stream);

    if (error == cudaSuccess && is_capturing(stream))
        return set_error(cudaErrorStreamCaptureUnsupported, "%s: this stream is being captured", call);
    return error;
}

cudaError_t in_turn(const char *call, cudaStream_t stream, uint32_t place, const std::function<cudaError_t()> &work)
{
    const cudaError_t error = check_stream(call, stream);

    if (error != cudaSuccess)
        return error;
    if (is_capturing(stream) || is_late(stream)) {
        keep(stream, call, place, [work] { work(); });
        return cudaSuccess;
    }
    const operation_runs now(call, stream, place, false);

    return work();
}

static std::atomic<uint64_t> stream_copies, stream_downloads;

uint64_t stream_copy_count()
{
    return stream_copies;
}

uint64_t stream_download_count()
{
    return stream_downloads;
}

cudaError_t copy_in_turn(const char *call, const void *to, const void *from, cudaStream_t stream, uint32_t place,
                         const std::function<cudaError_t()> &work)
{
    if ((the_streams().has(stream) || is_late(stream)) && !is_capturing(stream) && (!is_known(to) || !is_known(from))) {
        const cudaError_t error = check_stream(call, stream);

        if (error != cudaSuccess)
            return error;
        wait_for_stream(stream);
        order_host_waits_for_stream(stream);
        operation_runs now(call, stream, place, false);
        const cudaError_t result = work();

        if (!is_known(to))
            now.host_waits();
        return result;
    }
    if (the_streams().has(stream) && !is_capturing(stream)) {
        stream_copies.fetch_add(1, std::memory_order_relaxed);
        if (is_page_locked(to))
            stream_downloads.fetch_add(1, std::memory_order_relaxed);
    }
    return in_turn(call, stream, place, work);
}

cudaError_t after_waiting()
{
    const cudaError_t error = lasting_error();

    return error != cudaSuccess || !streams_are_late() ? error : last_error;
}

} /* namespace emulated */

using namespace emulated;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = the_streams().create();
    (*stream)->blocking = (flags & cudaStreamNonBlocking) == 0;
    late_stream_begin(*stream, (*stream)->blocking);
    order_stream_begins(*stream, (*stream)->blocking);
    return lasting_error();
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    late_stream_end(stream);
    order_stream_ends(stream);
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
    order_host_waits_for_stream(stream);
    return after_waiting();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const cudaError_t error = check_not_capturing("cudaStreamQuery", stream);

    if (error != cudaSuccess)
        return error;
    if (is_late(stream) && do_something())
        return cudaErrorNotReady;
    order_host_waits_for_stream(stream);
    return after_waiting();
}

static bool has_happened(cudaEvent_t event, uint64_t record)
{
    return !the_events().has(event) || event->done >= record;
}

/* A stream that waits for an event of a capture is captured from then on, into the same graph. */
static cudaError_t join_capture(cudaStream_t stream, const CUevent_st &event)
{
    if (!the_streams().has(stream))
        return set_error(cudaErrorStreamCaptureImplicit,
                         "cudaStreamWaitEvent: the default stream can't be captured, and the event was in a capture");
    if (is_capturing(stream) && stream->captured != event.captured)
        return set_error(cudaErrorStreamCaptureMerge,
                         "cudaStreamWaitEvent: this stream and the event are in two captures");
    stream->captured = event.captured;
    captured_works &known = event.captured->streams[stream];
    for (const auto &[other, works] : event.before)
        known[other] = std::max(known[other], works);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    cudaError_t error = check_stream("cudaStreamWaitEvent", stream);

    if (error == cudaSuccess)
        error = check_event("cudaStreamWaitEvent", event);
    if (error != cudaSuccess)
        return error;
    if (event->captured != nullptr)
        return join_capture(stream, *event);
    if (is_capturing(stream))
        return set_error(cudaErrorStreamCaptureIsolation,
                         "cudaStreamWaitEvent: this stream is being captured, and the event was not in the capture");
    order_stream_waits(stream, event);
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
    order_event_ends(event);
    if (!the_events().destroy(event))
        return set_error(cudaErrorInvalidResourceHandle, "cudaEventDestroy: this event does not exist");
    return lasting_error();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = check_event("cudaEventRecord", event);

    if (error == cudaSuccess)
        error = check_stream("cudaEventRecord", stream);
    if (error == cudaSuccess && (event->device != current_device || !is_stream_of_device(stream)))
        error =
            set_error(cudaErrorInvalidResourceHandle, "cudaEventRecord on device %d: the event is device %d's%s",
                      current_device, event->device, is_stream_of_device(stream) ? "" : ", the stream another one's");
    if (error != cudaSuccess)
        return error;
    event->captured = is_capturing(stream) ? stream->captured.load() : nullptr;
    if (event->captured != nullptr) {
        event->before = event->captured->streams[stream];
        return cudaSuccess;
    }
    order_event_recorded(event, stream);
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

/* For calls that ask whether an event has happened. */
static cudaError_t check_not_captured(const char *call, cudaEvent_t event)
{
    const cudaError_t error = check_event(call, event);

    if (error == cudaSuccess && event->captured != nullptr)
        return set_error(cudaErrorCapturedEvent, "%s: this event was last recorded in a capture", call);
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const cudaError_t error = check_not_captured("cudaEventSynchronize", event);

    if (error != cudaSuccess)
        return error;
    wait_until([event, record = event->asked] { return has_happened(event, record); });
    order_host_waits_for_event(event);
    return after_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const cudaError_t error = check_not_captured("cudaEventQuery", event);

    if (error != cudaSuccess)
        return error;
    if (has_happened(event, event->asked)) {
        order_host_waits_for_event(event);
        return after_waiting();
    }
    do_something();
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t error = check_not_captured("cudaEventElapsedTime", start);

    if (error == cudaSuccess)
        error = check_not_captured("cudaEventElapsedTime", end);
    if (error != cudaSuccess)
        return error;
    if (!has_happened(start, start->asked) || !has_happened(end, end->asked))
        return cudaErrorNotReady;
    order_host_waits_for_event(start);
    order_host_waits_for_event(end);
    if (!start->recorded || !end->recorded || !start->timed || !end->timed)
        return set_error(cudaErrorInvalidResourceHandle,
                         "cudaEventElapsedTime: an event was never recorded or keeps no time");
    *milliseconds = (float)(end->nanoseconds - start->nanoseconds) * 1e-6f;
    return cudaSuccess;
}

} /* extern "C" */

namespace emulated
{

/* Declared in include/program/calls.h. */
cudaError_t host_function_in_turn(cudaStream_t stream, void (*function)(void *), void *data);
cudaError_t callback_in_turn(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *), void *data);

cudaError_t host_function_in_turn(cudaStream_t stream, void (*function)(void *), void *data)
{
    return in_turn("cudaLaunchHostFunc", stream, program_place(__builtin_return_address(0)), [function, data] {
        function(data);
        host_function_has_run();
        return cudaSuccess;
    });
}

cudaError_t callback_in_turn(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *), void *data)
{
    return in_turn("cudaStreamAddCallback", stream, program_place(__builtin_return_address(0)),
                   [stream, function, data] {
                       function(stream, lasting_error(), data);
                       host_function_has_run();
                       return cudaSuccess;
                   });
}

} /* namespace emulated */
