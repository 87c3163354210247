#include "common/emulator/races.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

#include "common/emulator/counters.h"
#include "common/emulator/emulator_state.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/races_internal.h"
#include "common/emulator/races_segments.h"

extern "C" char __executable_start, __data_start, _end;

namespace emulated
{

bool can_watch;
bool watching, listening;
static uint64_t *accesses; /* of the launches that are like this one, watched so far */
static uint64_t most_accesses;

/* --------------------------------------------------------------------------------------------------------- cells */

static uint32_t unwatched; /* launches that were not watched: what was fresh before may have been written since */
cell **chunks;
uint32_t unordered_from = ALL_ORDERED;

void *reserve(size_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? nullptr : memory;
}

static bool make_cells(uintptr_t first, uintptr_t end)
{
    if (chunks == nullptr)
        chunks = (cell **)reserve(sizeof(*chunks) << (ADDRESS_BITS - CHUNK_BITS));
    for (uintptr_t i = first >> CHUNK_BITS; chunks != nullptr && i <= (end - 1) >> CHUNK_BITS; i++)
        if (chunks[i] == nullptr && (chunks[i] = (cell *)reserve(sizeof(cell) << CHUNK_BITS)) == nullptr)
            return false;
    return chunks != nullptr;
}

bool races_knows(const volatile void *address)
{
    const cell *const c = chunks == nullptr ? nullptr : find_cell((uintptr_t)address);

    return c != nullptr && c->write != NOT_DEVICE_MEMORY;
}

bool is_of_device(const cell &c, uintptr_t address)
{
    return c.write != GUARD &&
           (c.write != NOT_DEVICE_MEMORY || (address >= (uintptr_t)&__data_start && address < (uintptr_t)&_end));
}

uint32_t races_begin_names(const char *what)
{
    const uint32_t name = next_name;

    next_name += 2;
    unordered_from = order_begins_names(name, what);
    return name;
}

static void fill_cells(uintptr_t first, size_t bytes, uint32_t name)
{
    while (bytes > 0) {
        const size_t in_chunk = (1 << CHUNK_BITS) - (first & ((1 << CHUNK_BITS) - 1)),
                     count = std::min(bytes, in_chunk);

        std::fill_n(find_cell(first), count, cell{name, unwatched, 0, 0});
        first += count;
        bytes -= count;
    }
}

static bool are_wanted()
{
    static const bool wanted = [] {
        const char *const text = getenv("RUNGS_EMULATOR_RACES");
        const uintptr_t first = (uintptr_t)&__data_start, end = (uintptr_t)&_end;

        return can_watch && (is_told || of_program() || (text != nullptr && strcmp(text, "1") == 0)) &&
               make_cells(first, end);
    }();

    return wanted;
}

/* Memory of more bytes is not watched: its cells are sixteen times as large. */
static size_t most_bytes()
{
    return of_program() ? 16 << 20 : 4 << 20;
}

void races_register(const void *memory, size_t bytes, size_t guard)
{
    const uintptr_t first = (uintptr_t)memory;

    if (are_wanted() && of_program() && bytes > most_bytes())
        fprintf(stderr, "emulator: %zu bytes of device memory are not watched for races: more than %zu\n", bytes,
                most_bytes());
    if (!are_wanted() || bytes == 0 || bytes > most_bytes() || !make_cells(first - guard, first + bytes + guard))
        return;
    listening = listening || of_program(); /* to what the host does */
    fill_cells(first - guard, guard, GUARD);
    fill_cells(first, bytes, UNTOUCHED);
    fill_cells(first + bytes, guard, GUARD);
    forget_second_reads(first, bytes);
}

void races_written(const void *memory, size_t bytes)
{
    if (!of_program() || chunks == nullptr || bytes == 0)
        return;
    for (uintptr_t at = (uintptr_t)memory; at < (uintptr_t)memory + bytes; at++) {
        cell *const c = find_cell(at);

        if (c != nullptr && c->write == UNTOUCHED)
            c->write = WRITTEN;
    }
}

void races_fresh(const void *memory, size_t bytes)
{
    if (of_program() && watching)
        fill_cells((uintptr_t)memory, bytes, UNTOUCHED);
}

void races_forget(const void *memory, size_t bytes, size_t guard)
{
    const uintptr_t first = (uintptr_t)memory;

    if (are_wanted() && bytes > 0 && bytes <= most_bytes() && find_cell(first) != nullptr)
        fill_cells(first - guard, bytes + 2 * guard, NOT_DEVICE_MEMORY);
}

/* ------------------------------------------------------------------------------------------------------- reports */

static std::string who(uint32_t name, bool with_block)
{
    const segment &s = segment_of(name);
    const dim3 &size = self->block->size;
    char text[96];

    if (s.block == THE_GRID)
        return "several blocks";
    if (s.thread == A_BLOCK || s.thread & A_WARP)
        snprintf(text, sizeof(text), s.thread == A_BLOCK ? "several threads" : "several lanes of a warp");
    else
        snprintf(text, sizeof(text), "thread (%u,%u,%u)", s.thread % size.x, s.thread / size.x % size.y,
                 s.thread / size.x / size.y);
    if (with_block && s.block != block)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " of another block");
    return text;
}

/* A race, or a write that turns out to change nothing. */
struct suspicion {
    bool pending;
    thread *accused;
    const void *address;
    size_t bytes;
    unsigned char before[16];
    uint32_t earlier, earlier_place, place;
    bool earlier_wrote, writes;
    const execution *other; /* `earlier` is of another operation on a stream */
};
static suspicion suspect;

[[noreturn]] static void report(const suspicion &s)
{
    static char text[768]; /* fault() leaves without destructors */
    ptrdiff_t offset = 0;

    watching = false;
    self = s.accused;
    {
        const char *const name = shared_name(s.address, &offset);
        const std::string first = line_of(s.earlier_place), second = line_of(s.place);

        if (name[0] != '\0')
            snprintf(text, sizeof(text), "race: shared variable %s, byte %td: ", name, offset);
        else
            snprintf(text, sizeof(text), "race: global memory: ");
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s, this one %s it%s, unordered%s",
                 s.other != nullptr ? s.other->what.c_str() : who(s.earlier, true).c_str(),
                 s.earlier_wrote ? (s.earlier & 1 ? " wrote it atomically" : " wrote it") : " read it", first.c_str(),
                 s.writes ? "writes" : "reads", second.c_str(),
                 s.other != nullptr ? ": no event or synchronise between them" : "");
    }
    fault("%s", text);
}

/* Looks whether the last suspect write changed something. */
static inline void settle()
{
    if (!suspect.pending)
        return;
    suspect.pending = false;
    if (memcmp(suspect.before, suspect.address, suspect.bytes) != 0)
        report(suspect);
}

static void accuse(uint32_t earlier, uint32_t earlier_place, bool of_write, const void *address, size_t bytes,
                   uint32_t place, bool writes, bool plain, const execution *other = nullptr)
{
    suspect = {true,     self,   address, std::min(bytes, sizeof(suspect.before)), {}, earlier, earlier_place, place,
               of_write, writes, other};
    memcpy(suspect.before, address, suspect.bytes);
    if (!writes || !plain) {
        suspect.pending = false;
        report(suspect);
    }
}

/* ------------------------------------------------------------------------------------------------------ accesses */

[[noreturn]] static void report_outside(const void *address, bool writes, uint32_t place)
{
    static char text[320];

    watching = false;
    {
        const std::string line = line_of(place);
        ptrdiff_t offset = 0;
        const char *const name = shared_name(address, &offset);

        if (name[0] != '\0')
            snprintf(text, sizeof(text), "out-of-bounds: %s byte %td of the shared variable %s%s",
                     writes ? "writes" : "reads", offset, name, line.c_str());
        else
            snprintf(text, sizeof(text), "out-of-bounds: %s outside of an allocation%s", writes ? "writes" : "reads",
                     line.c_str());
    }
    fault("%s", text);
}

static std::string describe_access(const char *what, const void *address, size_t bytes, bool writes, uint32_t place)
{
    char text[320];
    ptrdiff_t offset = 0;
    const char *const name = shared_name(address, &offset);

    if (name[0] != '\0')
        snprintf(text, sizeof(text), "%s: %s %zu bytes of the shared variable %s, from byte %td", what,
                 writes ? "writes" : "reads", bytes, name, offset);
    else
        snprintf(text, sizeof(text), "%s: %s %zu bytes of global memory, at %p", what, writes ? "writes" : "reads",
                 bytes, address);
    return text + line_of(place);
}

[[noreturn]] static void report_misaligned(const void *address, size_t bytes, bool writes, uint32_t place)
{
    static char text[320];

    watching = false;
    snprintf(text, sizeof(text), "%s", describe_access("misaligned address", address, bytes, writes, place).c_str());
    fault("%s", text);
}

/* A read of what nobody has written yet; it is told at the block's end, when nobody has turned out to write it too
 * late: that is a race, and the other line is the one to look at. */
static std::string *fresh_read;

static void keep_fresh_read(const void *address, size_t bytes, uint32_t place)
{
    char thread[64];

    if (fresh_read == nullptr)
        fresh_read = new std::string;
    if (!fresh_read->empty())
        return;
    snprintf(thread, sizeof(thread), ", thread (%u,%u,%u): ", self->index.x, self->index.y, self->index.z);
    *fresh_read = thread + describe_access("uninitialised", address, bytes, false, place);
}

void races_end_block()
{
    if (fresh_read == nullptr || fresh_read->empty())
        return;
    if (watching)
        keep_message("", *fresh_read);
    fresh_read->clear();
}

/* Whether nobody has written any of these bytes. A copy of a struct may have some of padding among them. */
static bool is_fresh(const cell *c, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (c[i].write != UNTOUCHED || c[i].write_place != unwatched)
            return false;
    return true;
}

void races_access(access kind, const volatile void *at, size_t bytes, const void *caller)
{
    const void *const address = const_cast<const void *>(at);
    const bool atomic = kind >= access::atomic_read, writes = kind == access::write || kind == access::atomic_write;
    const uint32_t place = (uint32_t)((const char *)caller - &__executable_start);
    cell *c = find_cell((uintptr_t)address);
    bool in_shared_known = false, in_shared = false;

    if (c == nullptr)
        return;
    settle();
    if (++*accesses > most_accesses) {
        races_end_launch();
        return;
    }
    if (c->write == NOT_DEVICE_MEMORY && (address < &__data_start || address >= &_end))
        return;
    if (next_name >= LAST_NAME)
        return;

    if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && (uintptr_t)address % bytes != 0)
        report_misaligned(address, bytes, writes, place);
    if (!writes && of_program() && bytes <= 16 && is_fresh(c, bytes))
        keep_fresh_read(address, bytes, place);

    const uint32_t own = own_segment(*self);
    cell before = {}, after = {}; /* of the last byte: the others of a word have mostly the same history */

    for (size_t i = 0; i < bytes; i++, c++) {
        if (((uintptr_t)address + i) % (1 << CHUNK_BITS) == 0 && i > 0 &&
            (c = find_cell((uintptr_t)address + i)) == nullptr)
            return;
        if (kind == access::read && c->write < first_name && c->write != GUARD && stands_for_own(c->read, own))
            continue;
        if (c->write == GUARD)
            report_outside((const char *)address + i, writes, place);
        if (!atomic && (writes ? c->write == own && c->read < first_name : c->read == own && c->write < first_name))
            continue;
        if (i > 0 && memcmp(c, &before, sizeof(before)) == 0) {
            *c = after;
            continue;
        }
        before = *c;
        if (unordered_from < first_name) {
            uint32_t other_place = 0;
            bool wrote = false;
            const execution *const other = unordered_access(*c, (uintptr_t)address + i, kind, &other_place, &wrote);

            if (other != nullptr)
                accuse(0, other_place, wrote, address, bytes, place, writes, !atomic, other);
        }

        const segment mine = segment_of(own);
        const auto is_in_shared = [&] {
            ptrdiff_t offset;

            if (!in_shared_known)
                in_shared = shared_name(address, &offset)[0] != '\0';
            in_shared_known = true;
            return in_shared;
        };
        const auto late = [&](uint32_t name, bool is_atomic, uint32_t *at_place) -> uint32_t {
            if (name < first_name || (name & ~1u) == own)
                return 0;
            return not_over(name, mine, is_atomic, segment_of(name).block != block && is_in_shared(), at_place);
        };
        uint32_t write_place = c->write_place, read_place = c->read_place;

        if (const uint32_t name = late(c->write, atomic, &write_place))
            accuse(name, write_place, true, address, bytes, place, writes, !atomic);
        else if (const uint32_t reader = writes ? late(c->read, false, &read_place) : 0)
            accuse(reader, read_place, false, address, bytes, place, writes, !atomic);
        if (kind == access::read) {
            if (!stands_for_own(c->read, own))
                c->read = late(c->read, false, &read_place) == 0 ? own : joined(c->read, c->read_place, own);
            c->read_place = place;
        } else if (writes) {
            /* A plain write that came before is not over for other blocks. */
            const bool is_plain =
                atomic && c->write >= first_name && (c->write & 1) == 0 &&
                !((segment_of(c->write).block != block || segment_of(c->write).epoch < epoch) && is_in_shared());

            c->write = atomic && (is_plain || late(c->write, false, &write_place) != 0 ||
                                  (c->write >= first_name && segment_of(c->write).block == THE_GRID))
                           ? joined(c->write, c->write_place, own | 1)
                           : own | (atomic ? 1u : 0u);
            c->write_place = place;
            if (!atomic)
                c->read = 0;
        }
        after = *c;
    }
}

/* What is known to whoever looks at `address` from now on. */
static void publish(uintptr_t address)
{
    if (fence_epoch == 0 || fence_epoch < epoch) /* none in this epoch or the one before */
        return;

    release &mine = released[address][block];

    if (mine.epoch != epoch)
        mine = {epoch, {}};
    mine.threads.push_back((uint16_t)self->place);
}

static void learn(uintptr_t address)
{
    const auto found = released.find(address);

    if (found == released.end())
        return;
    for (const auto &[other, what] : found->second)
        if (other != block)
            acquired[other].push_back({(uint16_t)self->place, epoch, what});
}

void races_atomic_access(access kind, volatile void *address, size_t bytes, const void *caller)
{
    if (!watching || self == nullptr)
        return;
    races_access(kind, address, bytes, caller);
    if (find_cell((uintptr_t)address) == nullptr)
        return;
    block_order_atomic((uintptr_t)address, self->place, kind == access::atomic_write);
    learn((uintptr_t)address);
    if (kind == access::atomic_write)
        publish((uintptr_t)address);
}

void races_fence(bool of_device)
{
    if (!watching || self == nullptr)
        return;
    block_order_fence(self->place, self->warp_clock);
    if (of_device)
        fence_epoch = epoch + 1;
}

/* ------------------------------------------------------------------------------------------------ the scheduler's */

bool races_begin_launch(const launch_site &site)
{
    watching = are_wanted() && is_to_be_watched(site, &accesses, &most_accesses);
    listening = watching || is_told || counting;
    if (!watching)
        return false;
    segments_begin_launch();
    if (of_program())
        unordered_from =
            order_begins_names(first_name, formatted("kernel %s (%s:%d)", site.name, site.file, site.line));
    suspect.pending = false;
    return true;
}

void races_end_launch()
{
    if (!watching)
        unwatched++;
    watching = false;
    listening = is_told || counting || (can_watch && of_program());
}

void races_begin_block(uint32_t number, unsigned warps)
{
    if (!watching)
        return;
    block = number;
    segments_begin_block(warps);
    acquired.clear();
    block_order_begins(32 * warps);
}

void races_thread_ends()
{
    if (watching)
        settle();
}

void races_barrier()
{
    if (!watching)
        return;
    settle();
    block_order_barrier();
    epoch++;
    segments_barrier();
}

unsigned races_warp_barrier(unsigned warp, unsigned lanes)
{
    if (!watching)
        return 0;
    settle();
    block_order_warp(warp, lanes);
    return segments_warp_barrier(warp, lanes);
}

} /* namespace emulated */
