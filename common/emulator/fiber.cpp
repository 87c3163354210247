#include "common/emulator/fiber.h"

#include <atomic>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* emulated_switch(void **save, void *load): pushes the registers that a callee must keep, stores the stack pointer in
 * *save, takes `load` for it and pops. EMULATED_FRAME words are what it pushes; START is the word popped last, where a
 * fresh stack holds the address to start at. */
#if defined(EMULATED_UCONTEXT)
/* The C library's swapcontext() instead: portable, but a system call each time. */
#elif defined(__x86_64__)
enum { EMULATED_FRAME = 7, EMULATED_START = 6 };
asm(R"(
    .text
    .p2align 4
    .type emulated_switch, %function
emulated_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulated_switch, .-emulated_switch
)");
#elif defined(__aarch64__)
enum { EMULATED_FRAME = 20, EMULATED_START = 11 };
asm(R"(
    .text
    .p2align 4
    .type emulated_switch, %function
emulated_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size emulated_switch, .-emulated_switch
)");
#endif
#ifndef EMULATED_UCONTEXT
extern "C" void emulated_switch(void **save, void *load) asm("emulated_switch");
#endif

namespace emulated
{

/* Enough for kernels with some KiB of local arrays, also with AddressSanitizer's gaps; memory is used only as
 * touched. */
static const size_t STACK_BYTES = 256 * 1024, PAGE_BYTES = 64 * 1024; /* the largest page of aarch64 */
/* So that stacks lie an odd number of small pages apart: with 80 between them a thousand would share an eighth of the
 * places in the processor's table of pages, and every switch would look up its page in memory. */
static const size_t SPARE_BYTES = 4096;
/* A guard splits a mapping in two, and a process has 65530 of them; stacks beyond these go unguarded. */
static const int MOST_GUARDS = 16384;
static std::atomic<int> guards;

fiber *fiber_create(unsigned colour)
{
    fiber *f = static_cast<fiber *>(calloc(1, sizeof(*f)));
    char *memory;

    if (f == nullptr)
        return nullptr;
    memory = static_cast<char *>(mmap(nullptr, STACK_BYTES + PAGE_BYTES + SPARE_BYTES, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
    if (memory == MAP_FAILED) {
        free(f);
        return nullptr;
    }
    if (guards.fetch_add(1, std::memory_order_relaxed) < MOST_GUARDS)
        mprotect(memory, PAGE_BYTES, PROT_NONE);
    f->stack = memory + PAGE_BYTES;
    /* Stacks start at different cache lines: with all at the same offset in a page, 256 of them would fight for the
     * eight ways of one cache set at every switch. */
    f->stack_size = STACK_BYTES - colour % 64 * 64;
    return f;
}

bool fiber_is_full(const fiber *f, const void *address)
{
    const char *const lowest = (const char *)f->stack, *const at = (const char *)address;

    return f->stack != nullptr && at < lowest && at >= lowest - PAGE_BYTES;
}

void fiber_start_at(fiber *f, void (*entry)(), bool dropped)
{
#ifdef EMULATED_ASAN
    /* Frames that never return leave their gaps poisoned: entry()'s own, or after a drop all. */
    const size_t used = dropped ? f->stack_size : 4096;

    __asan_unpoison_memory_region((const char *)f->stack + f->stack_size - used, used);
#else
    (void)dropped;
#endif
#ifdef EMULATED_UCONTEXT
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = const_cast<void *>(f->stack);
    f->context.uc_stack.ss_size = f->stack_size;
    f->context.uc_link = nullptr;
    makecontext(&f->context, entry, 0);
#else
    /* Two words stay free above the frame: on x86-64 the first stands where entry() expects its return address, and 0
     * there ends a debugger's backtrace; both keep the stack 16-byte aligned. */
    void **frame = (void **)((char *)f->stack + f->stack_size) - 2 - EMULATED_FRAME;

    memset(frame, 0, (EMULATED_FRAME + 2) * sizeof(*frame));
#if defined(__x86_64__)
    frame += 1; /* entry() starts as if called: 8 bytes below a multiple of 16 */
#endif
    frame[EMULATED_START] = reinterpret_cast<void *>(entry);
    f->stack_pointer = frame;
#endif
    f->fake_stack = nullptr;
}

static inline void switch_stacks(fiber *from, fiber *to)
{
#ifdef EMULATED_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    emulated_switch(&from->stack_pointer, to->stack_pointer);
#endif
}

void fiber_switch(fiber *from, fiber *to)
{
#ifdef EMULATED_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_size);
    switch_stacks(from, to);
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#else
    switch_stacks(from, to);
#endif
}

void fiber_abandon(fiber *from, fiber *to)
{
#ifdef EMULATED_ASAN
    __sanitizer_start_switch_fiber(nullptr, to->stack, to->stack_size);
#endif
    switch_stacks(from, to);
    abort(); /* not reached: nobody switches back */
}

void fiber_entered(fiber *host)
{
#ifdef EMULATED_ASAN
    const void *stack;
    size_t stack_size;

    __sanitizer_finish_switch_fiber(nullptr, &stack, &stack_size);
    if (host->stack == nullptr) {
        host->stack = stack;
        host->stack_size = stack_size;
    }
#else
    (void)host;
#endif
}

} /* namespace emulated */
