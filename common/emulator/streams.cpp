/*
 * streams.cpp: work on streams that is put off (RUNGS_EMULATOR_LATE, emulator.h): what each stream, the default one as
 * well, has still to do, and the order in which that happens when somebody waits.
 */
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "common/emulator/emulator_internal.h"

namespace emulated
{

struct late_stream {
    cudaStream_t stream;
    bool blocking; /* waits for the default stream, as that does for it */
    int device;
    std::deque<std::function<bool()>> works;
    uint64_t copied;      /* bytes between host and device */
    uint64_t asked, done; /* works so far */
};

static std::recursive_mutex order;
static std::vector<late_stream> late_streams; /* in the order of their creation; a device's default one is NULL */
static uint64_t most_busy;                    /* streams with work to do, at once */
static thread_local bool its_turn;            /* this thread runs a work that had been put off */
static thread_local uint64_t copied_in_turn;  /* by the work that it runs now */
static std::atomic<uint64_t> copied_at_once;
static uint64_t most_copied; /* by one stream */

/* Constant from the start, so that it can be set before any constructor runs. */
enum { FROM_ENVIRONMENT = -1 };
static std::atomic<int> late_setting = FROM_ENVIRONMENT;

void set_late(bool late)
{
    late_setting = late;
}

bool streams_are_late()
{
    static const bool asked = [] {
        const char *const text = getenv("RUNGS_EMULATOR_LATE");

        return text != nullptr && strcmp(text, "1") == 0;
    }();
    const int setting = late_setting;

    return setting == FROM_ENVIRONMENT ? asked : setting != 0;
}

static late_stream *find(cudaStream_t stream, int device = current_device)
{
    if (stream == cudaStreamLegacy)
        stream = nullptr;
    for (late_stream &one : late_streams)
        if (one.stream == stream && (stream != nullptr || one.device == device))
            return &one;
    return nullptr;
}

/* The default stream of the current device from its first work on. */
static late_stream *find_or_begin(cudaStream_t stream)
{
    const bool is_default = stream == nullptr || stream == cudaStreamLegacy;

    if (is_default && streams_are_late() && find(nullptr) == nullptr)
        late_streams.push_back({nullptr, true, current_device, {}, 0, 0, 0});
    return find(stream);
}

void late_stream_begin(cudaStream_t stream, bool blocking)
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    if (streams_are_late())
        late_streams.push_back({stream, blocking, current_device, {}, 0, 0, 0});
}

void late_stream_end(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    wait_for_stream(stream);
    std::erase_if(late_streams, [stream](const late_stream &one) { return one.stream == stream; });
}

bool is_late(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    return !its_turn && find_or_begin(stream) != nullptr;
}

/* What a work on this stream has to wait for beside those before it on the same one: on the default stream for all that
 * blocking streams have been given, on a blocking stream for all that the default one has. */
static void put_off_waits(const late_stream &one)
{
    std::vector<std::function<bool()>> waits;

    for (const late_stream &other : late_streams) {
        const bool ordered =
            other.device == one.device && other.blocking && one.blocking && !other.stream != !one.stream;

        if (ordered && other.done < other.asked)
            waits.push_back([stream = other.stream, device = other.device, asked = other.asked] {
                const late_stream *const it = find(stream, device);

                return it == nullptr || it->done >= asked;
            });
    }
    late_stream *const to = find(one.stream, one.device);

    for (std::function<bool()> &wait : waits) {
        to->works.push_back(std::move(wait));
        to->asked++;
    }
}

void put_off(cudaStream_t stream, std::function<bool()> work)
{
    const std::lock_guard<std::recursive_mutex> lock(order);
    late_stream *const one = find_or_begin(stream);

    if (one == nullptr)
        return;
    put_off_waits(*one);
    one->works.push_back(std::move(work));
    one->asked++;

    uint64_t busy = 0;

    for (const late_stream &any : late_streams)
        busy += any.stream != nullptr && !any.works.empty();
    most_busy = std::max(most_busy, busy);
}

uint64_t streams_at_once()
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    return most_busy;
}

void count_copied(uint64_t bytes)
{
    if (its_turn)
        copied_in_turn += bytes;
    else
        copied_at_once += bytes;
}

uint64_t waited_bytes()
{
    return copied_at_once;
}

uint64_t busiest_bytes()
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    return most_copied;
}

void forget_busiest()
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    most_copied = 0;
    for (late_stream &one : late_streams)
        one.copied = 0;
}

/* Whether the first work of that stream could run, and has. */
static bool try_one(size_t index)
{
    if (late_streams[index].works.empty())
        return false;

    const std::function<bool()> work = late_streams[index].works.front();
    const on_device owner(late_streams[index].device);

    its_turn = true;
    copied_in_turn = 0;
    const bool done = work();
    its_turn = false;
    if (late_streams[index].stream == nullptr)
        copied_at_once += copied_in_turn;
    else
        late_streams[index].copied += copied_in_turn;
    most_copied = std::max(most_copied, late_streams[index].copied);
    if (done) {
        late_streams[index].works.pop_front();
        late_streams[index].done++;
    }
    return done;
}

/* One work of a stream drawn by lot, of another device only where this one's have none: its errors are not for this
 * thread. False when there is none that can run. */
bool do_something()
{
    static uint64_t random = seed_from_environment();
    const std::lock_guard<std::recursive_mutex> lock(order);
    const size_t count = late_streams.size();

    if (its_turn || count == 0)
        return false;
    const size_t begin = next_random(&random) % count;

    for (const bool own : {true, false})
        for (size_t i = 0; i < count; i++) {
            const size_t index = (begin + i) % count;

            if ((late_streams[index].device == current_device) == own && try_one(index))
                return true;
        }
    return false;
}

void wait_until(const std::function<bool()> &done)
{
    const std::lock_guard<std::recursive_mutex> lock(order);

    while (!done() && do_something())
        continue;
}

void wait_for_stream(cudaStream_t stream)
{
    wait_until([stream] {
        const late_stream *const one = find(stream);

        return one == nullptr || one->works.empty();
    });
}

void wait_for_blocking_streams()
{
    wait_until([] {
        for (const late_stream &one : late_streams)
            if (one.device == current_device && one.blocking && !one.works.empty())
                return false;
        return true;
    });
}

void wait_for_all_streams()
{
    wait_until([] {
        for (const late_stream &one : late_streams)
            if (one.device == current_device && !one.works.empty())
                return false;
        return true;
    });
}

} /* namespace emulated */
