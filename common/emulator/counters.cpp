#include "common/emulator/counters.h"

#include <algorithm>
#include <elf.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/emulator/emulator.h"
#include "common/emulator/emulator_state.h"
#include "common/emulator/races.h"

extern "C" char __executable_start, __data_start, _end;

namespace emulated
{

/* -------------------------------------------------------------------------------------------- what addresses are */

struct range {
    uintptr_t first, end;
};

static std::map<uintptr_t, uintptr_t> *allocations; /* from the first byte to the end */
static std::vector<range> *constants;
static std::mutex costs_mutex; /* of these, and of the results */
static std::vector<kernel_costs> *all_costs;
static kernel_costs *kernel_now; /* of the kernel that runs */

/* __constant__ variables lie in sections of their own (emulated_device.h). */
static void find_constants()
{
    FILE *const program = fopen("/proc/self/exe", "rb");
    Elf64_Ehdr header;

    constants = new std::vector<range>;
    if (program == nullptr)
        return;
    if (fread(&header, sizeof(header), 1, program) == 1 && header.e_shentsize == sizeof(Elf64_Shdr)) {
        std::vector<Elf64_Shdr> sections(header.e_shnum);
        std::vector<char> names;

        if (fseek(program, (long)header.e_shoff, SEEK_SET) == 0 &&
            fread(sections.data(), sizeof(Elf64_Shdr), sections.size(), program) == sections.size() &&
            header.e_shstrndx < sections.size()) {
            names.resize(sections[header.e_shstrndx].sh_size + 1);
            if (fseek(program, (long)sections[header.e_shstrndx].sh_offset, SEEK_SET) != 0 ||
                fread(names.data(), 1, names.size() - 1, program) != names.size() - 1)
                sections.clear();
        }
        for (const Elf64_Shdr &s : sections)
            if (s.sh_name < names.size() && strncmp(&names[s.sh_name], "rungs_constant", 14) == 0) {
                const uintptr_t first = s.sh_addr + (header.e_type == ET_DYN ? (uintptr_t)&__executable_start : 0);

                constants->push_back({first, first + s.sh_size});
            }
    }
    fclose(program);
}

void counters_register(const void *memory, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(costs_mutex);

    if (!counting)
        return;
    if (allocations == nullptr)
        allocations = new std::map<uintptr_t, uintptr_t>;
    (*allocations)[(uintptr_t)memory] = (uintptr_t)memory + bytes;
}

void counters_forget(const void *memory)
{
    const std::lock_guard<std::mutex> lock(costs_mutex);

    if (allocations != nullptr)
        allocations->erase((uintptr_t)memory);
}

/* ------------------------------------------------------------------------------------------- what lanes have done */

struct event {
    uintptr_t address; /* 0: a basic block begins */
    uint32_t place;    /* in the program */
    int32_t depth;     /* of the stack, in bytes */
    uint32_t bytes;
    enum cost cost;
};

/* Lanes that have been in a basic block together, as long as some of them have not come to the next. */
struct parting {
    uint32_t place, goes /* the last that did; 0: none yet */;
    unsigned lanes;
    bool parted;
};

struct lane_trace {
    std::vector<event> events;
    size_t done; /* of them */
    const char *frame;
    parting *from; /* the block that it is in */
};

/* Of one host thread. */
struct recorder {
    std::vector<lane_trace> lanes;
    std::vector<parting> partings; /* 32 of each warp */
    range last;                    /* device memory */
};
static __thread recorder *recording;

/* A lane that is so far ahead lets others run, so that a block needs no more than 50 MB. */
enum { MOST_EVENTS = 2048 };

static bool is_pending(const lane_trace &l)
{
    return l.done < l.events.size();
}

/* Where a lane is that goes before another. In a function that is called first: the caller waits for it. */
static bool is_before(const event &a, const event &b)
{
    return a.depth != b.depth ? a.depth > b.depth : a.place < b.place;
}

/* ------------------------------------------------------------------------------------------------- what it costs */

void tally::operator+=(const tally &other)
{
    requests += other.requests;
    lanes += other.lanes;
    bytes += other.bytes;
    units += other.units;
    least += other.least;
    meet += other.meet;
}

enum { LANES = 32, SECTOR = 32, BANK = 4, BANKS = 32, MOST_WORDS = 5 /* of 4 bytes that 16 touch */ };

/* Different numbers address / size that accesses touch. */
static unsigned touched(const event *const *together, unsigned count, uintptr_t size)
{
    uintptr_t seen[LANES * MOST_WORDS];
    unsigned used = 0;

    for (unsigned i = 0; i < count; i++)
        for (uintptr_t n = together[i]->address / size; n <= (together[i]->address + together[i]->bytes - 1) / size;
             n++)
            seen[used++] = n;
    std::sort(seen, seen + used);
    return (unsigned)(std::unique(seen, seen + used) - seen);
}

/* The most different words in one bank. */
static unsigned busiest_bank(const event *const *together, unsigned count)
{
    uintptr_t seen[LANES * MOST_WORDS];
    unsigned used = 0, words[BANKS] = {}, most = 0;

    for (unsigned i = 0; i < count; i++)
        for (uintptr_t n = together[i]->address / BANK; n <= (together[i]->address + together[i]->bytes - 1) / BANK;
             n++)
            seen[used++] = n;
    std::sort(seen, seen + used);
    used = (unsigned)(std::unique(seen, seen + used) - seen);
    for (unsigned i = 0; i < used; i++)
        most = std::max(most, ++words[seen[i] % BANKS]);
    return most;
}

/* Accesses of 8 bytes are served for half a warp at a time, of 16 bytes for a quarter; `lanes` says whose they are. All
 * at once when they touch no more than one word of each bank. */
static void count_wavefronts(const event *const *together, const unsigned *lanes, unsigned count, tally &t)
{
    const unsigned parts = std::max(1u, together[0]->bytes / BANK), at_once = LANES / parts;

    if (parts == 1 || busiest_bank(together, count) == 1) {
        t.units += busiest_bank(together, count);
        t.least++;
        return;
    }
    for (unsigned first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && lanes[next] / at_once == lanes[first] / at_once;)
            next++;
        t.units += busiest_bank(together + first, next - first);
        t.least++;
    }
}

static unsigned most_at_one_address(const event *const *together, unsigned count)
{
    unsigned most = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned same = 0;

        for (unsigned k = 0; k < count; k++)
            same += together[k]->address == together[i]->address;
        most = std::max(most, same);
    }
    return most;
}

static void count_request(const event *const *together, const unsigned *lanes, unsigned count)
{
    const enum cost cost = together[0]->cost;
    tally t = {1, count, 0, 0, 0, 0};

    for (unsigned i = 0; i < count; i++)
        t.bytes += together[i]->bytes;
    if (cost == SHARED_LOAD || cost == SHARED_STORE || cost == SHARED_ATOMIC)
        count_wavefronts(together, lanes, count, t);
    else
        t.units = touched(together, count, cost == CONSTANT_LOAD ? BANK : SECTOR);
    if (cost == GLOBAL_ATOMIC || cost == SHARED_ATOMIC)
        t.meet = most_at_one_address(together, count);

    kernel_now->places[cost][together[0]->place] += t;
}

/* Lanes of a warp have come to a basic block together: of those that they have been in, it is where they go. */
static void count_branch(uint32_t place, unsigned first, const unsigned *lanes, unsigned count)
{
    parting *const all = &recording->partings[first], *made = all;

    for (unsigned i = 0; i < count; i++) {
        lane_trace &l = recording->lanes[first + lanes[i]];

        if (l.from == nullptr)
            continue;

        branch &b = kernel_now->branches[l.from->place];

        if (l.from->goes == 0)
            b.taken++;
        else if (l.from->goes != place && !l.from->parted) {
            l.from->parted = true;
            b.parted++;
        }
        l.from->goes = place;
        b.both |= b.goes != 0 && b.goes != place;
        b.goes = place;
        l.from->lanes--;
    }
    while (made->lanes > 0) /* one of 32 is free: each of the others has a lane in it */
        made++;
    *made = {place, 0, count, false};
    kernel_now->branches[place]; /* also of the last, from where no lane goes on */
    for (unsigned i = 0; i < count; i++)
        recording->lanes[first + lanes[i]].from = made;
}

/* Lets the lanes of a warp go on, as long as it is known where each of them is; to the end if `all` have met. A lane
 * that waits for others is behind them. */
static void replay(worker &w, unsigned warp, bool all)
{
    const unsigned first = warp * LANES, end = std::min(first + LANES, (unsigned)w.tasks.size());
    const std::lock_guard<std::mutex> lock(costs_mutex);

    for (;;) {
        const event *least = nullptr, *together[LANES];
        unsigned lanes[LANES], count = 0;

        for (unsigned i = first; i < end; i++) {
            const lane_trace &l = recording->lanes[i];

            if (!is_pending(l)) {
                if (!all && w.tasks[i].state == state::ready)
                    return;
                continue;
            }
            if (least == nullptr || is_before(l.events[l.done], *least))
                least = &l.events[l.done];
        }
        if (least == nullptr)
            break;
        for (unsigned i = first; i < end; i++) {
            const lane_trace &l = recording->lanes[i];

            if (!is_pending(l))
                continue;

            const event &e = l.events[l.done];

            if (e.place != least->place || e.depth != least->depth || e.cost != least->cost ||
                (e.address == 0) != (least->address == 0))
                continue;
            lanes[count] = i - first;
            together[count++] = &e;
        }
        if (least->address == 0)
            count_branch(least->place, first, lanes, count);
        else
            count_request(together, lanes, count);
        for (unsigned i = 0; i < count; i++)
            recording->lanes[first + lanes[i]].done++;
    }
    for (unsigned i = first; i < end; i++) {
        recording->lanes[i].events.clear();
        recording->lanes[i].done = 0;
    }
}

/* ------------------------------------------------------------------------------------------------------ recording */

bool counting;

static void record(uintptr_t address, size_t bytes, enum cost cost, const void *caller, const void *frame)
{
    worker &w = *active;
    task &t = *static_cast<task *>(self);
    lane_trace &l = recording->lanes[t.place];

    if (l.frame == nullptr)
        l.frame = (const char *)frame;
    l.events.push_back({address, (uint32_t)((const char *)caller - &__executable_start),
                        (int32_t)(l.frame - (const char *)frame), (uint32_t)bytes, cost});
    while (l.events.size() - l.done >= MOST_EVENTS) {
        replay(w, t.place / LANES, false);
        if (l.done > MOST_EVENTS / 2) {
            l.events.erase(l.events.begin(), l.events.begin() + (ptrdiff_t)l.done);
            l.done = 0;
        }
        if (l.events.size() - l.done >= MOST_EVENTS)
            yield();
    }
}

static bool is_recorded()
{
    return counting && self != nullptr && recording != nullptr && !static_cast<task *>(self)->quiet;
}

static bool is_within(const range &r, uintptr_t address)
{
    return address >= r.first && address < r.end;
}

static bool is_constant(uintptr_t address)
{
    for (const range &r : *constants)
        if (is_within(r, address))
            return true;
    return false;
}

/* Stacks, arguments of kernels and what the emulator needs itself are no memory of the device. */
static bool is_global(uintptr_t address)
{
    if (is_within(recording->last, address) || (address >= (uintptr_t)&__data_start && address < (uintptr_t)&_end))
        return true;

    const std::lock_guard<std::mutex> lock(costs_mutex);

    if (allocations == nullptr)
        return false;

    auto found = allocations->upper_bound(address);

    if (found == allocations->begin())
        return false;
    --found;
    if (address >= found->second)
        return false;
    recording->last = {found->first, found->second};
    return true;
}

void counters_access(access kind, const volatile void *at, size_t bytes, const void *caller, const void *frame)
{
    const uintptr_t address = (uintptr_t)at;
    ptrdiff_t offset;

    if (!is_recorded())
        return;
    if (shared_name(const_cast<const void *>(at), &offset)[0] != '\0')
        record(address, bytes,
               kind == access::atomic_write ? SHARED_ATOMIC
               : kind == access::write      ? SHARED_STORE
                                            : SHARED_LOAD,
               caller, frame);
    else if (is_constant(address))
        record(address, bytes, CONSTANT_LOAD, caller, frame);
    else if (is_global(address))
        record(address, bytes,
               kind == access::atomic_write ? GLOBAL_ATOMIC
               : kind == access::write      ? GLOBAL_STORE
                                            : GLOBAL_LOAD,
               caller, frame);
}

/* The compiler says a range where the type's size is no power of two up to 16, or more than its alignment: four floats
 * in a struct are four loads of a GPU, three bytes are three. */
void counters_range(access kind, const volatile void *at, size_t bytes, const void *caller, const void *frame)
{
    const uintptr_t odd = (uintptr_t)at | bytes;
    const size_t piece = odd % 4 == 0 && bytes > 4 ? 4 : odd % 2 == 0 && bytes > 4 ? 2 : 1;

    for (size_t i = 0; i < bytes; i += piece)
        counters_access(kind, (const volatile char *)at + i, piece, caller, frame);
}

extern "C" void emulator_atomic_begins(const volatile void *address, size_t bytes, const void *caller);
extern "C" void emulator_atomic_begins(const volatile void *address, size_t bytes, const void *caller)
{
    counters_access(access::atomic_write, address, bytes, caller, __builtin_dwarf_cfa());
    static_cast<task *>(self)->quiet = true;
}

extern "C" void emulator_atomic_ends();
extern "C" void emulator_atomic_ends()
{
    static_cast<task *>(self)->quiet = false;
}

/* gcc calls it where a basic block begins. Weak: a program may have its own. */
extern "C" __attribute__((weak)) void __sanitizer_cov_trace_pc();
extern "C" __attribute__((weak)) void __sanitizer_cov_trace_pc()
{
    if (is_recorded())
        record(0, 0, COSTS, __builtin_return_address(0), __builtin_dwarf_cfa());
}

/* ------------------------------------------------------------------------------------------------ the scheduler's */

static const char *costs_file; /* or "1" */

static void print_all(int, void *)
{
    counting = false;
    print_counters(*all_costs, costs_file);
}

static bool begin_counting()
{
    costs_file = getenv("RUNGS_EMULATOR_COUNTERS");
    if (costs_file == nullptr || costs_file[0] == '\0')
        return false;
    all_costs = new std::vector<kernel_costs>;
    find_constants();
    return listening = on_exit(print_all, nullptr) == 0;
}

static const bool counting_from_start = counting = begin_counting();

static uint64_t sum_of(std::initializer_list<enum cost> costs, uint64_t (*number)(const tally &t))
{
    const std::lock_guard<std::mutex> lock(costs_mutex);
    uint64_t sum = 0;

    if (all_costs != nullptr)
        for (const kernel_costs &k : *all_costs)
            for (const enum cost cost : costs)
                for (const auto &[place, t] : k.places[cost])
                    sum += number(t);
    return sum;
}

uint64_t counted_sectors()
{
    return sum_of({GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC}, [](const tally &t) { return t.units; });
}

uint64_t counted_conflicts()
{
    return sum_of({SHARED_LOAD, SHARED_STORE}, [](const tally &t) { return t.units - t.least; });
}

void counters_begin_launch(const launch_site &site, uint64_t blocks, uint64_t warps)
{
    if (!counting)
        return;
    kernel_now = nullptr;
    for (kernel_costs &k : *all_costs)
        if (k.name == site.name && k.line == site.line && k.file == site.file)
            kernel_now = &k;
    if (kernel_now == nullptr) {
        all_costs->emplace_back();
        kernel_now = &all_costs->back();
        kernel_now->name = site.name;
        kernel_now->file = site.file;
        kernel_now->line = site.line;
    }
    kernel_now->launches++;
    kernel_now->blocks += blocks;
    kernel_now->warps += warps;
}

void counters_begin_block(worker &w)
{
    if (!counting)
        return;
    if (recording == nullptr)
        recording = new recorder();
    recording->last = {};
    recording->lanes.resize(w.tasks.size());
    recording->partings.assign(w.warps.size() * LANES, {});
    for (lane_trace &l : recording->lanes) {
        l.events.clear();
        l.done = 0;
        l.frame = nullptr;
        l.from = nullptr;
    }
}

void counters_barrier(worker &w)
{
    if (!counting)
        return;
    for (unsigned i = 0; i < w.warps.size(); i++)
        replay(w, i, true);
    const std::lock_guard<std::mutex> lock(costs_mutex);
    kernel_now->barriers += w.warps.size();
}

void counters_thread_ends(worker &w, const task &t)
{
    if (counting && w.warps[t.place / LANES].gone == ~0u)
        replay(w, t.place / LANES, true);
}

} /* namespace emulated */

extern "C" void emulator_count_requests(void)
{
    if (emulated::all_costs == nullptr) {
        emulated::all_costs = new std::vector<emulated::kernel_costs>;
        emulated::find_constants();
    }
    emulated::counting = emulated::listening = true;
}
