/*
 * test_process.c: child processes: their ends, their limits, what they say, and that none is left over.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/core/process.h"

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Whether the process is gone, or gets there within two minutes, if the machine is busy. A zombie whose parent is
 * another process counts as gone: in a container nobody may reap it. */
static bool ends_soon(pid_t pid)
{
    for (int i = 0; i < 6000; i++) {
        char path[64], state = 'X';
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        file = fopen(path, "r");
        if (!file)
            return true;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 'X';
        fclose(file);
        if (state == 'Z' || state == 'X')
            return true;
        wait_a_little();
    }
    return false;
}

/* The text of process_describe(). */
static const char *described(const struct process_result *result)
{
    static char text[512];

    process_describe(result, text, sizeof text);
    return text;
}

static void hang(void)
{
    for (;;)
        pause();
}

struct shared {
    int number;
    pid_t grandchild;
    struct process_result inner;
};

static int return_seven(void *argument)
{
    struct shared *shared = argument;

    shared->number = 42;
    return 7;
}

static void test_exit_code_and_shared_memory(void **state)
{
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct process_result result;

    (void)state;
    assert_non_null(shared);
    assert_int_equal(shared->number, 0);
    assert_int_equal(process_run(return_seven, shared, 10, &result), STATUS_OK);
    assert_int_equal(shared->number, 42);
    assert_int_equal(result.exit_code, 7);
    assert_int_equal(result.signal, 0);
    assert_int_equal(result.limit, LIMIT_KEPT);
    assert_string_equal(described(&result), "ended with exit code 7");
    /* No zombie: there is no child left to wait for. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    process_shared_free(shared, sizeof *shared);
}

static int own_memory;

static int change_own_memory(void *argument)
{
    (void)argument;
    own_memory = 1;
    return 0;
}

static void test_other_memory_is_a_copy(void **state)
{
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(change_own_memory, NULL, 10, &result), STATUS_OK);
    assert_int_equal(own_memory, 0);
    assert_int_equal(result.exit_code, 0);
    assert_string_equal(described(&result), "");
}

static int raise_signal(void *argument)
{
    signal(*(int *)argument, SIG_DFL); /* a sanitizer may have taken it */
    raise(*(int *)argument);
    return 0;
}

static void test_signals_in_words(void **state)
{
    static const struct {
        int number;
        const char *words;
    } cases[] = {
        {SIGSEGV, "killed by SIGSEGV (segmentation fault"},
        {SIGFPE, "killed by SIGFPE (arithmetic error"},
        {SIGILL, "killed by SIGILL (illegal instruction"},
        {SIGABRT, "killed by SIGABRT (aborted)"},
        {SIGUSR1, "killed by signal "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct process_result result;
        int number = cases[i].number;

        assert_int_equal(process_run(raise_signal, &number, 10, &result), STATUS_OK);
        assert_int_equal(result.signal, number);
        assert_non_null(strstr(described(&result), cases[i].words));
    }
}

static void start_hanging_child(struct shared *shared)
{
    const pid_t pid = fork();

    if (pid == 0)
        hang();
    shared->grandchild = pid;
}

/* Hangs together with a child of its own, both deaf to everything that can be ignored. */
static int hang_with_child(void *argument)
{
    struct shared *shared = argument;

    signal(SIGTERM, SIG_IGN);
    start_hanging_child(shared);
    hang();
    return 0;
}

static void test_limit_kills_the_whole_group(void **state)
{
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct process_result result;

    (void)state;
    setenv("RUNGS_IDLE_SECONDS", "1", 1);
    assert_int_equal(process_run(hang_with_child, shared, 30, &result), STATUS_OK);
    unsetenv("RUNGS_IDLE_SECONDS");
    assert_int_equal(result.limit, LIMIT_IDLE);
    assert_string_equal(described(&result), "used no processor time for 1 s");
    assert_true(shared->grandchild > 0);
    assert_true(ends_soon(shared->grandchild));
    process_shared_free(shared, sizeof *shared);
}

static double thread_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute_for(double seconds)
{
    const double begin = thread_seconds();

    while (thread_seconds() - begin < seconds)
        continue;
}

static int compute_for_ever(void *argument)
{
    (void)argument;
    compute_for(1e9);
    return 0;
}

/* As a version that runs in another process. */
static int wait_for_child_that_computes(void *argument)
{
    const pid_t pid = fork();

    if (pid == 0)
        compute_for_ever(argument);
    waitpid(pid, NULL, 0);
    return 0;
}

static void test_limit_is_processor_time(void **state)
{
    static int (*const bodies[])(void *) = {compute_for_ever, wait_for_child_that_computes};
    struct process_result result;

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_int_equal(process_run(bodies[i], NULL, 0.5, &result), STATUS_OK);
        assert_int_equal(result.limit, LIMIT_SPENT);
        assert_string_equal(described(&result), "ran past its limit of 0.5 s");
    }
}

static void *compute_a_little(void *argument)
{
    (void)argument;
    compute_for(0.6);
    return NULL;
}

/* Four times 0.6 s of processor time, which are no more than 0.6 s of any thread. */
static int compute_in_threads(void *argument)
{
    pthread_t threads[4];

    (void)argument;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, compute_a_little, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Sleeps for longer than the limit, too. */
static int compute_and_sleep(void *argument)
{
    (void)argument;
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    compute_for(0.3);
    return 0;
}

static void test_neither_threads_nor_waiting_break_a_limit(void **state)
{
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(compute_in_threads, NULL, 2, &result), STATUS_OK);
    assert_string_equal(described(&result), "");
    assert_int_equal(process_run(compute_and_sleep, NULL, 1, &result), STATUS_OK);
    assert_string_equal(described(&result), "");
}

struct turns {
    volatile size_t turn;
    volatile double used;
    double last; /* seconds of the last turn */
};

static int take_turns(void *argument)
{
    struct turns *turns = argument;

    for (int i = 0; i < 4; i++) {
        compute_for(1);
        turns->turn++;
    }
    compute_for(turns->last);
    return 0;
}

static void test_each_turn_has_its_own_limit(void **state)
{
    struct turns *turns = process_shared_allocate(sizeof *turns);
    const struct process_limits limits = {.seconds = 2, .turn = &turns->turn, .used = &turns->used};
    struct process_result result;

    (void)state;
    assert_int_equal(process_run_watched(take_turns, NULL, turns, limits, &result), STATUS_OK);
    assert_string_equal(described(&result), "");
    assert_true(turns->used > 3 && turns->used < 5);
    turns->last = 1e9;
    assert_int_equal(process_run_watched(take_turns, NULL, turns, limits, &result), STATUS_OK);
    assert_int_equal(result.limit, LIMIT_SPENT);
    process_shared_free(turns, sizeof *turns);
}

/* Ends well, but leaves a child that holds the pipe open. */
static int leave_child(void *argument)
{
    struct shared *shared = argument;

    start_hanging_child(shared);
    return 0;
}

static void test_left_over_child_is_killed_and_not_waited_for(void **state)
{
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(leave_child, shared, 30, &result), STATUS_OK);
    assert_int_equal(result.limit, LIMIT_KEPT);
    assert_int_equal(result.exit_code, 0);
    assert_true(ends_soon(shared->grandchild));
    process_shared_free(shared, sizeof *shared);
}

static int write_much(void *argument)
{
    (void)argument;
    for (int i = 0; i < 20000; i++)
        fprintf(stderr, "line %d of very many that nobody reads while the child runs\n", i);
    printf("and this on stdout\n");
    return 0;
}

static void test_much_output_does_not_block(void **state)
{
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(write_much, NULL, 30, &result), STATUS_OK);
    assert_int_equal(result.limit, LIMIT_KEPT);
    assert_true(strlen(result.output) < sizeof result.output);
    assert_non_null(strstr(result.output, "line 19999 "));
    assert_non_null(strstr(result.output, "and this on stdout"));
    assert_string_equal(described(&result), "");
}

/* A report that comes after much other output, and before as much again. */
static int write_report_in_the_middle(void *argument)
{
    write_much(argument);
    fprintf(stderr, "==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000051 at pc 0x1 bp 0x2 sp "
                    "0x3\nWRITE of size 4 at 0x602000000051 thread T0\n"
                    "    #0 0x7f in __interceptor_memcpy ../../../../src/libsanitizer/sanitizer_common/x.inc:827\n"
                    "    #1 0x55 in image_copy /home/me/rungs/common/image/image.c:90:9\n"
                    "    #2 0x55 in blur_row(int, char) /home/me/rungs/cpu/blur/1_omp.c:42:13\n"
                    "    #3 0x55 in main /home/me/rungs/common/cli/main.c:10\n\n"
                    "0x602000000051 is located 0 bytes to the right of 1-byte region\nallocated by thread T0 here:\n"
                    "    #1 0x55 in elsewhere /home/me/rungs/cpu/blur/wrong.c:1\n");
    write_much(argument);
    return 1;
}

static void test_sanitizer_report_is_kept_and_described(void **state)
{
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(write_report_in_the_middle, NULL, 30, &result), STATUS_OK);
    assert_string_equal(described(&result), "AddressSanitizer: heap-buffer-overflow, write of 4 bytes in blur_row at "
                                            "cpu/blur/1_omp.c:42:13");
}

static void test_reports_of_other_kinds(void **state)
{
    struct process_result result = {.exit_code = 0};

    (void)state;
    /* Undefined behaviour that was only reported, with exit code 0, is no good end. */
    snprintf(result.output, sizeof result.output,
             "something else\ncpu/blur/simd.c:12:5: runtime error: shift exponent 32 is too large\nmore\n");
    assert_string_equal(described(&result), "UndefinedBehaviorSanitizer: cpu/blur/simd.c:12:5: runtime error: shift "
                                            "exponent 32 is too large");
    snprintf(result.output, sizeof result.output, "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n");
    assert_string_equal(described(&result), "AddressSanitizer: SEGV");
    snprintf(result.output, sizeof result.output,
             "==1==AddressSanitizer: CHECK failed: x.cpp:1 \"((a)) == ((b))\"\n#0\n");
    assert_string_equal(described(&result), "AddressSanitizer: CHECK failed: x.cpp:1 \"((a)) == ((b))\"");
    snprintf(result.output, sizeof result.output, "==1==ERROR: AddressSanitizer:");
    assert_non_null(described(&result));
    result.exit_code = 3;
    snprintf(result.output, sizeof result.output, "first\nno device found\n\n");
    assert_string_equal(described(&result), "ended with exit code 3: no device found");
}

static int inspect_itself(void *argument)
{
    struct rlimit core;
    char byte;

    (void)argument;
    if (read(STDIN_FILENO, &byte, 1) != 0)
        return 1;
    if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 0)
        return 2;
    if (getpgrp() != getpid())
        return 3;
    return 0;
}

static void test_child_has_no_input_no_core_and_its_own_group(void **state)
{
    struct process_result result;

    (void)state;
    assert_int_equal(process_run(inspect_itself, NULL, 10, &result), STATUS_OK);
    assert_int_equal(result.exit_code, 0);
}

static int note_and_hang(void *argument)
{
    ((struct shared *)argument)->grandchild = getpid();
    hang();
    return 0;
}

static int run_inner(void *argument)
{
    struct shared *shared = argument;

    process_run(note_and_hang, shared, 60, &shared->inner);
    return 0;
}

static void kill_parent_of_grandchild(void *argument)
{
    struct shared *shared = argument;

    if (shared->grandchild && shared->number)
        kill(shared->number, SIGKILL);
}

static int run_inner_and_tell(void *argument)
{
    ((struct shared *)argument)->number = getpid();
    return run_inner(argument);
}

static void test_child_dies_with_its_parent(void **state)
{
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct process_result result;

    (void)state;
    /* The outer child runs an inner one, and is killed while it waits. */
    assert_int_equal(process_run_watched(run_inner_and_tell, kill_parent_of_grandchild, shared,
                                         (struct process_limits){.seconds = 30}, &result),
                     STATUS_OK);
    assert_int_equal(result.signal, SIGKILL);
    assert_true(shared->grandchild > 0);
    assert_true(ends_soon(shared->grandchild));
    process_shared_free(shared, sizeof *shared);
}

static void count_calls(void *argument)
{
    ((struct shared *)argument)->number++;
}

static int sleep_a_little(void *argument)
{
    (void)argument;
    for (int i = 0; i < 15; i++)
        wait_a_little();
    return 0;
}

static void test_watch_is_called_meanwhile(void **state)
{
    struct shared shared = {0};
    struct process_result result;

    (void)state;
    assert_int_equal(
        process_run_watched(sleep_a_little, count_calls, &shared, (struct process_limits){.seconds = 30}, &result),
        STATUS_OK);
    assert_true(shared.number >= 3);
    assert_string_equal(described(&result), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_code_and_shared_memory),
        cmocka_unit_test(test_other_memory_is_a_copy),
        cmocka_unit_test(test_signals_in_words),
        cmocka_unit_test(test_limit_kills_the_whole_group),
        cmocka_unit_test(test_limit_is_processor_time),
        cmocka_unit_test(test_neither_threads_nor_waiting_break_a_limit),
        cmocka_unit_test(test_each_turn_has_its_own_limit),
        cmocka_unit_test(test_left_over_child_is_killed_and_not_waited_for),
        cmocka_unit_test(test_much_output_does_not_block),
        cmocka_unit_test(test_sanitizer_report_is_kept_and_described),
        cmocka_unit_test(test_reports_of_other_kinds),
        cmocka_unit_test(test_child_has_no_input_no_core_and_its_own_group),
        cmocka_unit_test(test_child_dies_with_its_parent),
        cmocka_unit_test(test_watch_is_called_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
