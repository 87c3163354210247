/*
 * races_segments.h: of races.cpp, what stands for who has accessed a byte, and whether that came before what a thread
 * does now.
 */
#ifndef RUNGS_RACES_SEGMENTS_H
#define RUNGS_RACES_SEGMENTS_H

#include <algorithm>
#include <bitset>
#include <stdint.h>
#include <string.h>
#include <unordered_map>
#include <vector>

#include "common/emulator/emulator_internal.h"
#include "common/emulator/races_internal.h"

namespace emulated
{

struct segment {
    uint32_t block, epoch; /* the block, and how many barriers it had had */
    uint16_t thread;       /* of the block, or one of the numbers below */
    uint16_t clock;        /* of its warp (below), when the thread last met others of it */
    uint16_t part;         /* fences that the thread had made (races_block.cpp) */
    uint32_t lanes;        /* of A_WARP */
    /* Of THE_GRID: names of the last one, and of what stands for those before; where the last of those was. */
    uint32_t last, before, place_before;
};
enum : uint16_t { A_WARP = 0x8000 /* and the warp's number */, A_BLOCK = 0xffff };
enum : uint32_t { THE_GRID = 0xffffffff /* as a block */ };

/* Names in cells: a segment's is even for plain accesses, the next one for atomic ones. */

/* What other blocks are known to have done: all before the epoch, and what some threads did in it. */
struct release {
    uint32_t epoch;
    std::vector<uint16_t> threads;
};
struct acquisition {
    uint16_t thread;
    uint32_t epoch; /* of its own block: after the next barrier all threads of the block know */
    release what;
};

/* A warp's clock goes on when some of its lanes meet. knows[a][b]: what lane b did before this clock is over for a. */
struct warp_order {
    uint16_t clock, knows[32][32];
    std::unordered_map<uint32_t, uint32_t> many; /* since then: segments by lanes */
};
typedef std::bitset<MOST_THREADS> some_threads;

static std::vector<segment> segments; /* of this launch */
static uint32_t first_name = FIRST_NAME, next_name = FIRST_NAME;
static uint32_t block, epoch, fence_epoch; /* the epoch after the last one with a fence; 0: none */
static std::vector<warp_order> warp_orders;
static std::unordered_map<uint16_t, uint32_t> many_in_block;   /* since its last barrier: segments by `part` */
static std::unordered_map<uint32_t, some_threads> all_threads; /* of all such segments, by name */
static uint32_t those_name;                                    /* the one that was asked for last; 0: none */
static some_threads *those_now;
static std::unordered_map<uint64_t, uint32_t> many_in_grid;                           /* by their names and place */
static std::unordered_map<uintptr_t, std::unordered_map<uint32_t, release>> released; /* by address, then block */
static std::unordered_map<uint32_t, std::vector<acquisition>> acquired;               /* by the other block */

static const segment &segment_of(uint32_t name)
{
    return segments[(name - first_name) / 2];
}

static uint32_t add_segment(const segment &made)
{
    segments.push_back(made);
    next_name += 2;
    return next_name - 2;
}

/* The running thread's. */
static uint32_t own_segment(thread &own)
{
    if (own.segment < first_name || segment_of(own.segment).epoch != epoch || segment_of(own.segment).block != block ||
        segment_of(own.segment).clock != (uint16_t)own.warp_clock || segment_of(own.segment).thread != own.place ||
        segment_of(own.segment).part != part_of_thread(own.place))
        own.segment = add_segment(
            {block, epoch, (uint16_t)own.place, (uint16_t)own.warp_clock, part_of_thread(own.place), 0, 0, 0, 0});
    return own.segment;
}

static void segments_begin_launch()
{
    first_name = next_name;
    segments.clear();
    all_threads.clear();
    those_name = 0;
    many_in_grid.clear();
    released.clear();
}

static void segments_barrier()
{
    many_in_block.clear();
    for (warp_order &its : warp_orders)
        its.many.clear();
}

static void segments_begin_block(unsigned count)
{
    epoch = fence_epoch = 0;
    warp_orders.resize(count);
    for (warp_order &its : warp_orders) {
        its.clock = 0;
        memset(its.knows, 0, sizeof(its.knows));
    }
    segments_barrier();
}

static unsigned segments_warp_barrier(unsigned warp, unsigned lanes)
{
    warp_order &its = warp_orders[warp];
    uint16_t all[32] = {};

    its.many.clear();
    its.clock++;
    for (unsigned left = lanes; left != 0; left &= left - 1)
        for (unsigned i = 0; i < 32; i++)
            all[i] = std::max(all[i], its.knows[__builtin_ctz(left)][i]);
    for (unsigned left = lanes; left != 0; left &= left - 1)
        all[__builtin_ctz(left)] = its.clock;
    for (unsigned left = lanes; left != 0; left &= left - 1)
        memcpy(its.knows[__builtin_ctz(left)], all, sizeof(all));
    return its.clock;
}

static unsigned warp_of(const segment &s)
{
    return s.thread & A_WARP ? s.thread & ~A_WARP : s.thread / 32u;
}

/* Of a thread or of lanes of a warp. */
static uint32_t lanes_of(const segment &s)
{
    return s.thread & A_WARP ? s.lanes : 1u << s.thread % 32;
}

static bool is_acquired(uint32_t name, const segment &own)
{
    const segment &old = segment_of(name);
    const auto found = acquired.find(old.block);
    some_threads left;

    if (found == acquired.end())
        return false;
    if (old.thread == A_BLOCK)
        left = all_threads[name & ~1u];
    else
        for (uint32_t lanes = lanes_of(old); lanes != 0; lanes &= lanes - 1)
            left.set(warp_of(old) * 32 + (unsigned)__builtin_ctz(lanes));
    for (const acquisition &a : found->second) {
        if (a.thread != own.thread && a.epoch >= own.epoch)
            continue;
        if (old.epoch < a.what.epoch)
            return true;
        if (old.epoch == a.what.epoch)
            for (const uint16_t thread : a.what.threads)
                left.reset(thread);
    }
    return left.none();
}

static bool is_over_in_warp(const segment &old, const segment &own)
{
    const uint16_t *const knows = warp_orders[warp_of(own)].knows[own.thread % 32];

    for (uint32_t lanes = lanes_of(old) & ~(1u << own.thread % 32); lanes != 0; lanes &= lanes - 1)
        if (old.clock >= knows[__builtin_ctz(lanes)])
            return false;
    return true;
}

/* Of each of several threads of the block. */
static bool are_known(uint32_t name, const segment &own)
{
    const segment &old = segment_of(name);
    const some_threads &those = all_threads[name & ~1u];
    const uint16_t *const knows = warp_orders[warp_of(own)].knows[own.thread % 32];

    for (unsigned i = 0; i < those.size(); i++)
        if (those.test(i) && i != own.thread && !(i / 32 == warp_of(own) && old.clock < knows[i % 32]) &&
            !block_order_knows(own.thread, i, old.part, i / 32, UINT16_MAX))
            return false;
    return true;
}

static bool is_one_over(uint32_t name, const segment &own, bool in_shared)
{
    const segment &old = segment_of(name);

    if (old.block != own.block)
        return in_shared || is_acquired(name, own);
    if (old.epoch != own.epoch)
        return true;
    if (old.thread == own.thread)
        return true;
    if (old.thread == A_BLOCK)
        return are_known(name, own);
    return (warp_of(old) == warp_of(own) && is_over_in_warp(old, own)) ||
           block_order_knows(own.thread, old.thread, old.part, warp_of(old), old.clock);
}

/* Of what `name` stands for, the last that did not come before what `own` does now; 0 for none. *place gets where that
 * was. Atomic operations need no order among themselves. Blocks that share memory follow each other. */
static uint32_t not_over(uint32_t name, const segment &own, bool is_atomic, bool in_shared, uint32_t *place)
{
    const auto is_late = [&](uint32_t one) {
        return one >= first_name && !(is_atomic && (one & 1)) && !is_one_over(one, own, in_shared);
    };

    for (; name >= first_name && segment_of(name).block == THE_GRID; name = segment_of(name).before) {
        if (is_late(segment_of(name).last))
            return segment_of(name).last;
        *place = segment_of(name).place_before;
    }
    return is_late(name) ? name : 0;
}

/* The name, or that of the last block that it stands for. */
static uint32_t last_of(uint32_t name)
{
    return segment_of(name).block == THE_GRID ? segment_of(name).last : name;
}

static some_threads &threads_of(uint32_t name)
{
    if (those_name != name)
        those_now = &all_threads[name];
    those_name = name;
    return *those_now;
}

/* Whether what `name` stands for already has the running thread in it. */
static inline bool stands_for_own(uint32_t name, uint32_t own_name)
{
    if (name < first_name)
        return false;

    const uint32_t last = last_of(name);
    const segment &s = segment_of(last);

    if (last == own_name)
        return true;
    if (s.thread == A_BLOCK && s.block == block && s.epoch == epoch)
        return s.part >= part_of_thread(self->place) && threads_of(last & ~1u).test(self->place);
    return s.block == block && s.epoch == epoch && s.thread == (A_WARP | self->place / 32) &&
           (s.lanes >> self->place % 32 & 1) != 0 && s.clock >= (uint16_t)self->warp_clock;
}

/* A segment that stands for two of one block. */
static uint32_t joined_in_block(uint32_t name, uint32_t own_name)
{
    const segment old = segment_of(name), own = segment_of(own_name);
    segment made = own;

    if (is_one_over(name, own, false))
        return own_name;
    if (old.thread != A_BLOCK && warp_of(old) == warp_of(own)) {
        made.lanes = lanes_of(old) | lanes_of(own);
        made.thread = (uint16_t)(A_WARP | warp_of(own));
        made.clock = warp_orders[warp_of(own)].clock;

        uint32_t &many = warp_orders[warp_of(own)].many[made.lanes];

        return many != 0 ? many : many = add_segment(made);
    }
    made.thread = A_BLOCK;
    made.part = std::max(old.part, own.part);

    uint32_t &many = many_in_block[made.part];

    if (many == 0)
        many = add_segment(made);
    threads_of(many).set(own.thread);
    if (old.thread == A_BLOCK)
        threads_of(many) |= all_threads[name];
    else
        for (uint32_t lanes = lanes_of(old); lanes != 0; lanes &= lanes - 1)
            threads_of(many).set(warp_of(old) * 32 + (unsigned)__builtin_ctz(lanes));
    uint16_t &clock = segments[(many - first_name) / 2].clock;
    clock = std::max({clock, old.clock, own.clock});
    return many;
}

/* A segment that stands for both, of which one was at `place`. Of each block the last one is kept: whoever has learnt
 * of it knows of those before. */
static uint32_t joined(uint32_t name, uint32_t place, uint32_t own_name)
{
    const segment old = segment_of(name);
    const uint32_t last = last_of(name);
    const bool of_one_block = segment_of(last).block == block && ((last ^ own_name) & 1) == 0;
    const uint32_t added = of_one_block ? joined_in_block(last & ~1u, own_name & ~1u) | (own_name & 1) : own_name;

    if (of_one_block && old.block != THE_GRID)
        return added;

    const uint32_t before = of_one_block ? old.before : name, place_before = of_one_block ? old.place_before : place;
    uint32_t &many = many_in_grid[((uint64_t)before << 32 | added) ^ place_before * UINT64_C(0x9E3779B97F4A7C15)];

    if (many == 0)
        many = add_segment({THE_GRID, 0, 0, 0, 0, 0, added, before, place_before});
    return many | (own_name & 1);
}

} /* namespace emulated */

#endif
