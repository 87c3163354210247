/*
 * races.c: finds data races of one version with threads. The version is compiled with -fsanitize=thread, which makes
 * the compiler call a function here before every load and store, and linked with this file in place of the sanitizer's
 * library: that one takes libgomp's waits for no waits, opens files, and maps more memory than a confined worker may.
 *
 * Every thread has a vector clock: for each thread, up to which of its moments everything is known to have happened
 * before. Forks, joins, barriers, locks and atomics join clocks (races_waits.c, races_atomics.c); each byte remembers
 * who wrote it last and READERS of those that have read it since, one for all that wait for each other. An access that
 * does not come after the last write, or a write that does not come after a read, is a race, whether or not the two met
 * this time. The first one ends the process: "race WRITE-OR-READ ADDRESS ADDRESS" on stderr, addresses within the
 * program, and exit code RACES_EXIT.
 */
#include "common/remote/races.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/image/image.h"
#include "common/remote/worker.h"

enum { CROWD_MILLISECONDS = 1000, RACES_EXIT = 66, PAGE = 4096, PAGES = 1 << 16, SYNCS = 1 << 12, READERS = 8 };

#define MOST_THREADS RACES_MOST_THREADS

/* What is known of a byte. Moments begin with 1. */
struct shadow {
    uint32_t written, write_place, read_place;
    uint32_t read[READERS]; /* since it was written; 0: nobody */
    uint8_t writer, reader[READERS];
};

struct page {
    _Atomic uintptr_t number; /* of the page in memory; 0: unused */
    atomic_flag lock;
    struct shadow *bytes;
};

/* What threads meet at: a lock, an atomic variable, the end of a region. */
struct meeting {
    uintptr_t address;
    struct races_clock clock;
};

static struct page pages[PAGES];
static struct meeting meetings[SYNCS];
static atomic_flag meeting_lock = ATOMIC_FLAG_INIT, place_lock = ATOMIC_FLAG_INIT;
static bool taken[MOST_THREADS];       /* places in clocks, by a thread that runs */
static uint32_t left_at[MOST_THREADS]; /* the moment at which the last thread of a place ended */
static _Thread_local int me = -1;      /* its place in clocks */
static _Thread_local bool has_left;    /* what libgomp frees after a thread's end is nobody's access */
static _Thread_local struct races_clock now;
static uint32_t call;        /* requests that the worker has had */
static unsigned one_page_in; /* is watched; 0: all */
static uintptr_t page_lot;   /* which ones: others in the next call */
/* Of the threads that had a place during the call: bytes that they touched, and the longest chain that one was in. */
static struct {
    _Alignas(64) uint64_t work, longest;
} tallies[MOST_THREADS];
/* What the last fence of this thread releases by atomic operations that order nothing themselves, and what such have
 * read since. */
static _Thread_local struct races_clock fenced, unfenced;

extern const char __executable_start;

/* ---------------------------------------------------------------------------------------------------- clocks */

static void join(struct races_clock *to, const struct races_clock *from)
{
    for (int i = 0; i < MOST_THREADS; i++)
        to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

/* The chain behind both. What is of an earlier call is none. */
static void join_chain(struct races_clock *to, const struct races_clock *from)
{
    const uint64_t own = to->call == call ? to->chain : 0, other = from->call == call ? from->chain : 0;

    to->call = call;
    to->chain = own > other ? own : other;
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

/* A thread that begins takes the place of one that has ended, at a moment of its own. One for which there is no place
 * would go on unwatched: that ends the process, too. */
void races_take_place(void)
{
    static const char crowd[] = "crowd\n";

    if (me >= 0)
        return;
    for (int tries = 0; tries <= CROWD_MILLISECONDS; tries++) {
        lock(&place_lock);
        for (me = 0; me < MOST_THREADS && taken[me]; me++)
            continue;
        if (me < MOST_THREADS)
            break;
        unlock(&place_lock);
        /* OpenMP's threads end some time after the thread that they worked for. */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (me == MOST_THREADS)
        end_with(crowd);
    taken[me] = true;
    now.at[me] = left_at[me] + 1;
    unlock(&place_lock);
}

void races_leave_place(void)
{
    lock(&place_lock);
    left_at[me] = now.at[me];
    taken[me] = false;
    me = -1;
    has_left = true;
    unlock(&place_lock);
}

static void tick(void)
{
    races_take_place();
    now.at[me]++;
}

void races_begin(struct races_clock *began)
{
    races_take_place();
    *began = now;
    tick();
}

void races_follow(const struct races_clock *began)
{
    races_take_place();
    join(&now, began);
    join_chain(&now, began);
}

uint64_t races_begin_task(const struct races_clock *began)
{
    const uint64_t chain = now.call == call ? now.chain : 0;

    races_take_place();
    join(&now, began);
    now.call = began->call;
    now.chain = began->chain;
    return chain;
}

void races_end_task(uint64_t chain)
{
    now.call = call;
    now.chain = chain;
}

static struct races_clock *clock_of(uintptr_t address)
{
    for (size_t i = address / 8 * 2654435761u % SYNCS, tries = 0; tries < SYNCS; i = (i + 1) % SYNCS, tries++) {
        if (meetings[i].address == 0)
            meetings[i].address = address;
        if (meetings[i].address == address)
            return &meetings[i].clock;
    }
    return &meetings[0].clock;
}

/* What this thread did until here happens before whatever follows an races_acquire() of the same address. */
static void release(const volatile void *address, bool chains)
{
    if (has_left)
        return;
    races_take_place();
    lock(&meeting_lock);
    join(clock_of((uintptr_t)address), &now);
    if (chains)
        join_chain(clock_of((uintptr_t)address), &now);
    unlock(&meeting_lock);
    tick();
}

static void acquire(const volatile void *address, bool chains)
{
    if (has_left)
        return;
    races_take_place();
    lock(&meeting_lock);
    join(&now, clock_of((uintptr_t)address));
    if (chains)
        join_chain(&now, clock_of((uintptr_t)address));
    unlock(&meeting_lock);
}

void races_release(const volatile void *address)
{
    release(address, true);
}

void races_acquire(const volatile void *address)
{
    acquire(address, true);
}

void races_give(const volatile void *address)
{
    release(address, false);
}

void races_take(const volatile void *address)
{
    acquire(address, false);
}

void races_clear(const volatile void *address)
{
    lock(&meeting_lock);
    memset(clock_of((uintptr_t)address), 0, sizeof(struct races_clock));
    unlock(&meeting_lock);
}

void races_load_relaxed(const volatile void *address)
{
    lock(&meeting_lock);
    join(&unfenced, clock_of((uintptr_t)address));
    unlock(&meeting_lock);
}

void races_store_relaxed(const volatile void *address)
{
    lock(&meeting_lock);
    join(clock_of((uintptr_t)address), &fenced);
    unlock(&meeting_lock);
}

void races_fence(bool acquires, bool releases)
{
    races_take_place();
    if (acquires)
        join(&now, &unfenced);
    if (releases) {
        fenced = now;
        tick();
    }
}

/* -------------------------------------------------------------------------------------------------- accesses */

/* `makes`: where nothing is known of a page, it gets a place; else the answer is NULL. */
static struct page *page_of(uintptr_t address, bool makes)
{
    const uintptr_t number = address / PAGE;

    for (size_t i = number * 2654435761u % PAGES;; i = (i + 1) % PAGES) {
        uintptr_t found = atomic_load(&pages[i].number);

        if (found == number)
            return &pages[i];
        if (found != 0)
            continue;
        if (!makes)
            return NULL;
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
        for (int i = 0; i < READERS; i++)
            if (byte->reader[i] != me && byte->read[i] > now.at[byte->reader[i]])
                report("write-read", place, byte->read_place);
        memset(byte->read, 0, sizeof byte->read);
        byte->written = now.at[me];
        byte->writer = (uint8_t)me;
        byte->write_place = place;
    } else {
        int mine = 0;

        /* In the place of a read that comes before this one: what follows this one follows that one, too. Where all are
         * of others, one is forgotten. */
        while (mine < READERS && byte->reader[mine] != me && byte->read[mine] > now.at[byte->reader[mine]])
            mine++;
        mine = mine < READERS ? mine : me % READERS;
        byte->read[mine] = now.at[me];
        byte->reader[mine] = (uint8_t)me;
        byte->read_place = place;
    }
}

static bool is_watched(uintptr_t address)
{
    return one_page_in == 0 || (((address / PAGE ^ page_lot) * 0x9e3779b97f4a7c15u >> 32) + call) % one_page_in == 0;
}

static void count(size_t bytes)
{
    now.chain = (now.call == call ? now.chain : 0) + bytes;
    now.call = call;
    tallies[me].work += bytes;
    tallies[me].longest = tallies[me].longest > now.chain ? tallies[me].longest : now.chain;
}

void worker_races_begin(int share)
{
    struct timespec time;

    call++;
    memset(tallies, 0, sizeof tallies);
    one_page_in = (unsigned)share;
    if (call == 1 && clock_gettime(CLOCK_MONOTONIC, &time) == 0)
        page_lot = (uintptr_t)time.tv_nsec << 20 ^ (uintptr_t)&time;
}

void worker_races_count(struct channel_counts *counts)
{
    counts->work_bytes = counts->longest_bytes = 0;
    for (int i = 0; i < MOST_THREADS; i++) {
        counts->work_bytes += tallies[i].work;
        if (tallies[i].longest > counts->longest_bytes)
            counts->longest_bytes = tallies[i].longest;
    }
}

static void access_bytes(const volatile void *memory, size_t size, bool writes, const void *caller)
{
    const uint32_t place = (uint32_t)((const char *)caller - &__executable_start);
    uintptr_t address = (uintptr_t)memory;

    if (has_left)
        return;
    races_take_place();
    count(size);
    while (size > 0) {
        if (!is_watched(address)) {
            const size_t rest = PAGE - address % PAGE, skipped = size < rest ? size : rest;

            address += skipped;
            size -= skipped;
            continue;
        }
        struct page *const page = page_of(address, true);
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
        struct page *const page = page_of(address, false);
        const size_t offset = address % PAGE, here = size < PAGE - offset ? size : PAGE - offset;

        if (page) {
            lock(&page->lock);
            if (page->bytes)
                memset(&page->bytes[offset], 0, here * sizeof *page->bytes);
            unlock(&page->lock);
        }
        address += here;
        size -= here;
    }
}

void races_forget_stack(void)
{
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0)
        forget(begin, size);
    pthread_attr_destroy(&attributes);
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

/* What sorts reads and writes all that it sorts. */
void __wrap_qsort(void *list, size_t count, size_t bytes, int (*order)(const void *a, const void *b));
void __wrap_qsort(void *list, size_t count, size_t bytes, int (*order)(const void *a, const void *b))
{
    access_bytes(list, count * bytes, true, CALLER);
    qsort(list, count, bytes, order);
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

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
    void *const moved = __real_realloc(memory, size);

    forget(moved, size);
    return moved;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    const int error = __real_posix_memalign(memory, alignment, size);

    if (error == 0)
        forget(*memory, size);
    return error;
}

/* What prints into memory writes there. */
int __wrap_snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int __wrap_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int length = vsnprintf(to, size, format, list);
    va_end(list);
    if (length >= 0 && size > 0)
        access_bytes(to, (size_t)length < size ? (size_t)length + 1 : size, true, CALLER);
    return length;
}

static void access_rows(const struct image *image, bool writes, const void *caller)
{
    for (int y = 0; y < image->height; y++)
        access_bytes(image_row(image, y), image_row_bytes(image), writes, caller);
}

void __wrap_image_copy(struct image *to, const struct image *from);
void __wrap_image_copy(struct image *to, const struct image *from)
{
    access_rows(from, false, CALLER);
    access_rows(to, true, CALLER);
    image_copy(to, from);
}

void __wrap_image_fill(struct image *image, uint8_t byte);
void __wrap_image_fill(struct image *image, uint8_t byte)
{
    access_rows(image, true, CALLER);
    image_fill(image, byte);
}
