/*
 * guarded_memory.cpp: memory between bytes that nobody may write, and between pages that nobody can reach.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/emulator/counters.h"
#include "common/emulator/emulator_internal.h"
#include "common/emulator/races.h"
#include "common/emulator/runtime_internal.h"

namespace emulated
{

enum { ALLOCATION_ALIGNMENT = 256, GUARD_VALUE = 0xB7 };

void guarded_mend(void *pointer, size_t bytes)
{
    memset((char *)pointer - GUARD_BYTES, GUARD_VALUE, GUARD_BYTES);
    memset((char *)pointer + bytes, GUARD_VALUE, GUARD_BYTES);
}

void *guarded_allocate(size_t bytes)
{
    void *memory = nullptr;

    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, ALLOCATION_ALIGNMENT, bytes + 2 * GUARD_BYTES) != 0)
        return nullptr;
    guarded_mend((char *)memory + GUARD_BYTES, bytes);
    races_register((char *)memory + GUARD_BYTES, bytes, GUARD_BYTES);
    counters_register((char *)memory + GUARD_BYTES, bytes);
    return (char *)memory + GUARD_BYTES;
}

void guarded_free(void *pointer, size_t bytes)
{
    if (pointer == nullptr)
        return;
    races_forget(pointer, bytes, GUARD_BYTES);
    counters_forget(pointer);
    free((char *)pointer - GUARD_BYTES);
}

ptrdiff_t guarded_damage(const void *pointer, size_t bytes)
{
    const unsigned char *p = static_cast<const unsigned char *>(pointer);

    for (ptrdiff_t i = 0; i < GUARD_BYTES; i++)
        if (p[bytes + (size_t)i] != GUARD_VALUE)
            return (ptrdiff_t)bytes + i;
    for (ptrdiff_t i = 1; i <= GUARD_BYTES; i++)
        if (p[-i] != GUARD_VALUE)
            return -i;
    return 0;
}

/* Memory of the device lies between pages that nobody can reach, its end close to the ones behind it: what a kernel
 * writes far outside would else be the emulator's own memory, and a kernel argument that it spoils there keeps the
 * kernel busy for ever. AddressSanitizer needs the heap. */
enum : size_t { UNREACHABLE = 1 << 20, PAGE = 4096 };

static size_t rounded_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Of the pages that can be reached, and how far from their end the memory begins. */
static size_t reachable_bytes(size_t bytes)
{
    return rounded_up(rounded_up(bytes, ALLOCATION_ALIGNMENT) + 2 * GUARD_BYTES, PAGE);
}

static size_t bytes_to_end(size_t bytes)
{
    return rounded_up(bytes, ALLOCATION_ALIGNMENT) + GUARD_BYTES;
}

/* What can be reached before the guards and behind them is guarded as well. */
static size_t room_before(size_t bytes)
{
    return reachable_bytes(bytes) - bytes_to_end(bytes) - GUARD_BYTES;
}

static size_t room_behind(size_t bytes)
{
    return bytes_to_end(bytes) - bytes - GUARD_BYTES;
}

static bool is_intact(const unsigned char *p, size_t bytes)
{
    return bytes == 0 || (p[0] == GUARD_VALUE && memcmp(p, p + 1, bytes - 1) == 0);
}

ptrdiff_t pages_damage(const void *memory, size_t bytes)
{
    const unsigned char *const p = static_cast<const unsigned char *>(memory), *before = p - GUARD_BYTES;
    const unsigned char *behind = p + bytes + GUARD_BYTES;
    const ptrdiff_t close = guarded_damage(memory, bytes);

    if (close != 0)
        return close;
    if (!is_intact(behind, room_behind(bytes))) {
        while (*behind == GUARD_VALUE)
            behind++;
        return behind - p;
    }
    if (!is_intact(before - room_before(bytes), room_before(bytes))) {
        while (before[-1] == GUARD_VALUE)
            before--;
        return before - 1 - p;
    }
    return 0;
}

void pages_mend(void *memory, size_t bytes)
{
    char *const p = static_cast<char *>(memory);

    memset(p - GUARD_BYTES - room_before(bytes), GUARD_VALUE, GUARD_BYTES + room_before(bytes));
    memset(p + bytes, GUARD_VALUE, GUARD_BYTES + room_behind(bytes));
}

void *pages_allocate(size_t bytes)
{
    const size_t reachable = reachable_bytes(bytes);
    char *const base = (char *)mmap(nullptr, reachable + 2 * UNREACHABLE, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return nullptr;
    if (mprotect(base + UNREACHABLE, reachable, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, reachable + 2 * UNREACHABLE);
        return nullptr;
    }
    char *const memory = base + UNREACHABLE + reachable - bytes_to_end(bytes);
    pages_mend(memory, bytes);
    races_register(memory, bytes, GUARD_BYTES);
    counters_register(memory, bytes);
    return memory;
}

void pages_free(void *memory, size_t bytes)
{
    const size_t reachable = reachable_bytes(bytes);

    races_forget(memory, bytes, GUARD_BYTES);
    counters_forget(memory);
    munmap((char *)memory + bytes_to_end(bytes) - reachable - UNREACHABLE, reachable + 2 * UNREACHABLE);
}

} /* namespace emulated */
