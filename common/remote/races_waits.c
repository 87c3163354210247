/*
 * races_waits.c: what threads wait for each other by, for the race detector of versions in C (races.c): OpenMP as gcc
 * calls it, POSIX threads and those of C11. The linker puts these functions in the place of the real ones (--wrap,
 * assignments/labs.mk).
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "common/remote/races.h"

/* --------------------------------------------------------------------------------------------------- pauses */

/* What is not instrumented, the helpers of common/ say, does its accesses unseen: where two threads do not wait for
 * each other there, only a wrong result shows it, and only at another pace than theirs. Pauses make one. All together
 * take no more than a third of the time since the first of them, but for PAUSES_AT_FIRST, so that a right program is
 * not too slow for being watched. */
static atomic_long first_pause, paused; /* nanoseconds */

static long nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000L * now.tv_sec + now.tv_nsec;
}

/* When a pause begins, for has_paused(), or 0: there have been enough. */
static long may_pause(void)
{
    static const long PAUSES_AT_FIRST = 200000000;
    const long begin = nanoseconds();
    long none = 0;

    atomic_compare_exchange_strong(&first_pause, &none, begin);
    return paused > PAUSES_AT_FIRST + (begin - first_pause) / 3 ? 0 : begin;
}

static void has_paused(long begin)
{
    paused += nanoseconds() - begin;
}

/* Of a thread that has just handed something over, or got it: one time in four it is late. */
static void linger(void)
{
    enum { ONE_IN = 4, LINGER_NANOSECONDS = 2000000 };
    static atomic_uint threads;
    static _Thread_local unsigned drawn;

    if (drawn == 0)
        drawn = 2654435761u * ++threads;
    drawn = 1664525u * drawn + 1013904223u;
    const long begin = (drawn >> 16) % ONE_IN == 0 ? may_pause() : 0;

    if (begin == 0)
        return;
    nanosleep(&(struct timespec){.tv_nsec = LINGER_NANOSECONDS}, NULL);
    has_paused(begin);
}

/* --------------------------------------------------- OpenMP, as gcc calls it (--wrap, common/trace/openmp.c) */

static const char tasks_place; /* where tasks that have ended are met */

static _Thread_local unsigned barriers; /* that this thread has passed */

struct region {
    void (*function)(void *);
    void *data;
    char begin, end; /* where its threads meet */
};

static void in_region(void *argument)
{
    struct region *const region = argument;

    barriers = 0; /* in step with the others of the team */
    races_acquire(&region->begin);
    region->function(region->data);
    races_release(&region->end);
}

/* A region's clocks are of its own: it lies on a stack, where another one lay before. */
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
        races_clear(&region->begin);                                                                                   \
        races_clear(&region->end);                                                                                     \
        races_release(&region->begin);                                                                                 \
        function = in_region;                                                                                          \
        data = region;                                                                                                 \
        __real_##name(__VA_ARGS__);                                                                                    \
        races_acquire(&region->end);                                                                                   \
        races_acquire(&tasks_place);                                                                                   \
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
        races_release(place);                                                                                          \
        __real_##name();                                                                                               \
        races_acquire(place);                                                                                          \
        races_acquire(&tasks_place);                                                                                   \
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
        races_take(place);                                                                                             \
    }                                                                                                                  \
    void __wrap_##end parameters                                                                                       \
    {                                                                                                                  \
        races_give(place);                                                                                             \
        __real_##end(argument);                                                                                        \
    }

static const char critical_place, atomic_place, ordered_place;

WRAP_LOCK(GOMP_critical_start, GOMP_critical_end, (void), , &critical_place)
WRAP_LOCK(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), name, name)
WRAP_LOCK(GOMP_atomic_start, GOMP_atomic_end, (void), , &atomic_place)
WRAP_LOCK(GOMP_ordered_start, GOMP_ordered_end, (void), , &ordered_place)
WRAP_LOCK(omp_set_lock, omp_unset_lock, (void *own), own, own)

WRAP_LOCK(omp_set_nest_lock, omp_unset_nest_lock, (void *own), own, own)

#define WRAP_TRY(result, name, parameters, argument, done)                                                             \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        const result got = __real_##name(argument);                                                                    \
                                                                                                                       \
        if (done)                                                                                                      \
            races_take(own);                                                                                           \
        return got;                                                                                                    \
    }

WRAP_TRY(int, omp_test_lock, (void *own), own, got)
WRAP_TRY(int, omp_test_nest_lock, (void *own), own, got)

/* Of `single copyprivate`: the thread that computed hands its values to the others. */
static const char copied_place;

void *__real_GOMP_single_copy_start(void);
void *__wrap_GOMP_single_copy_start(void);
void __real_GOMP_single_copy_end(void *data);
void __wrap_GOMP_single_copy_end(void *data);

void *__wrap_GOMP_single_copy_start(void)
{
    void *const data = __real_GOMP_single_copy_start();

    if (data)
        races_acquire(&copied_place);
    return data;
}

void __wrap_GOMP_single_copy_end(void *data)
{
    races_release(&copied_place);
    __real_GOMP_single_copy_end(data);
}

/* A task's own data with this before it: libgomp copies both. Of a taskloop it writes the bounds into the first two
 * words, and reads the third where it reduces. */
struct task {
    long first, last;
    uintptr_t reductions;
    void (*function)(void *);
    void (*copy)(void *, void *);
    const char *given; /* the data that `copy` copies */
    long offset;       /* of the data behind this */
    bool is_loop, waits;
    struct races_clock began;
};

enum { TASK_WAITS_FOR_OTHERS = 1 << 3 /* has a depend clause */, MOST_TASK_BYTES = 4096 };

static atomic_uint tasks_begun;

static void in_task(void *argument)
{
    struct task *const task = argument;
    char *const data = (char *)argument + task->offset;

    tasks_begun++;
    if (task->is_loop)
        memcpy(data, task, 2 * sizeof(long));
    const uint64_t chain = races_begin_task(&task->began);

    if (task->waits)
        races_acquire(&tasks_place);
    task->function(data);
    races_release(&tasks_place);
    races_end_task(chain);
}

static void copy_task(void *to, void *from)
{
    const struct task *const task = from;

    memcpy(to, task, sizeof *task);
    task->copy((char *)to + task->offset, (char *)task->given);
}

/* Fills in a task and returns its size; the data are behind it unless they are to be copied by a function. */
static long prepare(struct task *task, void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
                    long alignment, bool is_loop, unsigned flags)
{
    *task = (struct task){.function = function,
                          .copy = copy,
                          .given = data,
                          .offset = ((long)sizeof *task + alignment - 1) / alignment * alignment,
                          .is_loop = is_loop,
                          .waits = (flags & TASK_WAITS_FOR_OTHERS) != 0};
    if (task->offset + bytes > MOST_TASK_BYTES)
        abort();
    if (is_loop && bytes >= 3 * (long)sizeof(long))
        memcpy(&task->reductions, (const char *)data + 2 * sizeof(long), sizeof task->reductions);
    if (!copy && bytes > 0)
        memcpy((char *)task + task->offset, data, (size_t)bytes);
    races_begin(&task->began);
    return task->offset + bytes;
}

/* Clocks are of threads: a task is at odds with what its maker does next only where another thread runs it, and on a
 * busy machine the maker may come to all of its tasks first. It gives the others time to take one. */
static void let_others_begin(unsigned begun_before)
{
    enum { TURNS = 50, TURN_NANOSECONDS = 100000 };
    const long begin = may_pause();

    if (begin == 0)
        return;
    for (int turn = 0; turn < TURNS && tasks_begun == begun_before; turn++)
        nanosleep(&(struct timespec){.tv_nsec = TURN_NANOSECONDS}, NULL);
    has_paused(begin);
}

#define TASK_ROOM(name)                                                                                                \
    _Alignas(64) char room[MOST_TASK_BYTES];                                                                           \
    struct task *const name = (struct task *)(void *)room;
#define AT_LEAST(alignment) ((alignment) > 16 ? (alignment) : 16)

void __real_GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                      bool deferred, unsigned flags, void **depend, int priority, void *detach);
void __wrap_GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                      bool deferred, unsigned flags, void **depend, int priority, void *detach);
void __wrap_GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                      bool deferred, unsigned flags, void **depend, int priority, void *detach)
{
    TASK_ROOM(task)
    const long all = prepare(task, function, data, copy, bytes, AT_LEAST(alignment), false, flags);
    const unsigned begun = tasks_begun;

    __real_GOMP_task(in_task, task, copy ? copy_task : NULL, all, AT_LEAST(alignment), deferred, flags, depend,
                     priority, detach);
    if (!deferred) /* it has run */
        races_acquire(&tasks_place);
    let_others_begin(begun);
}

#define WRAP_TASKLOOP(name, type)                                                                                      \
    void __real_##name(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, \
                       unsigned flags, unsigned long tasks, int priority, type first, type last, type step);           \
    void __wrap_##name(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, \
                       unsigned flags, unsigned long tasks, int priority, type first, type last, type step);           \
    void __wrap_##name(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, \
                       unsigned flags, unsigned long tasks, int priority, type first, type last, type step)            \
    {                                                                                                                  \
        TASK_ROOM(task)                                                                                                \
        const long all = prepare(task, function, data, copy, bytes, AT_LEAST(alignment), true, flags);                 \
                                                                                                                       \
        __real_##name(in_task, task, copy ? copy_task : NULL, all, AT_LEAST(alignment), flags, tasks, priority, first, \
                      last, step);                                                                                     \
        races_acquire(&tasks_place);                                                                                   \
    }
WRAP_TASKLOOP(GOMP_taskloop, long)
WRAP_TASKLOOP(GOMP_taskloop_ull, unsigned long long)

#define WRAP_TASKS_END(name)                                                                                           \
    void __real_##name(void);                                                                                          \
    void __wrap_##name(void);                                                                                          \
    void __wrap_##name(void)                                                                                           \
    {                                                                                                                  \
        __real_##name();                                                                                               \
        races_acquire(&tasks_place);                                                                                   \
    }
WRAP_TASKS_END(GOMP_taskwait)
WRAP_TASKS_END(GOMP_taskgroup_end)

/* ------------------------------------------------------------------------------------------- POSIX threads */

struct start {
    void *(*function)(void *);
    void *argument;
    struct races_clock clock;
};

static void *in_thread(void *argument)
{
    const struct start start = *(struct start *)argument;

    free(argument);
    races_take_place();
    races_forget_stack();
    races_follow(&start.clock);
    void *const result = start.function(start.argument);
    races_release((const char *)pthread_self());
    races_leave_place();
    return result;
}

void __real_pthread_exit(void *result) __attribute__((noreturn));
void __wrap_pthread_exit(void *result) __attribute__((noreturn));
void __wrap_pthread_exit(void *result)
{
    races_release((const char *)pthread_self());
    races_leave_place();
    __real_pthread_exit(result);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument)
{
    struct start *const start = malloc(sizeof *start);

    if (!start)
        return 12; /* ENOMEM */
    *start = (struct start){.function = function, .argument = argument};
    races_begin(&start->clock);
    return __real_pthread_create(thread, how, in_thread, start);
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    const int error = __real_pthread_join(thread, result);

    races_acquire((const char *)thread);
    return error;
}

/* The same of C11. */
struct c11_start {
    thrd_start_t function;
    void *argument;
    struct races_clock clock;
};

static int in_c11_thread(void *argument)
{
    const struct c11_start start = *(struct c11_start *)argument;

    free(argument);
    races_take_place();
    races_forget_stack();
    races_follow(&start.clock);
    const int result = start.function(start.argument);
    races_release((const char *)thrd_current());
    races_leave_place();
    return result;
}

void __real_thrd_exit(int result) __attribute__((noreturn));
void __wrap_thrd_exit(int result) __attribute__((noreturn));
void __wrap_thrd_exit(int result)
{
    races_release((const char *)thrd_current());
    races_leave_place();
    __real_thrd_exit(result);
}

int __real_thrd_create(thrd_t *thread, thrd_start_t function, void *argument);
int __wrap_thrd_create(thrd_t *thread, thrd_start_t function, void *argument);
int __wrap_thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct c11_start *const start = malloc(sizeof *start);

    if (!start)
        return thrd_nomem;
    *start = (struct c11_start){.function = function, .argument = argument};
    races_begin(&start->clock);
    return __real_thrd_create(thread, in_c11_thread, start);
}

int __real_thrd_join(thrd_t thread, int *result);
int __wrap_thrd_join(thrd_t thread, int *result);
int __wrap_thrd_join(thrd_t thread, int *result)
{
    const int error = __real_thrd_join(thread, result);

    races_acquire((const char *)thread);
    return error;
}

/* What else POSIX threads wait by: the functions that get it, where they have it, and that give it away. */
#define WRAP_GIVE(name, type)                                                                                          \
    int __real_##name(type *own);                                                                                      \
    int __wrap_##name(type *own);                                                                                      \
    int __wrap_##name(type *own)                                                                                       \
    {                                                                                                                  \
        races_give((const volatile void *)own);                                                                        \
        const int error = __real_##name(own);                                                                          \
                                                                                                                       \
        linger();                                                                                                      \
        return error;                                                                                                  \
    }
#define WRAP_TAKE(name, type) WRAP_TRY(int, name, (type * own), own, got == 0)
#define WRAP_TAKE_UNTIL(name, type)                                                                                    \
    int __real_##name(type *own, const struct timespec *until);                                                        \
    int __wrap_##name(type *own, const struct timespec *until);                                                        \
    int __wrap_##name(type *own, const struct timespec *until)                                                         \
    {                                                                                                                  \
        const int got = __real_##name(own, until);                                                                     \
                                                                                                                       \
        if (got == 0)                                                                                                  \
            races_take((const volatile void *)own);                                                                    \
        return got;                                                                                                    \
    }

WRAP_TAKE(pthread_mutex_lock, pthread_mutex_t)
WRAP_TAKE(pthread_mutex_trylock, pthread_mutex_t)
WRAP_TAKE_UNTIL(pthread_mutex_timedlock, pthread_mutex_t)
WRAP_GIVE(pthread_mutex_unlock, pthread_mutex_t)
WRAP_TAKE(pthread_spin_lock, pthread_spinlock_t)
WRAP_TAKE(pthread_spin_trylock, pthread_spinlock_t)
WRAP_GIVE(pthread_spin_unlock, pthread_spinlock_t)
WRAP_TAKE(pthread_rwlock_rdlock, pthread_rwlock_t)
WRAP_TAKE(pthread_rwlock_tryrdlock, pthread_rwlock_t)
WRAP_TAKE(pthread_rwlock_wrlock, pthread_rwlock_t)
WRAP_TAKE(pthread_rwlock_trywrlock, pthread_rwlock_t)
WRAP_GIVE(pthread_rwlock_unlock, pthread_rwlock_t)
WRAP_TAKE(sem_wait, sem_t)
WRAP_TAKE(sem_trywait, sem_t)
WRAP_TAKE_UNTIL(sem_timedwait, sem_t)
WRAP_GIVE(sem_post, sem_t)
WRAP_TRY(int, mtx_lock, (mtx_t * own), own, got == thrd_success)
WRAP_TRY(int, mtx_trylock, (mtx_t * own), own, got == thrd_success)
WRAP_TAKE_UNTIL(mtx_timedlock, mtx_t)
WRAP_GIVE(mtx_unlock, mtx_t)

/* Those that give a lock away, wait for something else and have the lock again. */
#define WRAP_WAIT(name, condition_type, lock_type)                                                                     \
    int __real_##name(condition_type *condition, lock_type *own);                                                      \
    int __wrap_##name(condition_type *condition, lock_type *own);                                                      \
    int __wrap_##name(condition_type *condition, lock_type *own)                                                       \
    {                                                                                                                  \
        races_give(own);                                                                                               \
        const int error = __real_##name(condition, own);                                                               \
                                                                                                                       \
        races_take(own);                                                                                               \
        return error;                                                                                                  \
    }
#define WRAP_WAIT_UNTIL(name, condition_type, lock_type)                                                               \
    int __real_##name(condition_type *condition, lock_type *own, const struct timespec *until);                        \
    int __wrap_##name(condition_type *condition, lock_type *own, const struct timespec *until);                        \
    int __wrap_##name(condition_type *condition, lock_type *own, const struct timespec *until)                         \
    {                                                                                                                  \
        races_give(own);                                                                                               \
        const int error = __real_##name(condition, own, until);                                                        \
                                                                                                                       \
        races_take(own);                                                                                               \
        return error;                                                                                                  \
    }
WRAP_WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t)
WRAP_WAIT_UNTIL(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t)
WRAP_WAIT(cnd_wait, cnd_t, mtx_t)
WRAP_WAIT_UNTIL(cnd_timedwait, cnd_t, mtx_t)

int __real_pthread_barrier_wait(pthread_barrier_t *barrier);
int __wrap_pthread_barrier_wait(pthread_barrier_t *barrier);
int __wrap_pthread_barrier_wait(pthread_barrier_t *barrier)
{
    races_release(barrier);
    const int last = __real_pthread_barrier_wait(barrier);

    races_acquire(barrier);
    return last;
}

/* Whoever returns from it knows what the one that ran the function did. */
static _Thread_local void (*once_function)(void);
static _Thread_local void *once_place;

static void in_once(void)
{
    void *const place = once_place;

    once_function();
    races_release(place);
}

static void prepare_once(void *place, void (*function)(void))
{
    once_place = place;
    once_function = function;
}

int __real_pthread_once(pthread_once_t *place, void (*function)(void));
int __wrap_pthread_once(pthread_once_t *place, void (*function)(void));
int __wrap_pthread_once(pthread_once_t *place, void (*function)(void))
{
    prepare_once(place, function);
    const int error = __real_pthread_once(place, in_once);

    races_acquire(place);
    return error;
}

void __real_call_once(once_flag *place, void (*function)(void));
void __wrap_call_once(once_flag *place, void (*function)(void));
void __wrap_call_once(once_flag *place, void (*function)(void))
{
    prepare_once(place, function);
    __real_call_once(place, in_once);
    races_acquire(place);
}
