/*
 * races_atomics.c: atomic operations, as -fsanitize=thread calls them, for the race detector of versions in C
 * (races.c). What one orders is what C11 says: a relaxed one nothing by itself, and two operations of which one
 * releases and the other acquires what came before the first. And the clocks that such a version sees.
 */
#include <stdatomic.h>
#include <time.h>

#include "common/remote/races.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, BOTH, TOTAL, ORDERS = 7 /* gcc's further bits are hints */ };

/* Before the operation, so that whoever meets its value meets its clock. */
static void before_store(const volatile void *address, int order)
{
    if ((order & ORDERS) >= RELEASE)
        races_give(address);
    else
        races_store_relaxed(address);
}

static void after_load(const volatile void *address, int order)
{
    const int its = order & ORDERS;

    if (its == RELAXED || its == RELEASE)
        races_load_relaxed(address);
    else
        races_take(address);
}

#define ATOMIC_CHANGE(bits, name, builtin)                                                                             \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, int order);    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, int order)     \
    {                                                                                                                  \
        before_store(address, order);                                                                                  \
        const uint##bits##_t result = builtin(address, value, __ATOMIC_SEQ_CST);                                       \
        after_load(address, order);                                                                                    \
        return result;                                                                                                 \
    }
#define ATOMIC_EXCHANGE_IF(bits, name)                                                                                 \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, uint##bits##_t *expected,      \
                                                      uint##bits##_t value, int order, int otherwise);                 \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, uint##bits##_t *expected,      \
                                                      uint##bits##_t value, int order, int otherwise)                  \
    {                                                                                                                  \
        before_store(address, order);                                                                                  \
        const bool done =                                                                                              \
            __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
        after_load(address, done ? order : otherwise);                                                                 \
        return done;                                                                                                   \
    }
#define ATOMICS(bits)                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order);                      \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)                       \
    {                                                                                                                  \
        const uint##bits##_t result = __atomic_load_n(address, __ATOMIC_SEQ_CST);                                      \
        after_load(address, order);                                                                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order);               \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order)                \
    {                                                                                                                  \
        before_store(address, order);                                                                                  \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                            \
    }                                                                                                                  \
    ATOMIC_CHANGE(bits, exchange, __atomic_exchange_n)                                                                 \
    ATOMIC_CHANGE(bits, fetch_add, __atomic_fetch_add)                                                                 \
    ATOMIC_CHANGE(bits, fetch_sub, __atomic_fetch_sub)                                                                 \
    ATOMIC_CHANGE(bits, fetch_and, __atomic_fetch_and)                                                                 \
    ATOMIC_CHANGE(bits, fetch_or, __atomic_fetch_or)                                                                   \
    ATOMIC_CHANGE(bits, fetch_xor, __atomic_fetch_xor)                                                                 \
    ATOMIC_CHANGE(bits, fetch_nand, __atomic_fetch_nand)                                                               \
    ATOMIC_EXCHANGE_IF(bits, strong)                                                                                   \
    ATOMIC_EXCHANGE_IF(bits, weak)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    const int its = order & ORDERS;

    races_fence(its != RELAXED && its != RELEASE, its >= RELEASE);
}

/* ---------------------------------------------------------------------------------------------------------- clocks */

/* A version's clock goes on by a microsecond whenever it looks: by a real one it would see that its accesses take
 * longer here, and race where they don't. It is up to ten seconds fast, so that nothing times out too early. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *at);
int __wrap_clock_gettime(clockid_t clock, struct timespec *at)
{
    static _Atomic long looks;
    const int result = clock_gettime(clock, at);

    at->tv_sec = (at->tv_sec / 10 + 1) * 10;
    at->tv_nsec = ++looks % 1000000 * 1000;
    return result;
}

int __wrap_timespec_get(struct timespec *at, int base);
int __wrap_timespec_get(struct timespec *at, int base)
{
    return __wrap_clock_gettime(CLOCK_REALTIME, at) == 0 ? base : 0;
}

double __wrap_omp_get_wtime(void);
double __wrap_omp_get_wtime(void)
{
    struct timespec at;

    __wrap_clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
