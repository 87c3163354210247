/*
 * emulated_core.h: what translated .cu code needs of the emulator: launches, the running thread, shared memory,
 * barriers and warp collectives. common/emulator/emulator.cpp implements it.
 */
#ifndef RUNGS_EMULATED_CORE_H
#define RUNGS_EMULATED_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <type_traits>
#include <utility> /* as CUDA's own; initializer_list with it */

#include "vector_types.h"

struct CUstream_st;
typedef struct CUstream_st *cudaStream_t;

namespace emulated
{

/* ------------------------------------------------------------------------------------------- the running thread */

struct block {
    uint3 index;
    dim3 size, grid;
};

struct thread {
    uint3 index;
    unsigned lane;
    int atomics_left; /* until another thread gets a turn */
    unsigned place;   /* within its block */
    /* For races.cpp. */
    uint32_t segment;
    unsigned warp_clock;
    struct block *block;
};

extern __thread struct thread *self; /* NULL outside of kernels */

/* Ends the launch with cudaErrorLaunchFailure; the message says after kernel, block and thread what went wrong. */
[[noreturn]] void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lets another thread of the block run. */
void yield();

/* Called by every atomic operation. Now and then it yields: atomics are where threads of a block meet without a
 * barrier, so their order should vary there, and a loop that waits for another thread's atomic must let that thread
 * run. */
inline void count_atomic()
{
    if (--self->atomics_left <= 0)
        yield();
}

/* cooperative.cpp: all threads of the grid meet, in a launch for which all blocks run at the same time. */
bool grid_can_meet();
void grid_barrier(const char *file, int line);

enum class vote { none, count, all, any };
/* __syncthreads() and its three voting forms. */
int barrier(vote kind, int value, const char *name, const char *file, int line);

/* A warp collective: waits until all lanes of `mask` that have not ended call the same one with the same mask; then
 * `compute` is called once, with the operand of each participating lane (NULL for others). */
typedef void compute_function(void *const operands[32]);
void collective(const char *name, compute_function *compute, unsigned mask, void *operand, const char *file, int line);

/* ------------------------------------------------------------------------------------------------ shared memory */

void *shared_memory(const char *site, const char *name, size_t size);
void *dynamic_shared_memory();

/* Becomes whatever type the translated declaration asks for: int (&tile)[32][33] = EMULATED_SHARED(tile). */
struct shared_variable {
    const char *site, *name;
    template <class T> operator T &() const
    {
        static_assert(std::is_trivially_destructible_v<T>, "shared variables must be plain data");
        return *static_cast<T *>(shared_memory(site, name, sizeof(T)));
    }
};
struct dynamic_shared_array {
    template <class T> operator T *() const
    {
        return static_cast<T *>(dynamic_shared_memory());
    }
};
/* ----------------------------------------------------------------------------------------------------- launches */

/* A kernel as a pointer. Dependent on Tag, so that a template can ask whether its argument is one function: an
 * overloaded name or a template with arguments to deduce is not. */
template <class Tag, class... Parameters> auto pointer_to(void (*kernel)(Parameters...))
{
    return kernel;
}

struct launch_site {
    const char *name, *file;
    int line;
    const void *kernel; /* its address; NULL when that is not known */
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

/* Calls body(context) once for each thread. */
void run(const launch_site &site, void (*body)(void *context), void *context);

/* Whether a kernel can follow this pointer, its argument number `position`; if not, the launch fails. */
bool check_pointer(const launch_site &site, int position, const volatile void *pointer);

template <class Argument> bool check_argument(const launch_site &site, int position, const Argument &argument)
{
    if constexpr (std::is_pointer_v<Argument> && !std::is_function_v<std::remove_pointer_t<Argument>>)
        return check_pointer(site, position, argument);
    else if constexpr (requires { *argument.data; }) /* struct image by value */
        return !std::is_pointer_v<decltype(argument.data)> || check_pointer(site, position, argument.data);
    else
        return true;
}

template <class Body> void run_now(const launch_site &site, const Body &body)
{
    run(
        site, [](void *context) { (*static_cast<const Body *>(context))(); },
        const_cast<void *>(static_cast<const void *>(&body)));
}

/* Arguments are copies made once, on the host, as in CUDA; kernel(arguments...) is one thread. */
template <class Kernel, class... Arguments>
void run_with(const launch_site &site, const Kernel &kernel, const Arguments &...arguments)
{
    const auto body = [&] { kernel(arguments...); };
    [[maybe_unused]] int position = 0;

    if ((check_argument(site, ++position, arguments) && ...))
        run_now(site, body);
}

/* Whether a launch is for later: cudaStreamBeginCapture() has been called for its stream and the end has not, so that
 * keep() adds it to the graph, or work on streams is put off (RUNGS_EMULATOR_LATE). */
bool is_for_later(const launch_site &site);
/* work(context) may be called several times; release(context) when it never will be again. No std::function: each
 * kernel's compiler would read <functional>, which is as long as all the rest. */
void keep(cudaStream_t stream, void (*work)(const void *context), void *context, void (*release)(void *context));

/* Runs now, later, or each time that the graph does. */
template <class Kernel, class... Arguments>
void run_or_keep(const launch_site &site, const Kernel &kernel, const Arguments &...arguments)
{
    launch_site later = site;

    if (!is_for_later(site)) {
        run_with(site, kernel, arguments...);
        return;
    }
    later.stream = nullptr; /* the stream may be gone by then */
    const auto body = [=] { run_with(later, kernel, arguments...); };
    using Body = decltype(body);
    keep(
        site.stream, [](const void *context) { (*static_cast<Body *>(context))(); },
        const_cast<void *>(static_cast<const void *>(new Body(body))),
        [](void *context) { delete static_cast<Body *>(context); });
}

/* A parameter with a copy constructor or a destructor of its own. CUDA copies it once, on the host, and hands its bytes
 * to each thread, where nothing is constructed or destroyed. Such a parameter is passed by address (Itanium C++ ABI,
 * 3.1.2), so the kernel can be called with the address of a copy of the bytes. */
template <class T>
inline constexpr bool has_own_copies =
    !std::is_trivially_copy_constructible_v<T> || !std::is_trivially_move_constructible_v<T> ||
    !std::is_trivially_destructible_v<T>;

template <class T> struct bytes_of {
    alignas(T) unsigned char bytes[sizeof(T)];

    explicit bytes_of(const T &value)
    {
        __builtin_memcpy(bytes, static_cast<const void *>(&value), sizeof(T));
    }
    operator void *()
    {
        return bytes;
    }
};

template <class... Parameters> struct bytes_kernel {
    void (*kernel)(std::conditional_t<has_own_copies<Parameters>, void *, Parameters>...);

    void operator()(const Parameters &...arguments) const
    {
        kernel(std::conditional_t<has_own_copies<Parameters>, bytes_of<Parameters>, Parameters>(arguments)...);
    }
};

/* What is left to call with the arguments. With the kernel's pointer known they become its parameters' types here, as
 * NULL must; else the kernel's name is looked up with the types that they have. */
template <class Kernel, class... Parameters> struct launcher {
    launch_site site;
    Kernel kernel;

    void operator()(Parameters... arguments) const
    {
        if constexpr ((std::is_lvalue_reference_v<Parameters> || ...)) /* to managed memory: never copied */
            run_now(site,
                    [&] { reinterpret_cast<void (*)(Parameters...)>(const_cast<void *>(site.kernel))(arguments...); });
        else if constexpr ((has_own_copies<Parameters> || ...))
            run_or_keep(site,
                        bytes_kernel<Parameters...>{reinterpret_cast<decltype(bytes_kernel<Parameters...>::kernel)>(
                            const_cast<void *>(site.kernel))},
                        arguments...);
        else if (is_for_later(site)) /* `kernel` may refer to a variable that holds the pointer */
            run_or_keep(site, reinterpret_cast<void (*)(Parameters...)>(const_cast<void *>(site.kernel)), arguments...);
        else
            run_with(site, kernel, arguments...);
    }

    /* The kernel's default arguments stand for the rest. */
    template <class... First>
    requires(sizeof...(First) < sizeof...(Parameters)) void operator()(First... first) const
    {
        run_or_keep(site, kernel, first...);
    }
};

template <class Kernel> struct deducing_launcher {
    launch_site site;
    Kernel kernel;

    template <class... Arguments> void operator()(Arguments... arguments) const
    {
        run_or_keep(site, kernel, arguments...);
    }
};

/* What stands before <<<. */
template <class Launcher> struct named_kernel {
    Launcher launcher;

    Launcher operator()(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr) const
    {
        Launcher configured = launcher;

        configured.site.grid = grid;
        configured.site.block = block;
        configured.site.shared_bytes = shared_bytes;
        configured.site.stream = stream;
        return configured;
    }
};

template <class Kernel, class... Parameters>
named_kernel<launcher<Kernel, Parameters...>> name_kernel(const char *name, const char *file, int line, Kernel kernel,
                                                          void (*pointer)(Parameters...))
{
    return {{{name, file, line, reinterpret_cast<const void *>(pointer), {}, {}, 0, nullptr}, kernel}};
}

template <class Kernel>
named_kernel<deducing_launcher<Kernel>> name_kernel(const char *name, const char *file, int line, Kernel kernel,
                                                    decltype(nullptr))
{
    return {{{name, file, line, nullptr, {}, {}, 0, nullptr}, kernel}};
}

} /* namespace emulated */

/* The argument may hold commas: blur<15, 3>. */
#define EMULATED_KERNEL(...)                                                                                           \
    ::emulated::name_kernel(                                                                                           \
        #__VA_ARGS__, __FILE__, __LINE__, [&](auto... emulated_arguments) { __VA_ARGS__(emulated_arguments...); },     \
        [&]<class Emulated>(Emulated) {                                                                                \
            if constexpr (requires { ::emulated::pointer_to<Emulated>(__VA_ARGS__); })                                 \
                return ::emulated::pointer_to<Emulated>(__VA_ARGS__);                                                  \
            else                                                                                                       \
                return nullptr;                                                                                        \
        }(0))

/* The static in the lambda identifies the variable, also in each instance of a template. */
#define EMULATED_SHARED(name)                                                                                          \
    (::emulated::shared_variable{[]() -> const char * {                                                                \
                                     static char site;                                                                 \
                                     return &site;                                                                     \
                                 }(),                                                                                  \
                                 #name})
#define EMULATED_DYNAMIC_SHARED (::emulated::dynamic_shared_array{})

#endif
