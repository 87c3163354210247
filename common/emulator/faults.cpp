/*
 * faults.cpp: what an emulated kernel did wrong, in words.
 */
#include <algorithm>
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <mutex>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <ucontext.h>
#include <unistd.h>

#include "common/emulator/emulator_state.h"
#include "common/emulator/races.h"
#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace emulated
{

static std::string format_arguments(const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof(text), format, arguments);
    return text;
}

std::string formatted(const char *format, ...)
{
    std::string text;
    va_list arguments;

    va_start(arguments, format);
    text = format_arguments(format, arguments);
    va_end(arguments);
    return text;
}

static std::string describe(const uint3 &index)
{
    return formatted("(%u,%u,%u)", index.x, index.y, index.z);
}

static std::string describe(const task &t)
{
    const std::string place =
        t.call.name != nullptr ? formatted("%s() in %s:%d", t.call.name, t.call.file, t.call.line) : "";

    switch (t.state) {
    case state::at_barrier:
        return "waits at " + place;
    case state::at_collective:
        return "waits at " + place + formatted(" with mask 0x%08x", t.mask);
    case state::ended:
        return "has ended";
    case state::ready:
        break;
    }
    return "runs";
}

void keep_message(const std::string &kind, const std::string &text, cudaError_t error, uint32_t place)
{
    const worker &w = *active;
    const launch_site &site = *w.launch->site;
    const std::lock_guard<std::mutex> lock(w.launch->mutex);

    if (w.launch->message.empty() || w.number < w.launch->failed_block) {
        w.launch->failed_block = w.number;
        w.launch->error = error;
        w.launch->place = place;
        w.launch->message =
            kind + formatted("kernel %s (%s:%d), block ", site.name, site.file, site.line) + describe(w.index) + text;
    }
    w.launch->failed = true;
}

void drop_block()
{
    active->dropped = true;
    fiber_abandon(active->current, &active->host);
}

static void keep_fault(const char *format, va_list arguments)
{
    keep_message("", ", thread " + describe(self->index) + ": " + format_arguments(format, arguments));
}

void fault(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep_fault(format, arguments);
    va_end(arguments);
    drop_block();
}

void keep_divergence(const worker &w)
{
    const task *waiting = nullptr, *other = nullptr;

    for (const task &t : w.tasks) /* the first lane at a collective, and the first lane that it misses */
        if (t.state == state::at_collective && waiting == nullptr) {
            waiting = &t;
            for (unsigned lane = 0; lane < 32 && other == nullptr; lane++) {
                const unsigned number = t.place / 32 * 32 + lane;

                if ((t.mask >> lane & 1) != 0 && number < w.tasks.size() && w.tasks[number].state != state::ended &&
                    (w.tasks[number].state != state::at_collective || w.tasks[number].mask != t.mask ||
                     w.tasks[number].compute != t.compute))
                    other = &w.tasks[number];
            }
        }
    for (const task &t : w.tasks) /* else the first at a barrier, and the first that is not at the same one */
        if (waiting == nullptr && t.state == state::at_barrier)
            waiting = &t;
    for (const task &t : w.tasks)
        if (other == nullptr && waiting != nullptr && waiting->state == state::at_barrier &&
            (t.state != state::at_barrier || t.call.line != waiting->call.line ||
             strcmp(t.call.file, waiting->call.file) != 0))
            other = &t;
    keep_message("barrier divergence in ", ": thread " + describe(waiting->index) + " " + describe(*waiting) +
                                               ", but thread " + describe(other->index) + " " + describe(*other));
}

/* A thread's assert() has failed: what a GPU prints, before its kernel ends. */
static void keep_assertion(const char *assertion, const char *file, unsigned line, const char *function)
{
    const uint3 &b = active->index, &t = self->index;

    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line, function,
            b.x, b.y, b.z, t.x, t.y, t.z, assertion);
    keep_message("", ", thread " + describe(t) + ": assert(" + assertion + ") in " + file + formatted(":%u", line),
                 cudaErrorAssert);
}

/* Says on stderr which CUDA thread was running when the process is about to die. Async-signal-safe but for snprintf,
 * which on glibc allocates nothing for these conversions. */
static void note_running_thread()
{
    char text[512];
    int length;

    if (self == nullptr || active == nullptr)
        return;
    const launch_site &site = *active->launch->site;
    const auto lies_in = [](const dim3 &size, const auto &index) {
        return index.x < size.x && index.y < size.y && index.z < size.z;
    };
    length = snprintf(text, sizeof(text), "in kernel %s (%s:%d), ", site.name, site.file, site.line);
    /* A kernel that writes out of bounds may have met these numbers. */
    if (!lies_in(site.grid, active->index) || !lies_in(site.block, self->index))
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "which has overwritten memory of the emulator's own\n");
    else
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, "block (%u,%u,%u), thread (%u,%u,%u)\n",
                     active->index.x, active->index.y, active->index.z, self->index.x, self->index.y, self->index.z);
    if (write(STDERR_FILENO, text, (size_t)std::min(length, (int)sizeof(text) - 1)) < 0)
        return;
}

#ifdef EMULATED_ASAN
void install_crash_notes()
{
    __asan_set_error_report_callback([](const char *) { note_running_thread(); });
}
#else
#if defined(__x86_64__)
static const void *instruction_of(const ucontext_t *context)
{
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
}

static const char *verb_of(const ucontext_t *context)
{
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "writes" : "reads";
}
#elif defined(__aarch64__)
static const void *instruction_of(const ucontext_t *context)
{
    return (const void *)context->uc_mcontext.pc;
}

static const char *verb_of(const ucontext_t *)
{
    return "reads or writes";
}
#else
static const void *instruction_of(const ucontext_t *)
{
    return nullptr;
}

static const char *verb_of(const ucontext_t *)
{
    return "reads or writes";
}
#endif

/* The C library may hold locks of its own there, which nobody would give back. */
static bool is_of_c_library(const void *instruction)
{
    Dl_info info;

    return instruction == nullptr || dladdr(instruction, &info) == 0 || strstr(info.dli_fname, "/libc.") != nullptr;
}

static std::string describe_access(const char *verb, const void *address)
{
    const uintptr_t first_page = 64 << 10;
    const ptrdiff_t close = 64 << 10, near = 1 << 30;
    ptrdiff_t distance = 0;
    size_t bytes = 0;

    if (fiber_is_full(active->current, address))
        return "has no room left on its stack";
    if ((uintptr_t)address < first_page)
        return formatted("%s at address %p, through a pointer that is NULL", verb, address);
    /* Close to an allocation lie its own unreachable pages, even where another one was before it. */
    const bool known = nearest_allocation(address, &bytes, &distance);
    const ptrdiff_t apart = distance < 0 ? -distance : distance;
    if (const size_t freed = freed_bytes_at(address); freed > 0 && (!known || apart > close))
        return formatted("%s memory that has been freed, an allocation of %zu bytes", verb, freed);
    if (!known || apart > near)
        return formatted("%s at address %p, where nothing is allocated", verb, address);
    return distance < 0 ? formatted("%s %td bytes before an allocation of %zu bytes", verb, -distance, bytes)
                        : formatted("%s %td bytes behind an allocation of %zu bytes", verb, distance, bytes);
}

extern "C" const char __executable_start; /* the linker's */

static void end_kernel_or_process(int signal_number, siginfo_t *info, void *context_of_signal)
{
    const ucontext_t *const context = static_cast<const ucontext_t *>(context_of_signal);
    const char *const instruction = static_cast<const char *>(instruction_of(context));

    if (self != nullptr && active != nullptr && signal_number != SIGFPE && info->si_code > 0 &&
        !is_of_c_library(instruction)) {
        keep_message("", ", thread " + describe(self->index) + ": " + describe_access(verb_of(context), info->si_addr),
                     cudaErrorIllegalAddress, (uint32_t)(instruction - &__executable_start) + 1);
        drop_block();
    }
    note_running_thread();
    signal(signal_number, SIG_DFL); /* the instruction runs again and ends the process */
}

void install_crash_notes()
{
    struct sigaction action = {}, old;

    action.sa_sigaction = end_kernel_or_process;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_NODEFER; /* a handler that never returns would keep it blocked */
    for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE})
        if (sigaction(signal_number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signal_number, &action, nullptr);
}
#endif

} /* namespace emulated */

/* The C library's, which assert() calls. On the host it does what it does there. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) noexcept
{
    if (emulated::self != nullptr && emulated::active != nullptr) {
        emulated::keep_assertion(assertion, file, line, function);
        emulated::drop_block();
    }
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file, line, function,
            assertion);
    abort();
}
