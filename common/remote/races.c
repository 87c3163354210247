/*
 * races.c: finds data races of one version with threads. The version is compiled with -fsanitize=thread, which makes the
 * compiler call a function here before every load and store, and linked with this file in place of the sanitizer's
 * library: that one takes libgomp's waits for no waits, opens files, and maps more memory than a confined worker may.
 *
 * Every thread has a vector clock: for each thread, up to which of its moments everything is known to have happened
 * before. Forks, joins, barriers, locks and atomics join clocks; each byte remembers who wrote it last and who has read
 * it since. An access that does not come after the last write, or a write that does not come after a read, is a race,
 * whether or not the two met this time. The first one ends the process: "race WRITE-OR-READ ADDRESS ADDRESS" on stderr,
 * addresses within the program, and exit code RACES_EXIT.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_THREADS = 16, RACES_EXIT = 66, PAGE = 4096, PAGES = 1 << 16, SYNCS = 1 << 12 };

struct clock {
    uint32_t at[MOST_THREADS];
};

/* What is known of a byte. Moments begin with 1. */
struct shadow {
    uint32_t written, writer, write_place;
    uint32_t read[MOST_THREADS], read_place;
};

struct page {
    _Atomic uintptr_t number; /* of the page in memory; 0: unused */
    atomic_flag lock;
    struct shadow *bytes;
};

/* What threads meet at: a lock, an atomic variable, the end of a region. */
struct meeting {
    uintptr_t address;
    struct clock clock;
};

static struct page pages[PAGES];
static struct meeting meetings[SYNCS];
static atomic_flag meeting_lock = ATOMIC_FLAG_INIT, place_lock = ATOMIC_FLAG_INIT;
static bool taken[MOST_THREADS];       /* places in clocks, by a thread that runs */
static uint32_t left_at[MOST_THREADS]; /* the moment at which the last thread of a place ended */
static _Thread_local int me = -1;      /* its place in clocks */
static _Thread_local struct clock now;
static _Thread_local unsigned barriers; /* that this thread has passed */

extern const char __executable_start;

/* ---------------------------------------------------------------------------------------------------- clocks */

static void join(struct clock *to, const struct clock *from)
{
    for (int i = 0; i < MOST_THREADS; i++)
        to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

static void lock(atomic_flag *flag)
{
    while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire))
        continue;
}

static void unlock(atomic_flag *flag)
{
    atomic_flag_clear_explicit(flag, memory_order_release);
}

static void end_with(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) >= 0)
        _exit(RACES_EXIT);
    _exit(RACES_EXIT);
}

/* A thread that begins takes the place of one that has ended, at a moment of its own. One for which there is no place would go on
 * unwatched: that ends the process, too. */
static void take_place(void)
{
    static const char crowd[] = "crowd\n";

    if (me >= 0)
        return;
    lock(&place_lock);
    for (me = 0; me < MOST_THREADS && taken[me]; me++)
        continue;
    if (me == MOST_THREADS)
        end_with(crowd);
    taken[me] = true;
    now.at[me] = left_at[me] + 1;
    unlock(&place_lock);
}

static void leave_place(void)
{
    lock(&place_lock);
    left_at[me] = now.at[me];
    taken[me] = false;
    me = -1;
    unlock(&place_lock);
}

static void tick(void)
{
    take_place();
    now.at[me]++;
}

static struct clock *clock_of(uintptr_t address)
{
    for (size_t i = address / 8 * 2654435761u % SYNCS, tries = 0; tries < SYNCS; i = (i + 1) % SYNCS, tries++) {
        if (meetings[i].address == 0)
            meetings[i].address = address;
        if (meetings[i].address == address)
            return &meetings[i].clock;
    }
    return &meetings[0].clock;
}

/* What this thread did until here happens before whatever follows an acquire() of the same address. */
static void release(const volatile void *address)
{
    take_place();
    lock(&meeting_lock);
    join(clock_of((uintptr_t)address), &now);
    unlock(&meeting_lock);
    tick();
}

static void acquire(const volatile void *address)
{
    take_place();
    lock(&meeting_lock);
    join(&now, clock_of((uintptr_t)address));
    unlock(&meeting_lock);
}

/* -------------------------------------------------------------------------------------------------- accesses */

static struct page *page_of(uintptr_t address)
{
    const uintptr_t number = address / PAGE;

    for (size_t i = number * 2654435761u % PAGES;; i = (i + 1) % PAGES) {
        uintptr_t found = atomic_load(&pages[i].number);

        if (found == number)
            return &pages[i];
        if (found != 0)
            continue;
        if (!atomic_compare_exchange_strong(&pages[i].number, &found, number) && found != number)
            continue;
        return &pages[i];
    }
}

static void report(const char *what, uint32_t place, uint32_t other)
{
    char line[96];

    snprintf(line, sizeof line, "race %s 0x%x 0x%x\n", what, place, other);
    end_with(line);
}

static void look(struct shadow *byte, bool writes, uint32_t place)
{
    if (byte->written > now.at[byte->writer] && (int)byte->writer != me)
        report(writes ? "write-write" : "read-write", place, byte->write_place);
    if (writes) {
        for (int i = 0; i < MOST_THREADS; i++)
            if (i != me && byte->read[i] > now.at[i])
                report("write-read", place, byte->read_place);
        byte->written = now.at[me];
        byte->writer = (uint32_t)me;
        byte->write_place = place;
    } else {
        byte->read[me] = now.at[me];
        byte->read_place = place;
    }
}

static void access_bytes(const volatile void *memory, size_t size, bool writes, const void *caller)
{
    const uint32_t place = (uint32_t)((const char *)caller - &__executable_start);
    uintptr_t address = (uintptr_t)memory;

    take_place();
    while (size > 0) {
        struct page *const page = page_of(address);
        const size_t offset = address % PAGE, here = size < PAGE - offset ? size : PAGE - offset;

        lock(&page->lock);
        if (!page->bytes) {
            void *const bytes = mmap(NULL, PAGE * sizeof *page->bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

            page->bytes = bytes == MAP_FAILED ? NULL : bytes;
        }
        for (size_t i = 0; page->bytes && i < here; i++)
            look(&page->bytes[offset + i], writes, place);
        unlock(&page->lock);
        address += here;
        size -= here;
    }
}

/* Memory that is given out anew: nobody has touched it. */
static void forget(const void *memory, size_t size)
{
    uintptr_t address = (uintptr_t)memory;

    while (memory && size > 0) {
        struct page *const page = page_of(address);
        const size_t offset = address % PAGE, here = size < PAGE - offset ? size : PAGE - offset;

        lock(&page->lock);
        if (page->bytes)
            memset(&page->bytes[offset], 0, here * sizeof *page->bytes);
        unlock(&page->lock);
        address += here;
        size -= here;
    }
}

/* ------------------------------------------------------------------------- what -fsanitize=thread calls */

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define ACCESS(name, size, writes)                                                                                     \
    void name(void *address);                                                                                          \
    void name(void *address)                                                                                           \
    {                                                                                                                  \
        access_bytes(address, size, writes, CALLER);                                                                   \
    }
#define ACCESSES(size)                                                                                                 \
    ACCESS(__tsan_read##size, size, false)                                                                             \
    ACCESS(__tsan_write##size, size, true)                                                                             \
    ACCESS(__tsan_unaligned_read##size, size, false)                                                                   \
    ACCESS(__tsan_unaligned_write##size, size, true)                                                                   \
    ACCESS(__tsan_volatile_read##size, size, false)                                                                    \
    ACCESS(__tsan_volatile_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *address, size_t size)
{
    access_bytes(address, size, false, CALLER);
}

void __tsan_write_range(void *address, size_t size)
{
    access_bytes(address, size, true, CALLER);
}

/* Each atomic operation is ordered with all others on its variable: stronger than a relaxed one, and so at most silent. */
#define ATOMIC_DO(bits, name, ...)                                                                                     \
    uint##bits##_t result;                                                                                             \
    acquire(address);                                                                                                  \
    result = name(__VA_ARGS__);                                                                                        \
    release(address);                                                                                                  \
    return result;
#define ATOMIC_CHANGE(bits, name, builtin)                                                                             \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, int order);    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, int order)     \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        ATOMIC_DO(bits, builtin, address, value, __ATOMIC_SEQ_CST)                                                     \
    }
#define ATOMIC_EXCHANGE_IF(bits, name)                                                                                 \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, uint##bits##_t *expected,      \
                                                      uint##bits##_t value, int order, int otherwise);                 \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *address, uint##bits##_t *expected,      \
                                                      uint##bits##_t value, int order, int otherwise)                  \
    {                                                                                                                  \
        (void)order, (void)otherwise;                                                                                  \
        acquire(address);                                                                                              \
        const bool done =                                                                                              \
            __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
        release(address);                                                                                              \
        return done;                                                                                                   \
    }
#define ATOMICS(bits)                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order);                      \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)                       \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        ATOMIC_DO(bits, __atomic_load_n, address, __ATOMIC_SEQ_CST)                                                    \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order);               \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int order)                \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        release(address);                                                                                              \
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
    static int fence;

    (void)order;
    acquire(&fence);
    release(&fence);
}

/* --------------------------------------------------- OpenMP, as gcc calls it (--wrap, common/trace/openmp.c) */

struct region {
    void (*function)(void *);
    void *data;
    char begin, end; /* where its threads meet */
};

static void in_region(void *argument)
{
    struct region *const region = argument;

    barriers = 0; /* in step with the others of the team */
    acquire(&region->begin);
    region->function(region->data);
    release(&region->end);
}

/* A region's clocks are of its own: it lies on a stack, where another one lay before. */
static void clear(const char *address)
{
    lock(&meeting_lock);
    memset(clock_of((uintptr_t)address), 0, sizeof(struct clock));
    unlock(&meeting_lock);
}

#define WRAP_REGION(name, parameters, ...)                                                                             \
    void __real_##name parameters;                                                                                     \
    void __wrap_##name parameters;                                                                                     \
    void __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        static _Thread_local struct region regions[8]; /* of nested parallel regions, the innermost last */            \
        static _Thread_local int depth;                                                                                \
        struct region *const region = &regions[depth++ % 8];                                                           \
                                                                                                                       \
        *region = (struct region){.function = function, .data = data};                                                 \
        clear(&region->begin);                                                                                         \
        clear(&region->end);                                                                                           \
        release(&region->begin);                                                                                       \
        function = in_region;                                                                                          \
        data = region;                                                                                                 \
        __real_##name(__VA_ARGS__);                                                                                    \
        acquire(&region->end);                                                                                         \
        depth--;                                                                                                       \
    }
#define WRAP_LOOP(name)                                                                                                \
    WRAP_REGION(name,                                                                                                  \
                (void (*function)(void *), void *data, unsigned count, long first, long last, long step, long chunk,   \
                 unsigned flags),                                                                                      \
                function, data, count, first, last, step, chunk, flags)
#define WRAP_RUNTIME_LOOP(name)                                                                                        \
    WRAP_REGION(                                                                                                       \
        name,                                                                                                          \
        (void (*function)(void *), void *data, unsigned count, long first, long last, long step, unsigned flags),      \
        function, data, count, first, last, step, flags)

WRAP_REGION(GOMP_parallel, (void (*function)(void *), void *data, unsigned count, unsigned flags), function, data,
            count, flags)
WRAP_REGION(GOMP_parallel_sections,
            (void (*function)(void *), void *data, unsigned count, unsigned sections, unsigned flags), function, data,
            count, sections, flags)
WRAP_LOOP(GOMP_parallel_loop_static)
WRAP_LOOP(GOMP_parallel_loop_dynamic)
WRAP_LOOP(GOMP_parallel_loop_guided)
WRAP_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
WRAP_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
WRAP_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* Two meeting points in turn: nobody arrives at a barrier's next but one before all have left the barrier. */
#define WRAP_BARRIER(name)                                                                                             \
    void __real_##name(void);                                                                                          \
    void __wrap_##name(void);                                                                                          \
    void __wrap_##name(void)                                                                                           \
    {                                                                                                                  \
        static char places[2];                                                                                         \
        const char *const place = &places[barriers++ % 2];                                                             \
                                                                                                                       \
        release(place);                                                                                                \
        __real_##name();                                                                                               \
        acquire(place);                                                                                                \
    }

WRAP_BARRIER(GOMP_barrier)
WRAP_BARRIER(GOMP_loop_end)
WRAP_BARRIER(GOMP_sections_end)

#define WRAP_LOCK(start, end, parameters, argument, place)                                                             \
    void __real_##start parameters;                                                                                    \
    void __wrap_##start parameters;                                                                                    \
    void __real_##end parameters;                                                                                      \
    void __wrap_##end parameters;                                                                                      \
    void __wrap_##start parameters                                                                                     \
    {                                                                                                                  \
        __real_##start(argument);                                                                                      \
        acquire(place);                                                                                                \
    }                                                                                                                  \
    void __wrap_##end parameters                                                                                       \
    {                                                                                                                  \
        release(place);                                                                                                \
        __real_##end(argument);                                                                                        \
    }

static const char critical_place, atomic_place, ordered_place;

WRAP_LOCK(GOMP_critical_start, GOMP_critical_end, (void), , &critical_place)
WRAP_LOCK(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), name, name)
WRAP_LOCK(GOMP_atomic_start, GOMP_atomic_end, (void), , &atomic_place)
WRAP_LOCK(GOMP_ordered_start, GOMP_ordered_end, (void), , &ordered_place)
WRAP_LOCK(omp_set_lock, omp_unset_lock, (void *own), own, own)

/* ------------------------------------------------------------------------------------------- POSIX threads */

struct start {
    void *(*function)(void *);
    void *argument;
    struct clock clock;
};

static void *in_thread(void *argument)
{
    const struct start start = *(struct start *)argument;

    free(argument);
    take_place();
    join(&now, &start.clock);
    void *const result = start.function(start.argument);
    release((const char *)pthread_self());
    leave_place();
    return result;
}

void __real_pthread_exit(void *result) __attribute__((noreturn));
void __wrap_pthread_exit(void *result) __attribute__((noreturn));
void __wrap_pthread_exit(void *result)
{
    release((const char *)pthread_self());
    leave_place();
    __real_pthread_exit(result);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument)
{
    struct start *const start = malloc(sizeof *start);

    if (!start)
        return 12; /* ENOMEM */
    take_place();
    *start = (struct start){function, argument, now};
    tick();
    return __real_pthread_create(thread, how, in_thread, start);
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    const int error = __real_pthread_join(thread, result);

    acquire((const char *)thread);
    return error;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const int error = __real_pthread_mutex_lock(mutex);

    acquire(mutex);
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    release(mutex);
    return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    release(mutex);
    const int error = __real_pthread_cond_wait(condition, mutex);

    acquire(mutex);
    return error;
}

/* ---------------------------------------------------------------------------------------------------- memory */

/* What the C library copies is no access of the version's own code: its object's calls are renamed to these. */
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    access_bytes(from, bytes, false, CALLER);
    access_bytes(to, bytes, true, CALLER);
    return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    access_bytes(from, bytes, false, CALLER);
    access_bytes(to, bytes, true, CALLER);
    return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    access_bytes(to, bytes, true, CALLER);
    return memset(to, value, bytes);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    void *const memory = __real_malloc(size);

    forget(memory, size);
    return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *const memory = __real_calloc(count, size);

    forget(memory, memory ? count * size : 0);
    return memory;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *const memory = __real_aligned_alloc(alignment, size);

    forget(memory, size);
    return memory;
}
