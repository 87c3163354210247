/*
 * fiber.h: a second stack to run on, and switching to it without a system call.
 *
 * A fiber must be started anew before another host thread runs it, since compilers keep the address of thread-local
 * variables across calls. Under AddressSanitizer every switch is announced, so that it knows
 * the stack in use.
 */
#ifndef RUNGS_FIBER_H
#define RUNGS_FIBER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_ASAN 1
#endif
#endif

/* Other machines; -DEMULATED_UCONTEXT=1 to try it on these. */
#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(EMULATED_UCONTEXT)
#undef EMULATED_UCONTEXT
#define EMULATED_UCONTEXT 1
#include <ucontext.h>
#endif

namespace emulated
{

struct fiber {
    void *stack_pointer; /* while it does not run */
    const void *stack;   /* its lowest address, and size in bytes; of a host thread: set at the first switch from it */
    size_t stack_size;
    void *fake_stack;       /* AddressSanitizer's */
    struct task *next_task; /* what the scheduler wants it to run */
    uint64_t start;         /* the scheduler's: when it was started */
#ifdef EMULATED_UCONTEXT
    ucontext_t context;
#endif
};

/* A fiber with a stack of its own, guarded below; NULL when there is no memory. It never goes away: stacks are
 * reused. */
fiber *fiber_create(unsigned colour);

/* Whether an access to this address met the guard below the fiber's stack. */
bool fiber_is_full(const fiber *f, const void *address);

/* Prepares the fiber to start at entry(), which must first call fiber_entered() and never return. Whatever waits on its
 * stack is forgotten; `dropped` says that this may be more than entry() itself, that is, after fiber_abandon(). */
void fiber_start_at(fiber *f, void (*entry)(), bool dropped);

/* Asks for what the next switch to it will read first: its registers, and the frames of whoever waits there. */
[[gnu::always_inline]] inline void fiber_prefetch(const fiber *f)
{
#ifndef EMULATED_UCONTEXT
    const char *const top = static_cast<const char *>(f->stack_pointer);

    for (int line = 0; line < 4; line++)
        __builtin_prefetch(top + 64 * line, 1);
#else
    (void)f;
#endif
}

/* Goes on with `to`; returns when somebody switches back to `from`. */
void fiber_switch(fiber *from, fiber *to);
/* The same for good: what runs now on `from` is dropped. */
[[noreturn]] void fiber_abandon(fiber *from, fiber *to);
/* `host` learns the bounds of the host thread's stack when the switch came from there. */
void fiber_entered(fiber *host);

} /* namespace emulated */

#endif
