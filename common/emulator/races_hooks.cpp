/* What -fsanitize=thread makes the compiler call before each access of a kernel: the functions of ThreadSanitizer, for
 * races.cpp to look at the access. A build with the real ThreadSanitizer has these functions already. */
#include "common/emulator/races_internal.h"

#include "common/emulator/counters.h"
#include "common/emulator/emulator_state.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#include "common/emulator/runtime_internal.h"

#if !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REAL_SANITIZER 1
#endif
#endif
#ifndef REAL_SANITIZER

extern "C" char __executable_start;
extern "C" void emulator_sees_copy(void *to, const void *from, size_t bytes, void *caller);
extern "C" void emulator_sees_host_call(const char *name);

using emulated::access;

enum : ptrdiff_t { STACK = 1 << 20, MOST_OF_ONE = 16 /* bytes of an access: a GPU reads a struct piece by piece */ };

/* For a judge alone: what emulator_count() says of steps, loads and atomic operations. */
static inline void count_step(emulated::access kind, const volatile void *address)
{
    ptrdiff_t offset;

    if (!emulated::is_told || emulated::self == nullptr || !emulated::races_knows(address))
        return;
    static_cast<emulated::task *>(emulated::self)->steps++;
    if (kind == access::write || emulated::shared_name(const_cast<const void *>(address), &offset)[0] != '\0')
        return;
    if (kind == access::atomic_write)
        emulated::global_atomics.fetch_add(1, std::memory_order_relaxed);
    emulated::global_loads.fetch_add(1, std::memory_order_relaxed); /* an atomic operation says what was there */
}

/* What a GPU's host does by itself; its stack, on which a kernel's arguments lie as well, is no place for pictures. */
static inline void count_host(const volatile void *address, size_t bytes)
{
    const ptrdiff_t from_here = (const volatile char *)address - (const char *)__builtin_frame_address(0);

    if (emulated::self == nullptr && (from_here < -STACK || from_here > STACK))
        emulated::host_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

#define CALLER __builtin_return_address(0)
/* Most launches are not watched, and then a hook costs a call and this look. */
#define LISTENS __builtin_expect(emulated::listening, false)
#define COUNT(kind, address, bytes)                                                                                    \
    do {                                                                                                               \
        if (emulated::counting)                                                                                        \
            emulated::counters_access(kind, address, bytes, CALLER, __builtin_dwarf_cfa());                            \
    } while (0)

/* A GPU's host cannot reach what cudaMalloc() gives, and waits before it reaches for the rest. Said once: whoever reads
 * one element reads all. */
static void look_at_host(emulated::access kind, const void *address, size_t bytes, const void *caller)
{
    static bool said;

    if (emulated::self == nullptr && emulated::host_may_race)
        emulated::races_host(kind, address, bytes, caller);
    if (said || emulated::self != nullptr || !emulated::of_program() || !emulated::races_knows(address) ||
        emulated::kind_of(address) != emulated::memory::device)
        return;
    said = true;
    emulated::set_lasting_error(
        cudaErrorIllegalAddress,
        emulated::formatted("the host %s device memory%s", kind == access::read ? "reads" : "writes",
                            emulated::line_of((uint32_t)((const char *)caller - &__executable_start)).c_str()));
}

static __attribute__((noinline)) void tell(emulated::access kind, void *address, size_t bytes, const void *caller,
                                           void *frame)
{
    count_step(kind, address);
    count_host(address, bytes);
    if (emulated::counting)
        emulated::counters_access(kind, address, bytes, caller, frame);
    if (emulated::watching && emulated::self != nullptr)
        emulated::races_access(kind, address, bytes, caller);
    else
        look_at_host(kind, address, bytes, caller);
}

static __attribute__((noinline)) void tell_volatile_write(void *address, size_t bytes, const void *caller, void *frame)
{
    ptrdiff_t offset;

    count_step(access::write, address);
    count_host(address, bytes);
    if (emulated::counting)
        emulated::counters_access(access::write, address, bytes, caller, frame);
    if (!emulated::watching || emulated::self == nullptr)
        return;
    if (emulated::shared_name(address, &offset)[0] != '\0')
        emulated::races_access(access::write, address, bytes, caller);
    else
        emulated::races_atomic_access(access::atomic_write, address, bytes, caller);
}

static __attribute__((noinline)) void tell_atomic(volatile void *address, size_t bytes, const void *caller,
                                                  const void *frame)
{
    count_step(access::atomic_write, address);
    if (emulated::counting)
        emulated::counters_access(access::atomic_write, address, bytes, caller, frame);
    emulated::races_atomic_access(access::atomic_write, address, bytes, caller);
}

/* Weak: the labs' race detector for OpenMP (common/remote/races.c) has callbacks of its own in the same program. */
#define HOOK extern "C" __attribute__((weak))

#define PLAIN(name, kind, bytes)                                                                                       \
    HOOK void name(void *address);                                                                                     \
    HOOK void name(void *address)                                                                                      \
    {                                                                                                                  \
        if (LISTENS)                                                                                                   \
            tell(kind, address, bytes, CALLER, __builtin_dwarf_cfa());                                                 \
    }
/* To global memory a relaxed store (common/cuda/relaxed.h). In shared memory it is what warps are made to meet by
 * without a barrier, which volatile does not do. */
#define VOLATILE_WRITE(bytes)                                                                                          \
    HOOK void __tsan_volatile_write##bytes(void *address);                                                             \
    HOOK void __tsan_volatile_write##bytes(void *address)                                                              \
    {                                                                                                                  \
        if (LISTENS)                                                                                                   \
            tell_volatile_write(address, bytes, CALLER, __builtin_dwarf_cfa());                                        \
    }
#define PLAIN_OF(bytes)                                                                                                \
    PLAIN(__tsan_read##bytes, access::read, bytes)                                                                     \
    PLAIN(__tsan_write##bytes, access::write, bytes)                                                                   \
    PLAIN(__tsan_volatile_read##bytes, access::atomic_read, bytes)                                                     \
    VOLATILE_WRITE(bytes)
PLAIN_OF(1)
PLAIN_OF(2)
PLAIN_OF(4)
PLAIN_OF(8)
PLAIN_OF(16)

#define RANGE(name, kind)                                                                                              \
    HOOK void name(void *address, long bytes);                                                                         \
    HOOK void name(void *address, long bytes)                                                                          \
    {                                                                                                                  \
        if (!LISTENS)                                                                                                  \
            return;                                                                                                    \
        for (long i = 0; i < bytes; i += MOST_OF_ONE)                                                                  \
            count_step(kind, (const char *)address + i);                                                               \
        count_host(address, (size_t)bytes);                                                                            \
        if (emulated::counting)                                                                                        \
            emulated::counters_range(kind, address, (size_t)bytes, CALLER, __builtin_dwarf_cfa());                     \
        if (emulated::watching && emulated::self != nullptr)                                                           \
            emulated::races_access(kind, address, (size_t)bytes, __builtin_return_address(0));                         \
        else                                                                                                           \
            look_at_host(kind, address, (size_t)bytes, __builtin_return_address(0));                                   \
    }
RANGE(__tsan_read_range, access::read)
RANGE(__tsan_write_range, access::write)

/* A kernel's memcpy() of a size that the compiler does not know, which calls nothing above: byte by byte, as a GPU does
 * it. */
extern "C" void emulator_sees_copy(void *to, const void *from, size_t bytes, void *caller)
{
    if (emulated::self == nullptr)
        return;
    for (size_t i = 0; i < bytes; i++) {
        if (from != nullptr)
            count_step(access::read, (const char *)from + i);
        count_step(access::write, (char *)to + i);
    }
    for (size_t i = 0; emulated::counting && i < bytes; i++) {
        if (from != nullptr)
            emulated::counters_access(access::read, (const char *)from + i, 1, caller, __builtin_dwarf_cfa());
        emulated::counters_access(access::write, (char *)to + i, 1, caller, __builtin_dwarf_cfa());
    }
    if (!emulated::watching || bytes == 0)
        return;
    if (from != nullptr)
        emulated::races_access(access::read, const_cast<void *>(from), bytes, caller);
    emulated::races_access(access::write, to, bytes, caller);
}

/* A function of the host that reads or writes for a kernel, without a call of anything above. */
extern "C" void emulator_sees_host_call(const char *name)
{
    if (emulated::self != nullptr)
        emulated::fault("a kernel calls %s, which GPUs do not have", name);
}

extern "C" bool emulator_can_watch_races(void)
{
    return emulated::can_watch;
}

/* What is compiled with the instrumentation calls this before main(). */
HOOK void __tsan_init();
HOOK void __tsan_init()
{
    emulated::can_watch = true;
}

HOOK void __tsan_vptr_update(void **pointer, void *value);
HOOK void __tsan_vptr_update(void **, void *)
{
}

HOOK void __tsan_atomic_thread_fence(int order);
HOOK void __tsan_atomic_thread_fence(int order) /* which says how far it reaches: emulated_device.h */
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    emulated::races_fence(order == __ATOMIC_SEQ_CST);
}

#define ATOMIC_CHANGE(bits, T, name)                                                                                   \
    HOOK T __tsan_atomic##bits##_##name(volatile T *address, T value, int order);                                      \
    HOOK T __tsan_atomic##bits##_##name(volatile T *address, T value, int)                                             \
    {                                                                                                                  \
        if (LISTENS)                                                                                                   \
            tell_atomic(address, sizeof(T), CALLER, __builtin_dwarf_cfa());                                            \
        return __atomic_##name(address, value, __ATOMIC_SEQ_CST);                                                      \
    }
#define ATOMIC_COMPARE(bits, T, name)                                                                                  \
    HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile T *address, T *expected, T value, int order,       \
                                                           int failure);                                               \
    HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile T *address, T *expected, T value, int, int)        \
    {                                                                                                                  \
        if (LISTENS)                                                                                                   \
            tell_atomic(address, sizeof(T), CALLER, __builtin_dwarf_cfa());                                            \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    }
#define ATOMIC_OF(bits, T)                                                                                             \
    HOOK T __tsan_atomic##bits##_load(const volatile T *address, int order);                                           \
    HOOK T __tsan_atomic##bits##_load(const volatile T *address, int)                                                  \
    {                                                                                                                  \
        COUNT(access::read, address, sizeof(T));                                                                       \
        emulated::races_atomic_access(access::atomic_read, const_cast<volatile T *>(address), sizeof(T), CALLER);      \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                             \
    }                                                                                                                  \
    HOOK void __tsan_atomic##bits##_store(volatile T *address, T value, int order);                                    \
    HOOK void __tsan_atomic##bits##_store(volatile T *address, T value, int)                                           \
    {                                                                                                                  \
        COUNT(access::write, address, sizeof(T));                                                                      \
        emulated::races_atomic_access(access::atomic_write, address, sizeof(T), CALLER);                               \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                            \
    }                                                                                                                  \
    HOOK T __tsan_atomic##bits##_exchange(volatile T *address, T value, int order);                                    \
    HOOK T __tsan_atomic##bits##_exchange(volatile T *address, T value, int)                                           \
    {                                                                                                                  \
        if (LISTENS)                                                                                                   \
            tell_atomic(address, sizeof(T), CALLER, __builtin_dwarf_cfa());                                            \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                  \
    ATOMIC_CHANGE(bits, T, fetch_add)                                                                                  \
    ATOMIC_CHANGE(bits, T, fetch_sub)                                                                                  \
    ATOMIC_CHANGE(bits, T, fetch_and)                                                                                  \
    ATOMIC_CHANGE(bits, T, fetch_or)                                                                                   \
    ATOMIC_CHANGE(bits, T, fetch_xor)                                                                                  \
    ATOMIC_COMPARE(bits, T, strong)                                                                                    \
    ATOMIC_COMPARE(bits, T, weak)
ATOMIC_OF(8, uint8_t)
ATOMIC_OF(16, uint16_t)
ATOMIC_OF(32, uint32_t)
ATOMIC_OF(64, uint64_t)

#endif
#endif
