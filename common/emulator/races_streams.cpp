/*
 * races_streams.cpp: races between what runs on streams, and with the host (launch_order.h). A cell keeps one reader:
 * of two kernels or copies on different streams that read a byte, the second one is kept here beside it, for whoever
 * writes and has waited for one of them alone.
 */
#include <algorithm>
#include <stdio.h>
#include <string.h>

#include "common/emulator/emulator_state.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#include "common/emulator/races_internal.h"

namespace emulated
{

struct second_read {
    uint32_t read, place;
};
static second_read **seconds; /* by address / 2^CHUNK_BITS */

static second_read *find_second(uintptr_t address)
{
    second_read *const chunk = seconds == nullptr ? nullptr : seconds[address >> CHUNK_BITS];

    return chunk == nullptr ? nullptr : &chunk[address & ((1 << CHUNK_BITS) - 1)];
}

static void keep_second(uintptr_t address, uint32_t name, uint32_t place)
{
    if (seconds == nullptr)
        seconds = (second_read **)reserve(sizeof(*seconds) << (ADDRESS_BITS - CHUNK_BITS));
    if (seconds == nullptr)
        return;
    second_read *&chunk = seconds[address >> CHUNK_BITS];

    if (chunk == nullptr && (chunk = (second_read *)reserve(sizeof(second_read) << CHUNK_BITS)) == nullptr)
        return;
    second_read &its = chunk[address & ((1 << CHUNK_BITS) - 1)];

    if (its.read < unordered_from || unordered_before(its.read) == nullptr)
        its = {name, place};
}

void forget_second_reads(uintptr_t first, size_t bytes)
{
    for (uintptr_t at = first; seconds != nullptr && at < first + bytes;) {
        const size_t count = std::min(first + bytes - at, (1 << CHUNK_BITS) - (at & ((1 << CHUNK_BITS) - 1)));

        if (second_read *const its = find_second(at); its != nullptr)
            memset(its, 0, count * sizeof(*its));
        at += count;
    }
}

const execution *unordered_access(const cell &c, uintptr_t address, access kind, uint32_t *place, bool *wrote)
{
    const bool atomic = kind >= access::atomic_read, writes = kind == access::write || kind == access::atomic_write;
    const auto find = [](uint32_t name) { return name < unordered_from ? nullptr : unordered_before(name); };

    *wrote = true;
    *place = c.write_place;
    if (!(atomic && (c.write & 1)))
        if (const execution *const other = find(c.write); other != nullptr)
            return other;
    *wrote = false;
    *place = c.read_place;

    const execution *const reader = find(c.read);

    if (kind == access::read && reader != nullptr)
        keep_second(address, c.read, c.read_place);
    if (!writes || reader != nullptr)
        return writes ? reader : nullptr;

    const second_read *const second = find_second(address);

    *place = second != nullptr ? second->place : 0;
    return second != nullptr ? find(second->read) : nullptr;
}

/* Said once. */
static void report(const char *what, access kind, uint32_t place, const execution &other, bool wrote,
                   uint32_t other_place)
{
    static bool said;

    if (!said)
        set_lasting_error(
            cudaErrorLaunchFailure,
            formatted("race: %s%s %s memory that %s %s%s, unordered: no event or synchronise between them", what,
                      line_of(place).c_str(), kind == access::write ? "writes" : "reads", other.what.c_str(),
                      wrote ? "wrote" : "read", line_of(other_place).c_str()));
    said = true;
}

/* Calls look(cell, address) for each byte of the device's memory. */
template <class Look> static void for_cells(const void *memory, size_t bytes, const Look &look)
{
    const uintptr_t first = (uintptr_t)memory;

    for (uintptr_t at = first; chunks != nullptr && at < first + bytes;) {
        const size_t count = std::min(first + bytes - at, (1 << CHUNK_BITS) - (at & ((1 << CHUNK_BITS) - 1)));
        cell *const c = find_cell(at);

        for (size_t i = 0; c != nullptr && i < count; i++)
            if (is_of_device(c[i], at + i))
                look(c[i], at + i);
        at += count;
    }
}

static void touch(cell &c, access kind, uint32_t name, uint32_t place)
{
    if (kind == access::write)
        c = {name, place, 0, 0};
    else
        c.read = name, c.read_place = place;
}

void races_range(access kind, const void *memory, size_t bytes, uint32_t name, const char *what, uint32_t place)
{
    const execution *other = nullptr;
    uint32_t other_place = 0;
    bool wrote = false;

    for_cells(memory, bytes, [&](cell &c, uintptr_t address) {
        if (unordered_from < name && other == nullptr)
            other = unordered_access(c, address, kind, &other_place, &wrote);
        touch(c, kind, name, place);
    });
    if (other != nullptr)
        report(what, kind, place, *other, wrote, other_place);
}

void races_host(access kind, const void *memory, size_t bytes, const void *caller)
{
    const execution *other = nullptr;
    uint32_t name = 0, other_place = 0;
    bool wrote = false;

    if (!host_may_race || !of_program() || !host_order(&unordered_from, &name))
        return;
    for_cells(memory, bytes, [&](cell &c, uintptr_t address) {
        if (unordered_from != ALL_ORDERED && other == nullptr)
            other = unordered_access(c, address, kind, &other_place, &wrote);
        if (name != 0 && c.write != NOT_DEVICE_MEMORY)
            touch(c, kind, name, program_place(caller));
    });
    if (other != nullptr)
        report("the host", kind, program_place(caller), *other, wrote, other_place);
}

} /* namespace emulated */
