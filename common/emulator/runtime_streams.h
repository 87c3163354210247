/*
 * runtime_streams.h: what runtime_streams.cpp and runtime_graphs.cpp know of streams, events and captures.
 */
#ifndef RUNGS_EMULATOR_RUNTIME_STREAMS_H
#define RUNGS_EMULATOR_RUNTIME_STREAMS_H

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
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

handle_table<CUstream_st> &the_streams();
handle_table<CUevent_st> &the_events();

bool is_capturing(cudaStream_t stream);
/* cudaSuccess, or why a call on this stream fails. */
cudaError_t check_stream(const char *call, cudaStream_t stream);
/* For calls that a captured stream cannot take. */
cudaError_t check_not_capturing(const char *call, cudaStream_t stream);

} /* namespace emulated */

#endif
