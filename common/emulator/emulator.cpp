/*
 * emulator.cpp: runs a kernel launch: blocks on host threads, the threads of a block as fibers, in random order.
 *
 * A task is one CUDA thread. It runs until it waits (barrier, warp collective), yields or ends; then a random one of
 * the block's ready tasks goes on. A fiber whose task has ended starts the next unstarted task itself, so a kernel
 * without barriers is a plain loop of calls without any switch. When nothing is ready and something still waits, the
 * kernel is broken, and what waits for what is the explanation.
 */
#include "common/emulator/emulator.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <thread>
#include <vector>

#include "common/emulator/counters.h"
#include "common/emulator/emulator_state.h"
#include "common/emulator/launch_order.h"
#include "common/emulator/races.h"
#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#endif

extern "C" {
__thread dim3 emulated_block_size, emulated_grid_size; /* blockDim and gridDim of whole programs */
}

namespace emulated
{

__thread struct thread *self;
__thread worker *active;
static std::mutex workers_mutex;
static std::vector<worker *> *idle_workers; /* never destroyed: kernels may run while the program ends */

/* ------------------------------------------------------------------------------------------------- counts */

static std::atomic<uint64_t> launch_count, thread_count, shared_most, barrier_count, wait_count, atomic_count;
static std::atomic<enum emulator_lack> lacking;
std::atomic<uint64_t> lane_steps, warp_steps, global_loads, global_atomics, busiest_steps, host_bytes;

static void count_most(std::atomic<uint64_t> &count, uint64_t value)
{
    uint64_t most = count.load(std::memory_order_relaxed);

    while (value > most && !count.compare_exchange_weak(most, value, std::memory_order_relaxed))
        continue;
}

void count_shared(uint64_t bytes)
{
    count_most(shared_most, bytes);
}

/* A lane has come to where it meets others, or to its end. */
static void count_lane(worker &w, task &t)
{
    warp &its = w.warps[t.place / 32];

    if (t.steps == 0)
        return;
    its.most_steps = std::max(its.most_steps, t.steps);
    w.lane_steps += t.steps;
    t.all_steps += t.steps;
    w.busiest_steps = std::max(w.busiest_steps, t.all_steps);
    t.steps = 0;
}

/* Its lanes have met: the warp has taken as many steps as the busiest of them, and the others have idled. */
static void count_warp(worker &w, warp &its)
{
    w.warp_steps += its.most_steps;
    its.most_steps = 0;
}

/* --------------------------------------------------------------------------------------------------- scheduling */

/* At a place drawn by lot. With all of them placed so, any order is as likely as any other, and so is any next one. */
static void make_ready(worker &w, task &t)
{
    const unsigned place = random_below(&w.random, w.ready_count + 1);

    t.state = state::ready;
    w.ready[w.ready_count++] = w.ready[place];
    w.ready[place] = &t;
}

/* Of a thousand tasks and stacks few are in the nearest cache: what a switch needs is asked for some switches before, a
 * task, the fiber that it names, its stack. Inlined: gcc leaves out the call of a function that computes nothing. */
[[gnu::always_inline]] static inline void fetch_ahead(const worker &w)
{
    enum : unsigned { TASK = 12, FIBER = 8, STACK = 4 };

    if (w.ready_count < TASK)
        return;
    __builtin_prefetch(w.ready[w.ready_count - TASK], 1);
    __builtin_prefetch(w.ready[w.ready_count - FIBER]->fiber, 1); /* NULL asks for nothing */
    if (const fiber *const f = w.ready[w.ready_count - STACK]->fiber; f != nullptr)
        fiber_prefetch(f);
}

/* A random ready task; NULL when all have ended. */
static task *pick(worker &w)
{
    task *t;

    if (w.launch->failed.load(std::memory_order_relaxed))
        drop_block();
    if (w.ready_count == 0) {
        if (w.live == 0)
            return nullptr;
        keep_divergence(w);
        drop_block();
    }
    t = w.ready[--w.ready_count];
    fetch_ahead(w);
    return t;
}

static void switch_to(worker &w, fiber *to)
{
    fiber *from = w.current;

    w.current = to;
    fiber_switch(from, to);
}

static void fiber_entry();

static fiber *take_idle_fiber(worker &w)
{
    fiber *f;

    if (w.idle.empty()) {
        f = fiber_create((unsigned)w.fibers.size());
        if (f == nullptr)
            fault("no memory for the stack of another thread");
        fiber_start_at(f, fiber_entry, false);
        f->start = w.starts;
        w.fibers.push_back(f);
        return f;
    }
    f = w.idle.back();
    w.idle.pop_back();
    if (f->start != w.starts) {
        fiber_start_at(f, fiber_entry, false);
        f->start = w.starts;
    }
    return f;
}

/* Goes on with `next`, which is not the task that runs now. */
static void resume(worker &w, task *next)
{
    fiber *f = next->fiber;

    if (f == nullptr) {
        f = take_idle_fiber(w);
        f->next_task = next;
    } else {
        self = next;
    }
    switch_to(w, f);
}

/* Runs other tasks until one of them has made the current task ready and the scheduler has chosen it again. */
static void wait(worker &w)
{
    task *const own = static_cast<task *>(self), *const next = pick(w);

    if (next != own)
        resume(w, next);
}

static void count_atomics(worker &w, const task &t)
{
    w.atomics += (uint64_t)(t.atomics_given - t.atomics_left);
}

void yield()
{
    worker &w = *active;
    task &own = *static_cast<task *>(self);

    count_atomics(w, own);
    own.atomics_left = own.atomics_given = 1 + (int)random_below(&w.random, 64);
    make_ready(w, own);
    wait(w);
}

static void complete_collective(worker &w, warp &its, const task &first);

static void end_task(worker &w, task &t)
{
    warp &its = w.warps[t.place / 32];

    races_thread_ends();
    count_atomics(w, t);
    t.state = state::ended;
    w.live--;
    its.gone |= 1u << t.lane;
    count_lane(w, t);
    counters_thread_ends(w, t);
    t.all_steps = 0;
    if (its.gone == ~0u)
        count_warp(w, its);
    for (unsigned left = its.waiting; left != 0; left &= left - 1) /* some may have waited for this lane only */
        if ((its.waiting & left & -left) != 0)
            complete_collective(w, its, w.tasks[t.place / 32 * 32 + __builtin_ctz(left)]);
}

/* Runs tasks, one after the other, on a fiber. */
static void fiber_entry()
{
    worker &w = *active;

    fiber_entered(&w.host);
    for (;;) {
        fiber *const own = w.current;
        task *const t = own->next_task;
        task *next;

        t->fiber = own;
        self = t;
        w.launch->body(w.launch->context);
        end_task(w, *t);
        next = pick(w);
        if (next != nullptr && next->fiber == nullptr) {
            own->next_task = next;
            continue;
        }
        w.idle.push_back(own);
        if (next != nullptr)
            resume(w, next);
        else
            switch_to(w, &w.host);
    }
}

/* ------------------------------------------------------------------------------------- barriers and collectives */

int barrier(vote kind, int value, const char *name, const char *file, int line)
{
    worker &w = *active;
    task &own = *static_cast<task *>(self);

    own.call = {name, file, line};
    own.state = state::at_barrier;
    count_lane(w, own);
    if (w.at_barrier++ == 0) {
        w.votes = 0;
        w.barrier_mixed = false;
        w.barrier_call = own.call;
    }
    w.votes += value != 0;
    w.barrier_mixed = w.barrier_mixed || line != w.barrier_call.line ||
                      (file != w.barrier_call.file && strcmp(file, w.barrier_call.file) != 0);
    if (w.at_barrier == w.tasks.size() - w.left_out) {
        if (w.barrier_mixed) {
            keep_divergence(w);
            drop_block();
        }
        barrier_count.fetch_add(1, std::memory_order_relaxed);
        wait_count.fetch_add(w.at_barrier, std::memory_order_relaxed);
        for (warp &its : w.warps)
            count_warp(w, its);
        races_barrier();
        counters_barrier(w);
        w.barrier_result = kind == vote::all   ? w.votes == w.tasks.size() - w.left_out
                           : kind == vote::any ? w.votes > 0
                                               : (int)w.votes;
        w.at_barrier = 0;
        if (lacking.load(std::memory_order_relaxed) == EMULATOR_LACKS_SHARED_MEMORY)
            forget_shared_memory(w);
        for (task &t : w.tasks)
            if (t.state == state::at_barrier)
                make_ready(w, t);
    }
    wait(w);
    return w.barrier_result;
}

/* Completes the collective that `first` waits at, if all lanes of its mask are there. */
static void complete_collective(worker &w, warp &its, const task &first)
{
    const unsigned mask = first.mask, participants = mask & its.waiting;
    task *const lanes = &w.tasks[first.place / 32 * 32];

    if (((its.waiting | its.gone) & mask) != mask)
        return;
    void *operands[32] = {};
    for (unsigned left = participants; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);

        if (its.mixed && (lanes[lane].mask != mask || lanes[lane].compute != first.compute))
            return;
        operands[lane] = its.operands[lane];
    }
    static_cast<task *>(self)->quiet = true;
    first.compute(operands);
    static_cast<task *>(self)->quiet = false;
    its.waiting &= ~participants;
    count_warp(w, its);
    if (first.compute == compute_nothing) { /* __syncwarp(): no other collective orders accesses to memory */
        const unsigned clock = races_warp_barrier(first.place / 32, participants);

        for (unsigned left = participants; left != 0; left &= left - 1)
            lanes[__builtin_ctz(left)].warp_clock = clock;
    }
    for (unsigned left = participants; left != 0; left &= left - 1)
        make_ready(w, lanes[__builtin_ctz(left)]);
}

/* Flattened: with the calls of the switch in it, a shuffle takes a fifth less. (A barrier takes more.) */
[[gnu::flatten]] void collective(const char *name, compute_function *compute, unsigned mask, void *operand,
                                 const char *file, int line)
{
    worker &w = *active;
    task &own = *static_cast<task *>(self);
    warp &its = w.warps[own.place / 32];

    if ((mask >> own.lane & 1) == 0)
        fault("%s() in %s:%d has mask 0x%08x, which leaves out the calling lane %u", name, file, line, mask, own.lane);
    own.call = {name, file, line};
    own.mask = mask;
    own.compute = compute;
    own.state = state::at_collective;
    count_lane(w, own);
    if (its.waiting == 0) {
        its.mask = mask;
        its.compute = compute;
        its.mixed = false;
    }
    its.mixed = its.mixed || its.mask != mask || its.compute != compute;
    its.operands[own.lane] = operand;
    its.waiting |= 1u << own.lane;
    complete_collective(w, its, own);
    wait(w);
}

/* ------------------------------------------------------------------------------------------------------- blocks */

/* Ends the tasks before they begin that this launch does without. */
static void leave_out(worker &w)
{
    w.ready_count = 0;
    for (task &t : w.tasks)
        if (random_below(&w.random, 8) > 0) {
            make_ready(w, t);
        } else {
            t.state = state::ended;
            w.warps[t.place / 32].gone |= 1u << t.lane;
        }
    w.live = w.ready_count;
    w.left_out = (unsigned)w.tasks.size() - w.live;
}

static void run_block(worker &w, uint64_t number)
{
    const dim3 &grid = w.grid;

    w.number = number;
    w.index = {(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y), (unsigned)(number / grid.x / grid.y)};
    w.random = w.launch->seed + number;
    w.random = next_random(&w.random);
    w.at_barrier = 0;
    w.live = (unsigned)w.tasks.size();
    w.ready_count = 0;
    for (unsigned i = 0; i < w.live; i++) {
        task &t = w.tasks[i];

        t.fiber = nullptr;
        t.warp_clock = 0;
        t.quiet = false;
        t.atomics_left = t.atomics_given = 1 + (int)(i * 37 % 64);
        make_ready(w, t);
    }
    for (unsigned i = 0; i < w.warps.size(); i++) {
        const unsigned lanes = std::min(32u, w.live - 32 * i);

        w.warps[i].waiting = 0;
        w.warps[i].gone = lanes == 32 ? 0 : ~0u << lanes;
        w.warps[i].most_steps = 0;
    }
    w.left_out = 0;
    if (lacking.load(std::memory_order_relaxed) == EMULATOR_LACKS_THREADS)
        leave_out(w);
    for (shared_allocation &s : w.shared)
        s.in_use = false;
    if (w.dynamic_memory != nullptr) {
        fill_fresh_shared_memory(w.dynamic_memory, w.launch->site->shared_bytes, &w.random);
        races_fresh(w.dynamic_memory, w.launch->site->shared_bytes);
    }
    races_begin_block((uint32_t)number, (unsigned)w.warps.size());
    counters_begin_block(w);
    if (w.live > 0)
        resume(w, pick(w));
    self = nullptr;
    if (!w.dropped)
        check_shared_guards(w);
    races_end_block();
}

/* Makes a worker ready for blocks of this launch. */
static bool begin_launch(worker &w, running_launch *launch)
{
    const launch_site &site = *launch->site;

    w.launch = launch;
    w.size = emulated_block_size = site.block;
    w.grid = emulated_grid_size = site.grid;
    w.tasks.resize(launch->threads);
    w.ready.resize(launch->threads);
    w.warps.resize((launch->threads + 31) / 32);
    for (unsigned i = 0; i < launch->threads; i++) {
        task &t = w.tasks[i];

        t.index = {i % w.size.x, i / w.size.x % w.size.y, i / w.size.x / w.size.y};
        t.lane = i % 32;
        t.place = i;
        t.block = &w;
        t.call = {};
    }
    if (w.thread != &active) {
        w.host = {};
        w.starts++;
    }
    w.thread = &active;
    w.current = &w.host;
    w.idle = w.fibers;
    w.launches++;
    w.atomics = w.lane_steps = w.warp_steps = w.busiest_steps = 0;
    if (w.dropped)
        for (fiber *f : w.fibers)
            fiber_start_at(f, fiber_entry, true);
    w.dropped = false;
    w.dynamic_memory = site.shared_bytes > 0 ? guarded_allocate(site.shared_bytes) : nullptr;
    return site.shared_bytes == 0 || w.dynamic_memory != nullptr;
}

static void end_launch(worker &w)
{
    atomic_count.fetch_add(w.atomics, std::memory_order_relaxed);
    lane_steps.fetch_add(w.lane_steps, std::memory_order_relaxed);
    warp_steps.fetch_add(w.warp_steps, std::memory_order_relaxed);
    count_most(busiest_steps, w.busiest_steps);
    for (const shared_allocation &s : w.shared)
        guarded_free(s.memory, s.size);
    w.shared.clear();
    guarded_free(w.dynamic_memory, w.launch->site->shared_bytes);
    w.dynamic_memory = nullptr;
}

/* One host thread's share of a launch: blocks, until there are no more. */
static void run_blocks(running_launch *launch)
{
    worker *w = nullptr;
    stack_t signal_stack = {}, old_signal_stack = {};

    {
        const std::lock_guard<std::mutex> lock(workers_mutex);

        if (idle_workers == nullptr)
            idle_workers = new std::vector<worker *>;
        if (!idle_workers->empty()) {
            /* One that this host thread had, so that its fibers can go on. */
            for (worker *&idle : *idle_workers)
                if (idle->thread == &active)
                    std::swap(idle, idle_workers->back());
            w = idle_workers->back();
            idle_workers->pop_back();
        }
    }
    if (w == nullptr)
        w = new worker();
    active = w;
    signal_stack.ss_sp = w->signal_stack; /* a handler cannot run on the stack that overflows */
    signal_stack.ss_size = sizeof(w->signal_stack);
    sigaltstack(&signal_stack, &old_signal_stack);
    if (begin_launch(*w, launch)) {
        while (!launch->failed.load(std::memory_order_relaxed)) {
            const uint64_t turn = launch->next_block.fetch_add(1, std::memory_order_relaxed);

            if (turn >= launch->blocks)
                break;
            run_block(*w, shuffled(turn, launch->blocks, launch->seed));
        }
    } else {
        keep_message("", ": no memory for dynamic shared memory");
    }
    end_launch(*w);
    active = nullptr;
    sigaltstack(&old_signal_stack, nullptr);
    {
        const std::lock_guard<std::mutex> lock(workers_mutex);

        idle_workers->push_back(w);
    }
}

/* ----------------------------------------------------------------------------------------------------- launches */

/* A host thread is worth its start and its own stacks for about this many CUDA threads. */
static const uint64_t THREADS_PER_HOST_THREAD = 8192, MOST_HOST_THREADS = 256;

/* Constant from the start, so that it can be set before any constructor; 0: the environment says. */
static std::atomic<unsigned> configured_threads;

/* Host threads that have a device each launch at the same time; what watches a launch watches one. */
static std::mutex one_at_a_time;

void run(const launch_site &site, void (*body)(void *context), void *context)
{
    running_launch launch = {};
    std::vector<std::thread> helpers;
    uint64_t host_threads;

    if (self != nullptr)
        fault("launches kernel %s; the emulator has no launches from the device", site.name);
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (!launch_is_legal(site) || device_is_lost_now())
        return;
    observe_launch(site);
    launch_count.fetch_add(1, std::memory_order_relaxed);
    count_most(shared_most, site.shared_bytes);
    launch.site = &site;
    launch.body = body;
    launch.context = context;
    launch.threads = site.block.x * site.block.y * site.block.z;
    launch.blocks = (uint64_t)site.grid.x * site.grid.y * site.grid.z;
    if (!begin_cooperative_launch(site, launch.blocks))
        return;
    const operation_runs its_turn("kernel", site.stream, 0, false);
    launch.seed = next_launch_seed();
    thread_count.fetch_add(launch.blocks * launch.threads, std::memory_order_relaxed);
    if (lacking == EMULATOR_LACKS_KERNELS)
        return;
    host_threads = configured_threads;
    if (host_threads == 0)
        host_threads = number_from_environment("RUNGS_EMULATOR_THREADS", std::thread::hardware_concurrency());
    host_threads = std::min({std::max(host_threads, (uint64_t)1), MOST_HOST_THREADS, launch.blocks,
                             1 + launch.blocks * launch.threads / THREADS_PER_HOST_THREAD});
    if (is_cooperative_launch())
        host_threads = launch.blocks;
    else if (races_begin_launch(site))
        host_threads = 1;
    counters_begin_launch(site, launch.blocks, launch.blocks * ((launch.threads + 31) / 32));
    install_crash_notes();
    try {
        for (uint64_t i = 1; i < host_threads; i++)
            helpers.emplace_back(run_blocks, &launch);
    } catch (const std::system_error &) { /* fewer host threads do as well */
    }
    run_blocks(&launch);
    for (std::thread &helper : helpers)
        helper.join();
    races_end_launch();
    if (launch.failed) {
        const std::string line = line_of(launch.place);

        set_lasting_error(launch.error, launch.message + (line.empty() ? "" : "," + line));
    } else if (const std::string damage = damaged_allocation(); !damage.empty())
        set_lasting_error(cudaErrorIllegalAddress,
                          formatted("kernel %s (%s:%d): ", site.name, site.file, site.line) + damage);
}

} /* namespace emulated */

void emulator_configure(unsigned threads, bool late, enum emulator_lack lack)
{
    emulated::configured_threads = threads;
    emulated::lacking = lack;
    emulated::busiest_steps = emulated::host_bytes = 0;
    emulated::forget_busiest();
    emulated::set_late(late);
}

struct emulator_counts emulator_count(void)
{
    return {emulated::allocation_count(),  emulated::launch_count,
            emulated::thread_count,        emulated::shared_most,
            emulated::barrier_count,       emulated::atomic_count,
            emulated::stream_copy_count(), emulated::stream_download_count(),
            emulated::streams_at_once(),   emulated::waited_bytes(),
            emulated::busiest_bytes(),     emulated::lane_steps,
            emulated::warp_steps,          emulated::global_loads,
            emulated::global_atomics,      emulated::busiest_steps,
            emulated::host_bytes,          emulated::wait_count,
            emulated::counted_sectors(),   emulated::counted_conflicts()};
}
