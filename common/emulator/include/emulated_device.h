/*
 * emulated_device.h: CUDA's device built-ins that depend on the running thread: indices, barriers, warp collectives,
 * atomics. The call site of a barrier or collective comes in through defaulted arguments.
 */
#ifndef RUNGS_EMULATED_DEVICE_H
#define RUNGS_EMULATED_DEVICE_H

#include <string.h>
#include <time.h>
#include <type_traits>

#include "emulated_core.h"

/* Where costs are counted (counters.h): functions are put into the kernel, and what is constant is told from the rest.
 */
#ifdef EMULATED_COUNTED
#define EMULATED_TEXT(x)    #x
#define EMULATED_SECTION(n) "rungs_constant_" EMULATED_TEXT(n)
#define __global__          __attribute__((unused, flatten))
#define __constant__        __attribute__((unused, section(EMULATED_SECTION(__COUNTER__))))
#else
#define __global__   __attribute__((unused))
#define __constant__ __attribute__((unused))
#endif
#define __device__ __attribute__((unused))
#define __host__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#ifdef EMULATED_PROGRAM /* which may call one through a pointer: gcc refuses that where it must inline */
#define __forceinline__ inline
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __align__(bytes) alignas(bytes)

#define threadIdx (static_cast<const ::uint3 &>(::emulated::self->index))
#define blockIdx  (static_cast<const ::uint3 &>(::emulated::self->block->index))
#ifdef EMULATED_PROGRAM
/* No macros: host code of many programs has variables of these names. Of the launch that this host thread runs. */
extern __thread const dim3 blockDim __asm__("emulated_block_size"), gridDim __asm__("emulated_grid_size");
#else
#define blockDim (static_cast<const ::dim3 &>(::emulated::self->block->size))
#define gridDim  (static_cast<const ::dim3 &>(::emulated::self->block->grid))
#endif
inline constexpr int warpSize = 32;

#define EMULATED_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* ----------------------------------------------------------------------------------------------------- barriers */

inline void __syncthreads(EMULATED_SITE)
{
    emulated::barrier(emulated::vote::none, 0, "__syncthreads", file, line);
}

inline int __syncthreads_count(int predicate, EMULATED_SITE)
{
    return emulated::barrier(emulated::vote::count, predicate, "__syncthreads_count", file, line);
}

inline int __syncthreads_and(int predicate, EMULATED_SITE)
{
    return emulated::barrier(emulated::vote::all, predicate, "__syncthreads_and", file, line);
}

inline int __syncthreads_or(int predicate, EMULATED_SITE)
{
    return emulated::barrier(emulated::vote::any, predicate, "__syncthreads_or", file, line);
}

inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Another order than the device's, by which the watch over races tells them apart. */
inline void __threadfence_block()
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

inline void __threadfence_system()
{
    __threadfence();
}

/* A kernel never starts before the one in front of it has ended. */
inline void cudaGridDependencySynchronize()
{
}

inline void cudaTriggerProgrammaticLaunchCompletion()
{
}

inline void __nanosleep(unsigned)
{
    emulated::yield();
}

[[noreturn]] inline void __trap()
{
    emulated::fault("__trap() was called");
}

inline long long clock64()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------- warp collectives */

namespace emulated
{

template <class T> struct exchange {
    T value, result;
    unsigned argument, width;
};

/* Calls visit(lane, operand) for each participating lane. */
template <class Operand, class Visit> void for_each_lane(void *const operands[32], Visit visit)
{
    for (unsigned lane = 0; lane < 32; lane++)
        if (operands[lane] != nullptr)
            visit(lane, *static_cast<Operand *>(operands[lane]));
}

enum class shuffle { index, up, down, exclusive_or };

/* PTX ISA, shfl.sync: a lane whose source lies outside of its segment of `width` lanes gets its own value. */
template <shuffle kind, class T> void compute_shuffle(void *const operands[32])
{
    for_each_lane<exchange<T>>(operands, [operands](unsigned lane, exchange<T> &own) {
        const unsigned first = lane & ~(own.width - 1), last = first + own.width - 1, argument = own.argument & 31;
        unsigned source = lane;

        if (kind == shuffle::index)
            source = first + (argument & (own.width - 1));
        else if (kind == shuffle::up && lane >= first + argument)
            source = lane - argument;
        else if (kind == shuffle::down && lane + argument <= last)
            source = lane + argument;
        else if (kind == shuffle::exclusive_or && (lane ^ argument) <= last)
            source = lane ^ argument;
        if (operands[source] != nullptr)
            own.result = static_cast<exchange<T> *>(operands[source])->value;
        else
            memset(&own.result, 0xCB, sizeof(T)); /* undefined in CUDA: a lane that does not take part */
    });
}

template <shuffle kind, class T>
T exchange_lanes(const char *name, unsigned mask, T value, unsigned argument, int width, const char *file, int line)
{
    exchange<T> operand = {value, value, argument, (unsigned)width};

    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 32 or 64 bits");
    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        fault("%s() in %s:%d: width %d is not a power of two from 1 to 32", name, file, line, width);
    collective(name, compute_shuffle<kind, T>, mask, &operand, file, line);
    return operand.result;
}

/* Applies combine(result, value) over all participating lanes; all get the result. */
template <auto combine, class T> void compute_reduction(void *const operands[32])
{
    bool first = true;
    T result = {};

    for_each_lane<exchange<T>>(operands, [&](unsigned, exchange<T> &own) {
        result = first ? own.value : combine(result, own.value);
        first = false;
    });
    for_each_lane<exchange<T>>(operands, [&](unsigned, exchange<T> &own) { own.result = result; });
}

template <auto combine, class T> T reduce(const char *name, unsigned mask, T value, const char *file, int line)
{
    exchange<T> operand = {value, value, 0, 0};

    collective(name, compute_reduction<combine, T>, mask, &operand, file, line);
    return operand.result;
}

template <class T> T add(T a, T b)
{
    return (T)((unsigned)a + (unsigned)b);
}

template <class T> T smaller(T a, T b)
{
    return b < a ? b : a;
}

template <class T> T larger(T a, T b)
{
    return a < b ? b : a;
}

inline unsigned bit_and(unsigned a, unsigned b)
{
    return a & b;
}

inline unsigned bit_or(unsigned a, unsigned b)
{
    return a | b;
}

inline unsigned bit_xor(unsigned a, unsigned b)
{
    return a ^ b;
}

template <class T> void compute_match(void *const operands[32])
{
    for_each_lane<exchange<T>>(operands, [operands](unsigned, exchange<T> &own) {
        own.argument = 0;
        for_each_lane<exchange<T>>(operands, [&own](unsigned lane, exchange<T> &other) {
            own.argument |= (unsigned)(memcmp(&own.value, &other.value, sizeof(T)) == 0) << lane;
        });
    });
}

inline void compute_nothing(void *const *)
{
}

} /* namespace emulated */

#define EMULATED_SHUFFLE(name, kind, argument_type)                                                                    \
    template <class T> auto name(unsigned mask, T value, argument_type argument, int width = 32, EMULATED_SITE)        \
    {                                                                                                                  \
        return emulated::exchange_lanes<emulated::shuffle::kind>(#name, mask, +value, (unsigned)argument, width, file, \
                                                                 line);                                                \
    }
EMULATED_SHUFFLE(__shfl_sync, index, int)
EMULATED_SHUFFLE(__shfl_up_sync, up, unsigned)
EMULATED_SHUFFLE(__shfl_down_sync, down, unsigned)
EMULATED_SHUFFLE(__shfl_xor_sync, exclusive_or, int)
#undef EMULATED_SHUFFLE

inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATED_SITE)
{
    emulated::collective("__syncwarp", emulated::compute_nothing, mask, &mask, file, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATED_SITE)
{
    const unsigned bit = (unsigned)(predicate != 0) << emulated::self->lane;

    return emulated::reduce<emulated::bit_or>("__ballot_sync", mask, bit, file, line);
}

inline int __any_sync(unsigned mask, int predicate, EMULATED_SITE)
{
    return (int)emulated::reduce<emulated::bit_or>("__any_sync", mask, (unsigned)(predicate != 0), file, line);
}

inline int __all_sync(unsigned mask, int predicate, EMULATED_SITE)
{
    return (int)emulated::reduce<emulated::bit_and>("__all_sync", mask, (unsigned)(predicate != 0), file, line);
}

/* CUDA promises only the calling lane's own bit; the emulator gives no more, so that nobody relies on more. */
inline unsigned __activemask()
{
    return 1u << emulated::self->lane;
}

template <class T> unsigned __match_any_sync(unsigned mask, T value, EMULATED_SITE)
{
    emulated::exchange<T> operand = {value, value, 0, 0};

    emulated::collective("__match_any_sync", emulated::compute_match<T>, mask, &operand, file, line);
    return operand.argument;
}

template <class T> unsigned __match_all_sync(unsigned mask, T value, int *predicate, EMULATED_SITE)
{
    const unsigned equal = __match_any_sync(mask, value, file, line);
    const unsigned participants = __ballot_sync(mask, 1, file, line);

    *predicate = equal == participants;
    return *predicate ? mask : 0;
}

#define EMULATED_REDUCE(name, T, combine)                                                                              \
    inline T name(unsigned mask, T value, EMULATED_SITE)                                                               \
    {                                                                                                                  \
        return emulated::reduce<combine>(#name, mask, value, file, line);                                              \
    }
EMULATED_REDUCE(__reduce_add_sync, unsigned, emulated::add<unsigned>)
EMULATED_REDUCE(__reduce_add_sync, int, emulated::add<int>)
EMULATED_REDUCE(__reduce_min_sync, unsigned, emulated::smaller<unsigned>)
EMULATED_REDUCE(__reduce_min_sync, int, emulated::smaller<int>)
EMULATED_REDUCE(__reduce_max_sync, unsigned, emulated::larger<unsigned>)
EMULATED_REDUCE(__reduce_max_sync, int, emulated::larger<int>)
EMULATED_REDUCE(__reduce_and_sync, unsigned, emulated::bit_and)
EMULATED_REDUCE(__reduce_or_sync, unsigned, emulated::bit_or)
EMULATED_REDUCE(__reduce_xor_sync, unsigned, emulated::bit_xor)
#undef EMULATED_REDUCE

namespace emulated
{

/* matrices.cpp */
struct mma_operand {
    int *d;
    const unsigned *a, *b;
    const int *c;
};
void compute_mma_m16n8k32_u8(void *const operands[32]);

} /* namespace emulated */

/* mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32: all 32 lanes of a warp. d may be c. */
inline void emulated_mma_m16n8k32_u8(int d[4], const unsigned a[4], const unsigned b[2], const int c[4], EMULATED_SITE)
{
    emulated::mma_operand operand = {d, a, b, c};
    const dim3 size = emulated::self->block->size;
    const uint3 index = emulated::self->index;

    if ((index.x + (index.y + index.z * size.y) * size.x) / 32 * 32 + 32 > size.x * size.y * size.z)
        emulated::fault("mma in %s:%d needs a full warp of 32 threads", file, line);
    emulated::collective("mma.m16n8k32", emulated::compute_mma_m16n8k32_u8, 0xffffffffu, &operand, file, line);
}

namespace emulated
{

struct mma_bf16_operand {
    float *d;
    const unsigned *a, *b;
    const float *c;
};
void compute_mma_m16n8k16_bf16(void *const operands[32]);

/* The nearest bfloat16, halves to the even one; all NaN become one. */
inline unsigned round_to_bf16(float value)
{
    unsigned bits;

    if (value != value)
        return 0x7fff;
    memcpy(&bits, &value, sizeof(bits));
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

} /* namespace emulated */

/* mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: all 32 lanes of a warp. d may be c. */
inline void emulated_mma_m16n8k16_bf16(float d[4], const unsigned a[4], const unsigned b[2], const float c[4],
                                       EMULATED_SITE)
{
    emulated::mma_bf16_operand operand = {d, a, b, c};
    const dim3 size = emulated::self->block->size;
    const uint3 index = emulated::self->index;

    if ((index.x + (index.y + index.z * size.y) * size.x) / 32 * 32 + 32 > size.x * size.y * size.z)
        emulated::fault("mma in %s:%d needs a full warp of 32 threads", file, line);
    emulated::collective("mma.m16n8k16", emulated::compute_mma_m16n8k16_bf16, 0xffffffffu, &operand, file, line);
}

/* cvt.rn.bf16x2.f32 */
inline unsigned emulated_pack_bf16(float lower, float upper)
{
    return emulated::round_to_bf16(lower) | emulated::round_to_bf16(upper) << 16;
}

/* ------------------------------------------------------------------------------------------------------- atomics */

#ifdef EMULATED_COUNTED /* as one access of the kernel's, whatever is done here for it (counters.cpp) */
extern "C" void emulator_atomic_begins(const volatile void *address, size_t bytes, const void *caller);
extern "C" void emulator_atomic_ends();
#define EMULATED_ONE_STEP    __attribute__((noinline, no_sanitize("thread"), no_sanitize_coverage))
#define EMULATED_IN_ITS_LINE inline
#else /* put into the kernel, whose line a race is then said to be in */
#define EMULATED_ONE_STEP    __attribute__((always_inline)) inline
#define EMULATED_IN_ITS_LINE __attribute__((always_inline)) inline
#endif

namespace emulated
{

/* Replaces *target by change(*target) in one step and returns what was there. */
template <class T, class Change> EMULATED_ONE_STEP T change_atomically(T *target, Change change)
{
    T old, desired;

#ifdef EMULATED_COUNTED
    emulator_atomic_begins(target, sizeof(T), __builtin_return_address(0));
#endif
    count_atomic();
    __atomic_load(target, &old, __ATOMIC_RELAXED);
    do
        desired = change(old);
    while (!__atomic_compare_exchange(target, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
#ifdef EMULATED_COUNTED
    emulator_atomic_ends();
#endif
    return old;
}

/* Without a read of what was there, which nobody may have written. */
template <class T> EMULATED_ONE_STEP T exchange_atomically(T *target, T value)
{
    T old;

#ifdef EMULATED_COUNTED
    emulator_atomic_begins(target, sizeof(T), __builtin_return_address(0));
#endif
    count_atomic();
    __atomic_exchange(target, &value, &old, __ATOMIC_RELAXED);
#ifdef EMULATED_COUNTED
    emulator_atomic_ends();
#endif
    return old;
}

} /* namespace emulated */

/* Integer addition wraps around, as on the device. */
#define EMULATED_ATOMIC(name, T, expression)                                                                           \
    EMULATED_IN_ITS_LINE T name(T *target, T value)                                                                    \
    {                                                                                                                  \
        return emulated::change_atomically(target, [value](T old) -> T { return expression; });                        \
    }
#define EMULATED_EXCHANGE(T)                                                                                           \
    EMULATED_IN_ITS_LINE T atomicExch(T *target, T value)                                                              \
    {                                                                                                                  \
        return emulated::exchange_atomically(target, value);                                                           \
    }
#define EMULATED_ATOMICS(T, U)                                                                                         \
    EMULATED_ATOMIC(atomicAdd, T, (T)((U)old + (U)value))                                                              \
    EMULATED_ATOMIC(atomicMin, T, value < old ? value : old)                                                           \
    EMULATED_ATOMIC(atomicMax, T, old < value ? value : old)                                                           \
    EMULATED_ATOMIC(atomicAnd, T, old &value)                                                                          \
    EMULATED_ATOMIC(atomicOr, T, old | value)                                                                          \
    EMULATED_EXCHANGE(T)                                                                                               \
    EMULATED_ATOMIC(atomicXor, T, old ^ value)                                                                         \
    EMULATED_IN_ITS_LINE T atomicCAS(T *target, T compare, T value)                                                    \
    {                                                                                                                  \
        return emulated::change_atomically(target, [=](T old) { return old == compare ? value : old; });               \
    }
EMULATED_ATOMICS(int, unsigned)
EMULATED_ATOMICS(unsigned, unsigned)
EMULATED_ATOMICS(unsigned long long, unsigned long long)
EMULATED_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
EMULATED_ATOMIC(atomicSub, unsigned, old - value)
EMULATED_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
EMULATED_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
EMULATED_ATOMIC(atomicMin, long long, value < old ? value : old)
EMULATED_ATOMIC(atomicMax, long long, old < value ? value : old)
EMULATED_ATOMIC(atomicAdd, float, old + value)
EMULATED_ATOMIC(atomicAdd, double, old + value)
EMULATED_EXCHANGE(float)
#undef EMULATED_ATOMICS
#undef EMULATED_EXCHANGE
#undef EMULATED_ATOMIC
#undef EMULATED_ONE_STEP
#undef EMULATED_IN_ITS_LINE
#undef EMULATED_SITE

#endif
