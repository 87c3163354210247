/*
 * kernels_seen.cu: what a version's kernels reach besides the memory that the emulator watches. The calls that
 * -fsanitize=thread put into the version's object are renamed to those of this file (assignments/labs.mk), which look
 * at the address first and hand the access on to the emulator's (common/emulator/races_hooks.cpp): by a jump, so that
 * it still finds the version's own line behind the call.
 *
 * What a GPU could not reach ends the kernel: memory of the host that is not page-locked. What it can is counted as
 * global memory is: variables of the program (__device__, __constant__), page-locked memory, allocations that are too
 * large to be watched, atomic loads. Of a block it is counted as well what its threads hand to each other through
 * shared memory, and what the one of them that reads most reads.
 */
#ifdef RUNGS_EMULATED
#include "common/emulator/emulator_state.h"
#include "common/emulator/races.h"
#include "common/emulator/races_internal.h"
#include "common/emulator/runtime_internal.h"
#include "common/remote/channel.h"
#include "common/remote/worker.h"

extern "C" char __executable_start, __data_start, _end;

using namespace emulated;

enum : ptrdiff_t { STACK_OF_KERNEL = 64 << 10, STACK_OF_HOST = 1 << 20 };
/* A kernel's arguments lie in memory of the host, where all of its threads read them: CUDA has 4 KiB for them. What
 * else is read there is a picture, so the places are counted, launch by launch. */
enum { LINE = 64, MOST_LINES = 32 };

static uint64_t lines_of_launch, lines[MOST_LINES];
static int line_count;

static bool is_within(const void *at, const void *first, size_t bytes)
{
    return (uintptr_t)at - (uintptr_t)first < bytes;
}

/* Of each byte of shared memory who wrote it last, and of each thread what it has read, while its block runs. */
enum { SHARED_BYTES = 1 << 18, MOST_IN_BLOCK = 1024 };
static struct {
    uint64_t when;
    unsigned writer;
} written[SHARED_BYTES];
static struct {
    uint64_t turn, bytes;
} readers[MOST_IN_BLOCK];
static uint64_t shared_taken, busiest_reads;

static uint64_t turn_of_block()
{
    return (active->launches << 32) + active->number + 1;
}

static void count_read(size_t bytes)
{
    const uint64_t turn = turn_of_block();
    auto &own = readers[self->place % MOST_IN_BLOCK];

    own.bytes = (own.turn == turn ? own.bytes : 0) + bytes;
    own.turn = turn;
    busiest_reads = std::max(busiest_reads, own.bytes);
}

/* Of memory that the emulator watches. */
static void note(const void *at, size_t bytes, bool reads)
{
    const uintptr_t first = (uintptr_t)at;
    const uint64_t turn = turn_of_block();
    bool is_others = false;
    ptrdiff_t offset;

    if (reads)
        count_read(bytes);
    if (shared_name(at, &offset)[0] == '\0')
        return;
    for (uintptr_t byte = first; byte < first + bytes; byte++) {
        auto &its = written[byte % SHARED_BYTES];
        const uint64_t when = (turn * 0x9e3779b97f4a7c15u) ^ byte / SHARED_BYTES;

        if (!reads)
            its = {when, self->place};
        else
            is_others = is_others || (its.when == when && its.writer != self->place);
    }
    shared_taken += is_others;
}

void worker_races_count(struct channel_counts *counts)
{
    counts->shared_taken = shared_taken;
    counts->busiest_reads = busiest_reads;
    shared_taken = busiest_reads = 0;
}

static void count_load(size_t bytes)
{
    count_read(bytes);
    static_cast<task *>(self)->steps++;
    global_loads.fetch_add(1, std::memory_order_relaxed);
}

static void look_at_line(const void *at, bool reads)
{
    const uint64_t line = (uintptr_t)at / LINE;

    if (lines_of_launch != active->launches)
        line_count = 0;
    lines_of_launch = active->launches;
    for (int i = 0; i < line_count && reads; i++)
        if (lines[i] == line)
            return;
    if (line_count == MOST_LINES || !reads)
        fault("%s memory of the host, which a GPU cannot reach: copy %s", reads ? "reads" : "writes",
              reads ? "to the device what kernels need" : "to the host what it needs");
    lines[line_count++] = line;
}

/* Of any of the kernel's threads: a warp's collectives read what each lane brings. */
static bool is_on_a_stack(const void *at)
{
    for (const fiber *f : active->fibers)
        if (is_within(at, f->stack, f->stack_size))
            return true;
    return false;
}

enum place { UNKNOWN, ON_A_STACK, IN_REACH };

/* What was found of a page is kept: stacks stay, and what was page-locked or a large allocation of the device has no
 * other pages. */
static enum place place_of(const void *at)
{
    enum { PAGE = 4096, KEPT = 4096 };
    static struct {
        uintptr_t page;
        enum place place;
    } kept[KEPT];
    const uintptr_t page = (uintptr_t)at / PAGE;
    auto &its = kept[page % KEPT];

    if (its.page != page) {
        const enum place found = is_on_a_stack(at) ? ON_A_STACK : is_known(at) ? IN_REACH : UNKNOWN;

        if (found == UNKNOWN)
            return found;
        its = {page, found};
    }
    return its.place;
}

/* Of an address that the emulator does not watch. */
static __attribute__((noinline)) void look_further(const void *at, size_t bytes, bool reads)
{
    if (is_within(at, __builtin_frame_address(0), STACK_OF_KERNEL) || is_within(at, self, sizeof(task)) ||
        is_within(at, self->block, sizeof(worker)))
        return;
    if (is_within(at, &__executable_start, (size_t)(&_end - &__executable_start))) {
        if (reads && (const char *)at >= &__data_start)
            count_load(bytes);
        return;
    }
    const enum place place = place_of(at);

    if (place == UNKNOWN)
        look_at_line(at, reads);
    else if (place == IN_REACH && reads)
        count_load(bytes);
}

static inline void look(const volatile void *address, size_t bytes, bool reads)
{
    if (self == nullptr)
        return;
    if (races_knows(address))
        note(const_cast<const void *>(address), bytes, reads);
    else
        look_further(const_cast<const void *>(address), bytes, reads);
}

/* Atomic loads and stores, of which the emulator counts none. */
static inline void count_atomic_access(const volatile void *address, size_t bytes, bool reads)
{
    ptrdiff_t offset;

    if (self == nullptr) {
        if (!is_within((const void *)address, (const char *)__builtin_frame_address(0) - STACK_OF_HOST,
                       2 * STACK_OF_HOST))
            host_bytes.fetch_add(bytes, std::memory_order_relaxed);
    } else if (!races_knows(address)) {
        look_further(const_cast<const void *>(address), bytes, reads);
    } else if (shared_name(const_cast<const void *>(address), &offset)[0] != '\0' || !reads) {
        note(const_cast<const void *>(address), bytes, reads);
        static_cast<task *>(self)->steps++;
    } else {
        count_load(bytes);
    }
}

#define SEEN(name, bytes, reads)                                                                                       \
    extern "C" void __tsan_##name(void *address);                                                                      \
    extern "C" void __seen_##name(void *address);                                                                      \
    extern "C" void __seen_##name(void *address)                                                                       \
    {                                                                                                                  \
        look(address, bytes, reads);                                                                                   \
        __tsan_##name(address);                                                                                        \
    }
#define SEEN_OF(bytes)                                                                                                 \
    SEEN(read##bytes, bytes, true)                                                                                     \
    SEEN(write##bytes, bytes, false)                                                                                   \
    SEEN(volatile_read##bytes, bytes, true)                                                                            \
    SEEN(volatile_write##bytes, bytes, false)
SEEN_OF(1)
SEEN_OF(2)
SEEN_OF(4)
SEEN_OF(8)
SEEN_OF(16)

#define SEEN_RANGE(name, reads)                                                                                        \
    extern "C" void __tsan_##name(void *address, long bytes);                                                          \
    extern "C" void __seen_##name(void *address, long bytes);                                                          \
    extern "C" void __seen_##name(void *address, long bytes)                                                           \
    {                                                                                                                  \
        for (long i = 0; i < bytes; i += 16)                                                                           \
            look((const char *)address + i, std::min<long>(16, bytes - i), reads);                                     \
        __tsan_##name(address, bytes);                                                                                 \
    }
SEEN_RANGE(read_range, true)
SEEN_RANGE(write_range, false)

#define SEEN_ATOMIC(bits, T)                                                                                           \
    extern "C" T __tsan_atomic##bits##_load(const volatile T *address, int order);                                     \
    extern "C" T __seen_atomic##bits##_load(const volatile T *address, int order);                                     \
    extern "C" T __seen_atomic##bits##_load(const volatile T *address, int order)                                      \
    {                                                                                                                  \
        count_atomic_access(address, sizeof(T), true);                                                                 \
        return __tsan_atomic##bits##_load(address, order);                                                             \
    }                                                                                                                  \
    extern "C" void __tsan_atomic##bits##_store(volatile T *address, T value, int order);                              \
    extern "C" void __seen_atomic##bits##_store(volatile T *address, T value, int order);                              \
    extern "C" void __seen_atomic##bits##_store(volatile T *address, T value, int order)                               \
    {                                                                                                                  \
        count_atomic_access(address, sizeof(T), false);                                                                \
        __tsan_atomic##bits##_store(address, value, order);                                                            \
    }
SEEN_ATOMIC(8, uint8_t)
SEEN_ATOMIC(16, uint16_t)
SEEN_ATOMIC(32, uint32_t)
SEEN_ATOMIC(64, uint64_t)

/* A copy by the C library (races_of_kernels.c): in a kernel, or on the host from or to its stack, where accesses are
 * not counted. */
extern "C" void seen_copy(const void *at, size_t bytes, bool reads);
extern "C" void seen_copy(const void *at, size_t bytes, bool reads)
{
    if (self != nullptr && races_knows(at))
        note(at, bytes, reads);
    else if (self == nullptr &&
             is_within(at, (const char *)__builtin_frame_address(0) - STACK_OF_HOST, 2 * STACK_OF_HOST))
        host_bytes.fetch_add(bytes, std::memory_order_relaxed);
}
#endif
