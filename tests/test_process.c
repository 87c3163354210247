/*
 * test_process.c: child processes: their ends, their limits, what they say, and that none is left over.
 */
#include <errno.h>
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

#include "common/core/clock.h"
#include "common/core/process.h"

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Whether the process is gone, or gets there within two seconds. A zombie whose parent is another process counts as
 * gone: in a container nobody may reap it. */
static bool ends_soon(pid_t pid)
{
    for (int i = 0; i < 100; i++) {
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
    assert_false(result.timed_out);
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
    const double start = clock_seconds();

    (void)state;
    assert_int_equal(process_run(hang_with_child, shared, 0.3, &result), STATUS_OK);
    assert_true(clock_seconds() - start < 5);
    assert_true(result.timed_out);
    assert_string_equal(described(&result), "ran past its limit of 0.3 s");
    assert_true(shared->grandchild > 0);
    assert_true(ends_soon(shared->grandchild));
    process_shared_free(shared, sizeof *shared);
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
    const double start = clock_seconds();

    (void)state;
    assert_int_equal(process_run(leave_child, shared, 30, &result), STATUS_OK);
    assert_true(clock_seconds() - start < 5);
    assert_false(result.timed_out);
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
    assert_false(result.timed_out);
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
                    "    #2 0x55 in blur_row(int, char) /home/me/rungs/cpu/blur/omp.c:42:13\n"
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
                                            "cpu/blur/omp.c:42:13");
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
    assert_int_equal(process_run_watched(run_inner_and_tell, kill_parent_of_grandchild, shared, 30, &result),
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
    assert_int_equal(process_run_watched(sleep_a_little, count_calls, &shared, 30, &result), STATUS_OK);
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
