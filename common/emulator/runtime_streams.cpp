/*
 * runtime_streams.cpp: streams, events and graphs of the emulator's CUDA runtime.
 */
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/runtime_internal.h"

/* Of each stream that is captured together with others: so many of its works are known to have come before. */
using captured_works = std::map<cudaStream_t, size_t>;

struct CUgraph_st {
    std::vector<std::function<void()>> works; /* in the order of the calls, which is one that all events allow */
    std::atomic<bool> broken{false};          /* by a call that may not be made beside the record */
    cudaStream_t origin = nullptr;            /* where its capture began, and has to end */
    std::map<cudaStream_t, captured_works> streams;
};

struct CUgraphExec_st {
    std::vector<std::function<void()>> works;
};

struct CUstream_st {
    std::atomic<CUgraph_st *> captured{nullptr}; /* the graph in the making, while this stream is captured */
    bool blocking = true;
    int device = emulated::current_device;
};

struct CUevent_st {
    int device = emulated::current_device;
    bool recorded = false, timed = false;
    long long nanoseconds = 0;
    uint64_t asked = 0, done = 0;   /* records asked for, and the last one whose turn has come */
    CUgraph_st *captured = nullptr; /* the graph in the making that its last record belongs to */
    captured_works before;          /* that record */
};

namespace emulated
{

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

static cudaError_t check_stream(const char *call, cudaStream_t stream)
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

static void keep(cudaStream_t stream, std::function<void()> work)
{
    if (is_capturing(stream)) {
        CUgraph_st *const graph = stream->captured;

        graph->works.push_back(std::move(work));
        graph->streams[stream][stream]++;
    } else
        put_off(stream, [work = std::move(work)] {
            work();
            return true;
        });
}

void keep(cudaStream_t stream, void (*work)(const void *context), void *context, void (*release)(void *context))
{
    const std::shared_ptr<void> held(context, release);

    if (!refused)
        keep(stream, [work, held] { work(held.get()); });
}

/* For calls that a captured stream cannot take. */
static cudaError_t check_not_capturing(const char *call, cudaStream_t stream)
{
    const cudaError_t error = check_stream(call, stream);

    if (error == cudaSuccess && is_capturing(stream))
        return set_error(cudaErrorStreamCaptureUnsupported, "%s: this stream is being captured", call);
    return error;
}

cudaError_t in_turn(const char *call, cudaStream_t stream, const std::function<cudaError_t()> &work)
{
    const cudaError_t error = check_stream(call, stream);

    if (error != cudaSuccess)
        return error;
    if (!is_capturing(stream) && !is_late(stream))
        return work();
    keep(stream, [work] { work(); });
    return cudaSuccess;
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

cudaError_t copy_in_turn(const char *call, const void *to, const void *from, cudaStream_t stream,
                         const std::function<cudaError_t()> &work)
{
    if ((the_streams().has(stream) || is_late(stream)) && !is_capturing(stream) && (!is_known(to) || !is_known(from))) {
        const cudaError_t error = check_stream(call, stream);

        if (error != cudaSuccess)
            return error;
        wait_for_stream(stream);
        return work();
    }
    if (the_streams().has(stream) && !is_capturing(stream)) {
        stream_copies.fetch_add(1, std::memory_order_relaxed);
        if (is_page_locked(to))
            stream_downloads.fetch_add(1, std::memory_order_relaxed);
    }
    return in_turn(call, stream, work);
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
    return after_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const cudaError_t error = check_not_captured("cudaEventQuery", event);

    if (error != cudaSuccess)
        return error;
    if (has_happened(event, event->asked))
        return after_waiting();
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
    if (error == cudaSuccess) {
        stream->captured = the_graphs().create();
        stream->captured.load()->origin = stream;
    }
    return error;
}

/* Lets go of all that was captured into the graph. False when another stream's works are left that its origin has not
 * waited for. */
static bool end_capture(CUgraph_st &graph)
{
    captured_works &known = graph.streams[graph.origin];
    bool joined = true;

    for (const auto &[stream, works] : graph.streams) {
        const auto own = works.find(stream);

        joined = joined && (own == works.end() || known[stream] >= own->second);
        if (the_streams().has(stream))
            stream->captured = nullptr;
    }
    graph.streams.clear();
    for (CUevent_st *event : the_events().handles)
        if (event->captured == &graph)
            event->captured = nullptr;
    return joined;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const cudaError_t error = check_stream("cudaStreamEndCapture", stream);

    *graph = nullptr;
    if (error == cudaSuccess && !is_capturing(stream))
        return set_error(cudaErrorInvalidValue, "cudaStreamEndCapture: this stream is not being captured");
    if (error == cudaSuccess && stream->captured.load()->origin != stream)
        return set_error(cudaErrorStreamCaptureUnmatched, "cudaStreamEndCapture: the capture began on another stream");
    if (error != cudaSuccess)
        return error;
    *graph = stream->captured;
    const bool joined = end_capture(**graph);
    if (joined && !(*graph)->broken)
        return cudaSuccess;
    const bool broken = (*graph)->broken;
    the_graphs().destroy(*graph);
    *graph = nullptr;
    if (broken)
        return set_error(cudaErrorStreamCaptureInvalidated,
                         "cudaStreamEndCapture: a call on the default stream has broken this record");
    return set_error(cudaErrorStreamCaptureUnjoined,
                     "cudaStreamEndCapture: this stream waits for no event behind the last work of another stream "
                     "that is captured with it");
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

namespace emulated
{

/* Declared in include/program/calls.h. */
cudaError_t make_graph(cudaGraph_t *graph);
cudaError_t count_nodes(cudaGraph_t graph, size_t *count);
cudaError_t host_function_in_turn(cudaStream_t stream, void (*function)(void *), void *data);
cudaError_t callback_in_turn(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *), void *data);

cudaError_t make_graph(cudaGraph_t *graph)
{
    *graph = the_graphs().create();
    return lasting_error();
}

cudaError_t count_nodes(cudaGraph_t graph, size_t *count)
{
    if (!the_graphs().has(graph))
        return set_error(cudaErrorInvalidValue, "cudaGraphGetNodes: this graph does not exist");
    *count = graph->works.size();
    return lasting_error();
}

cudaError_t host_function_in_turn(cudaStream_t stream, void (*function)(void *), void *data)
{
    return in_turn("cudaLaunchHostFunc", stream, [function, data] {
        function(data);
        return cudaSuccess;
    });
}

cudaError_t callback_in_turn(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *), void *data)
{
    return in_turn("cudaStreamAddCallback", stream, [stream, function, data] {
        function(stream, lasting_error(), data);
        return cudaSuccess;
    });
}

} /* namespace emulated */
