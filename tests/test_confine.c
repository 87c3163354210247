/* confine.h. For a worker on a GPU: what CUDA 13's driver does when it starts goes through (seen on an H200 with driver
 * 580.159), what a student's version must not do fails. For one without: what a version must not do ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/remote/confine.h"

static const char *self;
static const struct confine_needs driver = {.gpu = true, .loader = true};

/* In a child, whose exit code tells the parent. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void *name_myself(void *result)
{
    char path[64];
    int file;

    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", syscall(SYS_gettid));
    file = open(path, O_RDWR);
    *(int *)result = file >= 0 && write(file, "named", 5) == 5;
    if (file >= 0)
        close(file);
    return NULL;
}

static int child_after_exec(const char *victim)
{
    const int device = open("/dev/null", O_RDWR);
    pthread_t thread;
    int named = 0;

    EXPECT(device >= 0 && write(device, "x", 1) == 1);
    EXPECT(pthread_create(&thread, NULL, name_myself, &named) == 0 && pthread_join(thread, NULL) == 0);
    EXPECT(named);
    EXPECT(open(victim, O_WRONLY) < 0 && errno == EACCES);
    EXPECT(open("/proc/self/oom_score_adj", O_WRONLY) < 0 && errno == EACCES);
    EXPECT(unlink(victim) < 0 && errno == EACCES);
    return 0;
}

/* Runs a body in a child with the path of a file, which must outlive it. */
static void in_child(void (*body)(const char *victim))
{
    char victim[] = "/tmp/rungs-confine-XXXXXX";
    const int file = mkstemp(victim);
    int status = 0;
    pid_t child;

    assert_true(file >= 0);
    close(file);
    child = fork();
    if (child == 0) {
        body(victim);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(access(victim, F_OK), 0);
    unlink(victim);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void without_files(const char *victim)
{
    EXPECT(confine_files(driver, self));
    execl("/proc/self/exe", self, victim, (char *)NULL);
    _exit(126);
}

static void files_of_a_driver(void **unused)
{
    (void)unused;
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
        skip(); /* a kernel without Landlock */
    in_child(without_files);
}

static void without_calls(const char *victim)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    cpu_set_t set;
    int local;

    EXPECT(confine_calls(driver, NULL) == STATUS_OK);
    EXPECT(unlink("") < 0 && errno == ENOENT);
    EXPECT(unlink(victim) < 0);
    EXPECT(rename(victim, "/tmp/rungs-confine-moved") < 0 && errno == EPERM);
    /* A socket without a file, whose name only this program knows. */
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "rungs-confine-%d", (int)getpid());
    local = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT(local >= 0 && bind(local, (struct sockaddr *)&address, sizeof address) == 0 && listen(local, 1) == 0);
    EXPECT(kill(getppid(), 0) < 0 && errno == EPERM);
    EXPECT(fork() < 0);
    EXPECT(chmod(victim, 0) < 0 && errno == EPERM);
    EXPECT(truncate(victim, 1) < 0 && errno == EPERM);
    EXPECT(sched_setaffinity(getppid(), sizeof set, &set) < 0 && errno == EPERM);
    EXPECT(sched_getaffinity(0, sizeof set, &set) == 0 && sched_setaffinity(0, sizeof set, &set) == 0);
    EXPECT(setpriority(PRIO_PROCESS, (id_t)getppid(), 5) < 0 && errno == EPERM);
    EXPECT(socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == EAFNOSUPPORT);
    EXPECT(execl("/bin/true", "true", (char *)NULL) < 0 && errno == EPERM);
}

/* A call that is refused ends the process by SIGSYS, or fails with `expected`. */
static void expect_refused(long number, long first, long second, long third, int expected)
{
    const pid_t parent = getpid();
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        const struct confine_needs none = {0};

        signal(SIGSYS, SIG_DFL); /* cmocka catches it */
        if (confine_calls(none, NULL) != STATUS_OK)
            _exit(1);
        if (first == parent)
            first = getppid();
        const long result = syscall((long)number, first, second, third, 0, 0, 0);

        _exit(result < 0 && errno == expected ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (expected)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* For a version without a GPU, each by its number, whatever the C library has been made to be. */
static void calls_of_a_version(void **unused)
{
    static char name[] = "/tmp";
    const long path = (long)name, parent = getpid();

    (void)unused;
    if (prctl(PR_GET_SECCOMP) < 0)
        skip(); /* a kernel without filters */
    expect_refused(SYS_openat, AT_FDCWD, path, O_RDONLY, EACCES);
    expect_refused(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0);
    expect_refused(SYS_openat2, AT_FDCWD, path, 0, EACCES);
    expect_refused(SYS_fchmodat, AT_FDCWD, path, 0777, 0);
    expect_refused(SYS_truncate, path, 1, 0, 0);
    expect_refused(SYS_ftruncate, 3, 1, 0, 0);
    expect_refused(SYS_socket, AF_INET, SOCK_STREAM, 0, 0);
    expect_refused(SYS_clone, SIGCHLD, 0, 0, 0);
    expect_refused(SYS_execve, path, 0, 0, 0);
    expect_refused(SYS_tgkill, parent, parent, SIGKILL, 0);
    expect_refused(SYS_kill, parent, SIGKILL, 0, 0);
    expect_refused(SYS_sched_setaffinity, parent, 0, 0, EPERM);
    expect_refused(SYS_setpriority, PRIO_PROCESS, parent, 5, 0);
    expect_refused(SYS_ptrace, 16, parent, 0, 0);
    expect_refused(SYS_process_vm_readv, parent, 0, 0, 0);
    expect_refused(SYS_setpgid, 0, 0, 0, 0);
    expect_refused(SYS_setsid, 0, 0, 0, 0);
    expect_refused(SYS_memfd_create, path, 0, 0, 0);
    expect_refused(SYS_userfaultfd, 0, 0, 0, 0);
    expect_refused(SYS_io_uring_setup, 1, 0, 0, 0);
    expect_refused(SYS_prctl, PR_SET_DUMPABLE, 1, 0, EACCES);
    expect_refused(SYS_prlimit64, parent, 0, 0, EACCES);
}

/* The one program that it may become is known by the addresses of its arguments. */
static void one_program(void **unused)
{
    char *const arguments[] = {(char *)"true", NULL}, *const environment[] = {NULL};
    struct confine_program program;
    int status = 0;
    pid_t child;

    (void)unused;
    if (prctl(PR_GET_SECCOMP) < 0)
        skip(); /* a kernel without filters */
    for (int turn = 0; turn < 2; turn++) {
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const struct confine_needs needs = {.loader = true};

            signal(SIGSYS, SIG_DFL);
            if (confine_hide(&program, "/bin/true", arguments, environment) != STATUS_OK ||
                confine_calls(needs, &program) != STATUS_OK)
                _exit(1);
            if (turn == 0)
                execve(program.path, program.arguments, program.environment);
            else
                execve("/bin/true", program.arguments, program.environment);
            _exit(2);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (turn == 0)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    }
}

static enum status does_nothing(void)
{
    return STATUS_OK;
}

static enum status sends_a_signal(void)
{
    cpu_set_t set;

    sched_setaffinity(getppid(), sizeof set, &set);
    return kill(getppid(), 0) < 0 ? status_set(STATUS_FAILED, "OS call failed: %s", strerror(errno)) : STATUS_OK;
}

static enum status opens_a_file(void)
{
    const int file = open("/proc/self/oom_score_adj", O_RDWR);

    return file < 0 ? status_set(STATUS_FAILED, "no settings: %s", strerror(errno)) : STATUS_OK;
}

static enum status crashes(void)
{
    signal(SIGABRT, SIG_DFL); /* cmocka catches it */
    abort();
}

/* A driver that does not start says why, and what was refused to it. */
static void drivers(void **unused)
{
    (void)unused;
    if (prctl(PR_GET_SECCOMP) < 0)
        skip(); /* a kernel without filters */
    assert_int_equal(confine_try(does_nothing), STATUS_OK);
    assert_int_equal(confine_try(sends_a_signal), STATUS_FAILED);
    assert_string_equal(status_message(),
                        "OS call failed: Operation not permitted (refused to it: sched_setaffinity, kill)");
    assert_int_equal(confine_try(crashes), STATUS_FAILED);
    assert_string_equal(status_message(), "killed by signal 6 (Aborted) (refused to it: nothing that fails elsewhere)");
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
        return; /* a kernel without Landlock */
    assert_int_equal(confine_try(opens_a_file), STATUS_FAILED);
    assert_string_equal(status_message(), "no settings: Permission denied (refused to it: files, by Landlock)");
}

static void calls_of_a_driver(void **unused)
{
    (void)unused;
    if (prctl(PR_GET_SECCOMP) < 0)
        skip(); /* a kernel without filters */
    in_child(without_calls);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_driver), cmocka_unit_test(calls_of_a_driver), cmocka_unit_test(calls_of_a_version),
        cmocka_unit_test(one_program),       cmocka_unit_test(drivers),
    };

    if (count > 1)
        return child_after_exec(arguments[1]);
    self = arguments[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
