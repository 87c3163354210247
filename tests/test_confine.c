/* confine.h for a worker on a GPU: what CUDA 13's driver does when it starts goes through (seen on an H200 with driver
 * 580.159), what a student's version must not do fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/remote/confine.h"

static const char *self;
static struct channel channel;

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
    EXPECT(confine_files(true));
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
    const struct sock_fprog program = {.len = channel.filter_length, .filter = channel.filter};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int local;

    EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    EXPECT(unlink("") < 0 && errno == ENOENT);
    EXPECT(unlink(victim) < 0);
    EXPECT(rename(victim, "/tmp/rungs-confine-moved") < 0 && errno == EPERM);
    /* A socket without a file, whose name only this program knows. */
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "rungs-confine-%d", (int)getpid());
    local = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT(local >= 0 && bind(local, (struct sockaddr *)&address, sizeof address) == 0 && listen(local, 1) == 0);
    EXPECT(kill(getppid(), 0) < 0 && errno == EPERM);
    EXPECT(fork() < 0);
}

static void calls_of_a_driver(void **unused)
{
    (void)unused;
    if (prctl(PR_GET_SECCOMP) < 0)
        skip(); /* a kernel without filters */
    assert_int_equal(confine_filter(&channel, true), STATUS_OK);
    in_child(without_calls);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_driver),
        cmocka_unit_test(calls_of_a_driver),
    };

    if (count > 1)
        return child_after_exec(arguments[1]);
    self = arguments[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
