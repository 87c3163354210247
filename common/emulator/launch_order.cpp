#include "common/emulator/launch_order.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "common/emulator/races.h"
#include "common/emulator/races_internal.h"

namespace emulated
{

bool host_may_race;

struct stream_order {
    cudaStream_t stream; /* NULL: the default one of its device */
    int device;
    bool blocking;
    uint32_t asked;                                  /* operations so far */
    stream_clock after;                              /* what comes before the next one */
    std::vector<std::pair<uint32_t, uint32_t>> done; /* of those that have run: number, first name */
};

enum : size_t { MOST_EXECUTIONS = 1 << 16 /* more are forgotten together */ };

/* All that is known since the host has last waited for everything. */
struct order_table {
    std::recursive_mutex mutex;
    std::vector<stream_order> streams = {{}}; /* the first is the host */
    std::map<cudaEvent_t, stream_clock> events;
    std::deque<execution> executions; /* by name */
    unsigned pending = 0;             /* operations that have not run */
    bool host_changed = true;
    uint32_t host_unordered = ALL_ORDERED, host_name = 0;
};

static order_table &the_order()
{
    static order_table *const it = new order_table;

    return *it;
}

static operation_pointer running; /* of the thread that calls CUDA */
static std::atomic<bool> given_up;
static thread_local bool is_the_one; /* that calls CUDA */

/* Whether it is the only one. */
static bool is_kept()
{
    static std::atomic<bool> begun;

    if (!of_program() || !can_watch || given_up)
        return false;
    if (!is_the_one && begun.exchange(true)) {
        given_up = true;
        host_may_race = false;
        return false;
    }
    is_the_one = true;
    return true;
}

static uint32_t at(const stream_clock &clock, unsigned stream)
{
    return stream < clock.size() ? clock[stream] : 0;
}

static void join(stream_clock &clock, const stream_clock &other)
{
    clock.resize(std::max(clock.size(), other.size()));
    for (size_t i = 0; i < other.size(); i++)
        clock[i] = std::max(clock[i], other[i]);
}

static unsigned number_of(order_table &table, cudaStream_t stream)
{
    if (stream == cudaStreamLegacy)
        stream = nullptr;
    for (unsigned i = 1; i < table.streams.size(); i++)
        if (table.streams[i].stream == stream && (stream != nullptr || table.streams[i].device == current_device))
            return i;
    table.streams.push_back({stream, current_device, true, 0, {}, {}});
    return (unsigned)table.streams.size() - 1;
}

/* Nothing of what has run can meet anything that comes. */
static void forget_all(order_table &table)
{
    table.executions.clear();
    table.events.clear();
    table.host_name = 0;
    for (stream_order &its : table.streams) {
        its.asked = 0;
        its.after.clear();
        its.done.clear();
    }
    table.host_changed = true;
    host_may_race = false;
}

static void host_learns(order_table &table, const stream_clock &clock)
{
    stream_clock &host = table.streams[0].after;

    join(host, clock);
    table.host_changed = true;
    for (unsigned i = 1; i < table.streams.size(); i++)
        if (at(host, i) < table.streams[i].asked)
            return;
    if (table.pending == 0)
        forget_all(table);
}

/* The host's next stretch begins. */
static void host_goes_on(order_table &table)
{
    stream_clock &host = table.streams[0].after;

    host.resize(std::max(host.size(), (size_t)1));
    host[0]++;
    table.host_name = 0;
    table.host_changed = true;
}

static stream_order &put_next(order_table &table, cudaStream_t stream, unsigned *number)
{
    *number = number_of(table, stream);

    stream_order &its = table.streams[*number];

    join(its.after, table.streams[0].after);
    for (const stream_order &other : table.streams)
        if (&other != &table.streams[0] && other.device == its.device && other.blocking && its.blocking &&
            !other.stream != !its.stream)
            join(its.after, other.after);
    its.after.resize(std::max(its.after.size(), (size_t)*number + 1));
    its.after[*number] = ++its.asked;
    host_goes_on(table);
    host_may_race = true;
    return its;
}

operation_pointer put_on_stream(const char *call, cudaStream_t stream, uint32_t place)
{
    if (!is_kept())
        return nullptr;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    unsigned number;
    const stream_order &its = put_next(table, stream, &number);

    table.pending++;
    return std::make_shared<operation>(operation{number, its.asked, its.after, call, place});
}

void order_stream_begins(cudaStream_t stream, bool blocking)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    order_stream_ends(stream); /* another one, of this address */
    table.streams[number_of(table, stream)].blocking = blocking;
}

/* What it was given is still to be waited for: the number stays, under an address that no stream has. */
void order_stream_ends(cudaStream_t stream)
{
    static char ended;

    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    for (stream_order &its : table.streams)
        if (its.stream == stream && stream != nullptr)
            its.stream = (cudaStream_t)&ended;
}

void order_event_recorded(cudaEvent_t event, cudaStream_t stream)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    unsigned number;

    table.events[event] = put_next(table, stream, &number).after;
}

void order_event_ends(cudaEvent_t event)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    table.events.erase(event);
}

void order_stream_waits(cudaStream_t stream, cudaEvent_t event)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    unsigned number;
    stream_order &its = put_next(table, stream, &number);

    if (const auto found = table.events.find(event); found != table.events.end())
        join(its.after, found->second);
}

void order_host_waits_for_stream(cudaStream_t stream)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    const unsigned number = number_of(table, stream);
    stream_clock clock = table.streams[number].after;

    if (table.streams[number].stream == nullptr) /* and what it waits for itself */
        for (const stream_order &its : table.streams)
            if (its.device == current_device && its.blocking)
                join(clock, its.after);
    host_learns(table, clock);
}

void order_host_waits_for_event(cudaEvent_t event)
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    if (const auto found = table.events.find(event); found != table.events.end())
        host_learns(table, stream_clock(found->second));
}

void order_host_waits_for_device()
{
    if (!is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    stream_clock clock;

    for (const stream_order &its : table.streams)
        if (its.device == current_device)
            join(clock, its.after);
    host_learns(table, clock);
}

/* Of the first that is not ordered before one that has this clock and runs on that stream. */
static uint32_t first_unordered(const order_table &table, const stream_clock &before, unsigned own)
{
    uint32_t first = ALL_ORDERED;

    for (unsigned i = 0; i < table.streams.size(); i++) {
        const auto &done = table.streams[i].done;
        const auto next = std::upper_bound(done.begin(), done.end(), std::pair(at(before, i), UINT32_MAX));

        if (i != own && next != done.end())
            first = std::min(first, next->second);
    }
    return first;
}

/* ----------------------------------------------------------------------------------------------- what runs */

void operation_runs::begin(operation_pointer operation)
{
    own = operation != nullptr;
    if (!own)
        return;
    before = running;
    running = std::move(operation);
    the_order().host_name = 0;
    the_order().host_changed = true;
}

operation_runs::operation_runs(operation_pointer operation)
{
    begin(std::move(operation));
}

operation_runs::operation_runs(const char *call, cudaStream_t stream, uint32_t place, bool waits)
{
    if (!is_kept() || running != nullptr)
        return;
    begin(put_on_stream(call, stream, place));

    const order_table &table = the_order();

    alone = waits && table.pending == 1 && first_unordered(table, running->before, running->stream) == ALL_ORDERED;
}

operation_runs::~operation_runs()
{
    if (!own)
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    table.pending -= running != nullptr;
    table.host_name = 0;
    table.host_changed = true;
    running = before;
}

void operation_runs::host_waits()
{
    if (!own || running == nullptr || !is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    const stream_clock clock = running->before;

    table.pending--; /* it is over now: nothing may be pending that could be forgotten */
    running = nullptr;
    host_learns(table, clock);
}

void host_function_has_run()
{
    if (running == nullptr || !is_kept())
        return;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    host_learns(table, running->before); /* it is still pending: nothing is forgotten */
}

std::string line_of_running()
{
    return running != nullptr && is_kept() ? line_of(running->place) : "";
}

bool operation_runs::needs_name()
{
    if (running == nullptr || alone || !is_kept())
        return false;
    if (name == 0)
        name = races_begin_names(running->call);
    return true;
}

void operation_runs::reads(const void *memory, size_t pitch, size_t width, size_t height)
{
    if (needs_name())
        for (size_t y = 0; y < height; y++)
            races_range(access::read, (const char *)memory + y * pitch, width, name, running->call, running->place);
}

void operation_runs::writes(const void *memory, size_t pitch, size_t width, size_t height)
{
    if (!needs_name())
        races_written(memory, (height - 1) * pitch + width);
    else
        for (size_t y = 0; y < height; y++)
            races_range(access::write, (const char *)memory + y * pitch, width, name, running->call, running->place);
}

/* ------------------------------------------------------------------------------------------- names in cells */

uint32_t order_begins_names(uint32_t first_of_them, const std::string &what)
{
    if (!is_kept())
        return ALL_ORDERED;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    operation_pointer operation = running;

    if (operation == nullptr) {
        const stream_clock &host = table.streams[0].after;

        operation = std::make_shared<emulated::operation>(emulated::operation{0, at(host, 0), host, "the host", 0});
    }
    if (table.executions.size() >= MOST_EXECUTIONS) {
        table.executions.clear();
        for (stream_order &its : table.streams)
            its.done.clear();
    }
    const uint32_t first = first_unordered(table, operation->before, operation->stream);

    table.executions.push_back({first_of_them, operation, what});
    table.streams[operation->stream].done.push_back({operation->number, first_of_them});
    table.host_changed = true;
    return first;
}

const execution *unordered_before(uint32_t name)
{
    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);
    const auto next = std::upper_bound(table.executions.begin(), table.executions.end(), name,
                                       [](uint32_t one, const execution &its) { return one < its.first_name; });

    if (next == table.executions.begin())
        return nullptr;

    const execution &its = *std::prev(next);
    const unsigned own = running != nullptr ? running->stream : 0;
    const stream_clock &before = running != nullptr ? running->before : table.streams[0].after;

    return its.operation->stream == own || at(before, its.operation->stream) >= its.operation->number ? nullptr : &its;
}

bool host_order(uint32_t *from, uint32_t *name)
{
    if (!is_the_one || given_up)
        return false;

    order_table &table = the_order();
    const std::lock_guard<std::recursive_mutex> lock(table.mutex);

    if (table.pending > 0 && table.host_name == 0)
        table.host_name = races_begin_names(running != nullptr ? running->call : "the host");
    if (table.host_changed)
        table.host_unordered = running != nullptr ? first_unordered(table, running->before, running->stream)
                                                  : first_unordered(table, table.streams[0].after, 0);
    table.host_changed = false;
    *from = table.host_unordered;
    *name = table.pending > 0 ? table.host_name : 0;
    return true;
}

} /* namespace emulated */
