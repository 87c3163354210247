/*
 * runtime_memory.cpp: the memory of the emulator's CUDA runtime: the table of all allocations.
 */
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "common/emulator/counters.h"
#include "common/emulator/emulator_state.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#include "common/emulator/runtime_internal.h"

namespace emulated
{

/* ---------------------------------------------------------------------------------------------- the memory table */

struct allocation {
    size_t bytes;
    memory kind;
    int device;     /* that was current; it matters for device memory */
    bool in_pages;  /* pages_allocate() made it */
    uint32_t place; /* in the program, of the call that asked for it (line_of()) */
};

struct memory_table {
    std::mutex mutex;
    std::map<uintptr_t, allocation> allocations; /* by address */
    uint64_t random = 0x52756E6773;              /* for garbage */
    uint64_t count = 0;                          /* of all that were ever made on the device */
    struct {
        uintptr_t address;
        size_t bytes;
        uint32_t made, freed; /* where */
    } freed[256] = {};        /* the last, in a ring */
    unsigned next_freed = 0;
    std::vector<allocation> lost; /* nobody had freed them when cudaDeviceReset() did */
};

static memory_table &the_table()
{
    static memory_table *const it = new memory_table;

    return *it;
}

static void free_allocation(void *pointer, const allocation &its)
{
    if (its.in_pages)
        pages_free(pointer, its.bytes);
    else
        guarded_free(pointer, its.bytes);
}

/* The allocation that holds `pointer` or ends there; the table is locked. */
static std::map<uintptr_t, allocation>::iterator find_allocation(memory_table &table, const void *pointer)
{
    const uintptr_t address = (uintptr_t)pointer;
    auto it = table.allocations.upper_bound(address);

    if (it == table.allocations.begin())
        return table.allocations.end();
    --it;
    return address - it->first <= it->second.bytes ? it : table.allocations.end();
}

/* RUNGS_EMULATOR_MEMORY, or what the machine has. */
static size_t device_bytes()
{
    const size_t told = told_device_bytes();

    return told > 0 ? told : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that an allocation of this kind may still have. */
static size_t room_for(const memory_table &table, memory kind)
{
    size_t room = device_bytes();

    if (kind != memory::device && kind != memory::managed)
        return SIZE_MAX;
    for (const auto &[address, its] : table.allocations)
        if (its.device == current_device && (its.kind == memory::device || its.kind == memory::managed))
            room -= std::min(room, its.bytes);
    return room;
}

cudaError_t allocate(void **pointer, size_t bytes, memory kind)
{
    const uint32_t place = program_place(__builtin_return_address(0));
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (lasting_error() != cudaSuccess)
        return lasting_error();
    if (pointer == nullptr)
        return set_error(cudaErrorInvalidValue, "the address of the pointer is NULL");
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    const bool in_pages =
        GUARD_BYTES > 0 && kind == memory::device && bytes < SIZE_MAX / 2 && table.allocations.size() < MOST_IN_PAGES;
    if (bytes <= room_for(table, kind))
        *pointer = in_pages ? pages_allocate(bytes) : guarded_allocate(bytes);
    if (*pointer == nullptr)
        return set_error(cudaErrorMemoryAllocation, "%zu bytes", bytes);
    fill_fresh_device_memory(*pointer, bytes, &table.random);
    if (kind != memory::device) /* the host writes to it as it likes */
        races_written(*pointer, bytes);
    table.allocations[(uintptr_t)*pointer] = {bytes, kind, current_device, in_pages, place};
    table.count += kind == memory::device || kind == memory::managed;
    return cudaSuccess;
}

uint64_t allocation_count()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    return table.count;
}

size_t memory_used()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    size_t bytes = 0;

    for (const auto &[address, its] : table.allocations)
        bytes += its.kind == memory::symbol || its.kind == memory::registered ? 0 : its.bytes;
    return bytes;
}

/* What cudaFreeAsync() does to memory that others may still use. */
static void overwrite_all(void *pointer)
{
    memory_table &table = the_table();
    size_t bytes = 0;

    {
        const std::lock_guard<std::mutex> lock(table.mutex);
        const auto it = table.allocations.find((uintptr_t)pointer);

        bytes = it != table.allocations.end() ? it->second.bytes : 0;
    }
    operation_runs now("cudaFreeAsync", nullptr, 0, false);

    now.writes(pointer, bytes, bytes, bytes > 0);
}

/* See where_freed(const void *). */
static std::string where_freed(const memory_table &table, const volatile void *address)
{
    for (unsigned i = 1; i <= std::size(table.freed); i++) {
        const auto &its = table.freed[(table.next_freed - i) % std::size(table.freed)];

        if ((uintptr_t)address - its.address < its.bytes)
            return ": freed" + line_of(its.freed) + ", allocated" + line_of(its.made);
    }
    return "";
}

std::string where_freed(const void *pointer)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    return where_freed(table, pointer);
}

static cudaError_t release(void *pointer, bool on_host, uint32_t place)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = table.allocations.find((uintptr_t)pointer);
    const char *const what = on_host ? "cudaFreeHost" : "cudaFree";
    bool fits;

    if (pointer == nullptr)
        return lasting_error();
    fits = it != table.allocations.end() &&
           (on_host ? it->second.kind == memory::pinned
                    : it->second.kind == memory::device || it->second.kind == memory::managed);
    if (fits) {
        free_allocation(pointer, it->second);
        table.freed[table.next_freed++ % std::size(table.freed)] = {it->first, it->second.bytes, it->second.place,
                                                                    place};
        table.allocations.erase(it);
    }
    if (lasting_error() != cudaSuccess)
        return lasting_error();
    if (!fits)
        return set_error(cudaErrorInvalidValue,
                         "%s(%p)%s: not the start of memory that is allocated now (freed twice?)%s", what, pointer,
                         line_of(place).c_str(), where_freed(table, pointer).c_str());
    return cudaSuccess;
}

/* What the program has left: of each line that asked for it, how much in how many pieces. A program that fails has
 * mostly not come to where it frees. */
static void tell_lost(int status, void *)
{
    memory_table &table = the_table();
    std::vector<uint32_t> places;
    std::vector<bool> own;
    std::map<std::pair<memory, std::string>, std::pair<size_t, size_t>> sums;

    if (status != 0)
        return;
    for (const auto &[address, its] : table.allocations)
        if (its.kind != memory::symbol && its.kind != memory::registered)
            table.lost.push_back(its);
    for (const allocation &its : table.lost)
        places.push_back(its.place);
    const std::vector<std::string> lines = places.empty() ? std::vector<std::string>() : lines_of(places, &own);
    for (size_t i = 0; i < lines.size(); i++) {
        auto &[bytes, count] = sums[{table.lost[i].kind, lines[i]}];

        bytes += table.lost[i].bytes;
        count++;
    }
    fflush(nullptr);
    for (const auto &[which, sum] : sums)
        fprintf(stderr, "emulator: note: never freed: %zu bytes of %s memory in %zu allocation%s%s%s\n", sum.first,
                which.first == memory::device    ? "device"
                : which.first == memory::managed ? "managed"
                                                 : "page-locked",
                sum.second, sum.second == 1 ? "" : "s", which.second.empty() ? "" : ", made in ", which.second.c_str());
}

/* Before any other constructor of the program, so that what its own destructors free is freed by then. */
__attribute__((constructor(101))) static void tell_lost_at_end()
{
    const char *const text = getenv("RUNGS_EMULATOR_TELL");

    if (text != nullptr && strcmp(text, "2") == 0)
        on_exit(tell_lost, nullptr);
}

std::string damaged_allocation()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    for (const auto &[address, its] : table.allocations) {
        const bool guarded = its.kind != memory::symbol && its.kind != memory::registered;
        const ptrdiff_t offset = its.in_pages ? pages_damage((const void *)address, its.bytes)
                                 : guarded    ? guarded_damage((const void *)address, its.bytes)
                                              : 0;
        char text[160];

        if (offset != 0) {
            snprintf(text, sizeof(text), "a thread wrote outside of an allocation of %zu bytes at byte %td", its.bytes,
                     offset);
            (its.in_pages ? pages_mend : guarded_mend)((void *)address, its.bytes);
            return text;
        }
    }
    return "";
}

static size_t freed_bytes(const memory_table &table, const volatile void *address)
{
    size_t bytes = 0;

    for (const auto &its : table.freed)
        if ((uintptr_t)address - its.address < its.bytes)
            bytes = its.bytes;
    return bytes;
}

size_t freed_bytes_at(const void *address)
{
    memory_table &table = the_table();

    if (!table.mutex.try_lock())
        return 0;
    const size_t bytes = freed_bytes(table, address);
    table.mutex.unlock();
    return bytes;
}

bool nearest_allocation(const void *address, size_t *bytes, ptrdiff_t *distance)
{
    memory_table &table = the_table();
    const uintptr_t at = (uintptr_t)address;

    if (!table.mutex.try_lock())
        return false;
    const auto next = table.allocations.upper_bound(at);
    auto nearest = next;
    *distance = next != table.allocations.end() ? (ptrdiff_t)(at - next->first) : PTRDIFF_MIN;
    if (next != table.allocations.begin()) {
        const auto before = std::prev(next);
        const ptrdiff_t behind = (ptrdiff_t)(at - before->first - before->second.bytes);

        if (*distance == PTRDIFF_MIN || behind < -*distance) {
            nearest = before;
            *distance = behind;
        }
    }
    const bool found = nearest != table.allocations.end();
    if (found)
        *bytes = nearest->second.bytes;
    table.mutex.unlock();
    return found;
}

bool check_pointer(const launch_site &site, int position, const volatile void *pointer)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it =
        pointer == nullptr ? table.allocations.end() : find_allocation(table, const_cast<const void *>(pointer));
    const bool found = it != table.allocations.end();

    if (found && it->second.kind == memory::device && it->second.device != current_device &&
        lasting_error() == cudaSuccess) {
        set_lasting_error(cudaErrorIllegalAddress,
                          formatted("kernel %s (%s:%d) on device %d: argument %d points to memory of device %d",
                                    site.name, site.file, site.line, current_device, position, it->second.device));
        return false;
    }
    if (pointer == nullptr || found)
        return true;
    if (lasting_error() == cudaSuccess)
        set_error(cudaErrorInvalidValue,
                  "kernel %s (%s:%d): argument %d points to %s memory, which a kernel cannot use%s", site.name,
                  site.file, site.line, position, freed_bytes(table, pointer) > 0 ? "freed" : "host",
                  where_freed(table, pointer).c_str());
    return false;
}

void *symbol_address(const void *symbol, size_t bytes)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    table.allocations[(uintptr_t)symbol] = {bytes, memory::symbol, 0, false, 0};
    return const_cast<void *>(symbol);
}

std::optional<memory> kind_of(const void *pointer, size_t *room)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = find_allocation(table, pointer);

    if (it == table.allocations.end())
        return std::nullopt;
    if (room != nullptr)
        *room = it->first + it->second.bytes - (uintptr_t)pointer;
    return it->second.kind;
}

void free_memory_of_device()
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    std::erase_if(table.allocations, [&table](const auto &entry) {
        const auto &[address, its] = entry;
        const bool of_device = its.kind == memory::device || its.kind == memory::managed;

        if (of_device ? its.device != current_device : device_count() > 1)
            return false;
        if (its.kind != memory::symbol && its.kind != memory::registered) {
            table.lost.push_back(its);
            free_allocation((void *)address, its);
        }
        return true;
    });
}

} /* namespace emulated */

using namespace emulated;

extern "C" {

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *total_bytes = device_bytes();
    return lasting_error();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    const std::optional<memory> kind = kind_of(pointer);
    const bool on_host = kind == memory::pinned || kind == memory::registered || kind == memory::managed;
    void *const known = kind ? const_cast<void *>(pointer) : nullptr;
    const cudaMemoryType type = kind == memory::managed ? cudaMemoryTypeManaged
                                : on_host               ? cudaMemoryTypeHost
                                : kind                  ? cudaMemoryTypeDevice
                                                        : cudaMemoryTypeUnregistered;

    *attributes = {type, kind ? current_device : -2, known, on_host ? known : nullptr};
    return lasting_error();
}

cudaError_t cudaFree(void *pointer)
{
    wait_for_all_streams();
    order_host_waits_for_device();
    return release(pointer, false, program_place(__builtin_return_address(0)));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    const uint32_t place = program_place(__builtin_return_address(0));

    return in_turn("cudaFreeAsync", stream, place, [=] {
        overwrite_all(pointer);
        return release(pointer, false, place);
    });
}

cudaError_t cudaFreeHost(void *pointer)
{
    wait_for_all_streams();
    order_host_waits_for_device();
    return release(pointer, true, program_place(__builtin_return_address(0)));
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned)
{
    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);

    if (pointer == nullptr || bytes == 0)
        return set_error(cudaErrorInvalidValue, "cudaHostRegister: %zu bytes at %p", bytes, pointer);
    if (!table.allocations.insert({(uintptr_t)pointer, {bytes, memory::registered, 0, false, 0}}).second)
        return set_error(cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister(%p)", pointer);
    counters_register(pointer, bytes);
    return lasting_error();
}

cudaError_t cudaHostUnregister(void *pointer)
{
    wait_for_all_streams();
    order_host_waits_for_device();

    memory_table &table = the_table();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto it = table.allocations.find((uintptr_t)pointer);

    if (it == table.allocations.end() || it->second.kind != memory::registered)
        return set_error(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister(%p)", pointer);
    counters_forget(pointer);
    table.allocations.erase(it);
    return lasting_error();
}

} /* extern "C" */
