/*
 * races_block.cpp: what orders two threads of one block besides barriers: a fence, an atomic operation behind it, and
 * one of another thread that comes later at the same address.
 *
 * What a thread does is cut at its fences into parts, numbered from 0. With an atomic operation it publishes at that
 * address which parts are behind it: its own up to its last fence, what its warp did before __syncwarp(), and all that
 * it knows of other states. Whoever comes to the address later knows that, too. A barrier makes all of it superfluous.
 */
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "common/emulator/races_internal.h"

namespace emulated
{

/* Of this thread the parts before `parts`; of its warp what was done before its clock was `clock`. */
struct known {
    uint16_t thread, parts, clock;
};
typedef std::vector<known> knowledge;

struct state_of_thread {
    uint16_t part;
    bool fenced; /* since the last barrier */
    uint16_t clock_at_fence;
    knowledge knows;
};

static std::vector<state_of_thread> states;
static std::unordered_map<uintptr_t, knowledge> published;
static bool in_use; /* since the last barrier some thread has fenced */

static void learn_fact(knowledge &its, const known &fact)
{
    for (known &old : its)
        if (old.thread == fact.thread) {
            old.parts = std::max(old.parts, fact.parts);
            old.clock = std::max(old.clock, fact.clock);
            return;
        }
    its.push_back(fact);
}

static void learn_all(knowledge &its, const knowledge &other)
{
    for (const known &fact : other)
        learn_fact(its, fact);
}

void block_order_begins(unsigned count)
{
    states.assign(count, {});
    published.clear();
    in_use = false;
}

void block_order_barrier()
{
    if (!in_use)
        return;
    for (state_of_thread &t : states) {
        t.fenced = false;
        t.knows.clear();
    }
    published.clear();
    in_use = false;
}

uint16_t part_of_thread(unsigned thread)
{
    return states[thread].part;
}

void block_order_fence(unsigned thread, unsigned clock)
{
    state_of_thread &own = states[thread];

    own.part++;
    own.fenced = true;
    own.clock_at_fence = (uint16_t)clock;
    in_use = true;
}

void block_order_atomic(uintptr_t address, unsigned thread, bool writes)
{
    if (!in_use)
        return;

    state_of_thread &own = states[thread];
    const auto found = published.find(address);

    if (found != published.end())
        learn_all(own.knows, found->second);
    if (!writes || !own.fenced)
        return;
    knowledge &there = published[address];

    learn_all(there, own.knows);
    learn_fact(there, {(uint16_t)thread, own.part, own.clock_at_fence});
}

void block_order_warp(unsigned warp, unsigned lanes)
{
    knowledge all;

    if (!in_use)
        return;
    for (unsigned left = lanes; left != 0; left &= left - 1)
        learn_all(all, states[warp * 32 + (unsigned)__builtin_ctz(left)].knows);
    for (unsigned left = lanes; left != 0; left &= left - 1)
        learn_all(states[warp * 32 + (unsigned)__builtin_ctz(left)].knows, all);
}

bool block_order_knows(unsigned thread, unsigned other, unsigned part, unsigned warp, unsigned clock)
{
    if (in_use)
        for (const known &fact : states[thread].knows)
            if ((fact.thread == other && part < fact.parts) || (fact.thread / 32u == warp && clock < fact.clock))
                return true;
    return false;
}

} /* namespace emulated */
