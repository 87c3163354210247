/*
 * runtime_graphs.cpp: captures and graphs of the emulator's CUDA runtime.
 */
#include <utility>

#include "common/emulator/races.h"
#include "common/emulator/runtime_streams.h"

struct CUgraphExec_st {
    std::vector<std::function<void()>> works;
};

namespace emulated
{

/* Declared in include/program/calls.h. */
cudaError_t make_graph(cudaGraph_t *graph);
cudaError_t count_nodes(cudaGraph_t graph, size_t *count);

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

} /* namespace emulated */

using namespace emulated;

extern "C" {

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
    return in_turn("cudaGraphLaunch", stream, program_place(__builtin_return_address(0)), [works = executable->works] {
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
