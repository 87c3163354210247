#include "common/remote/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What memory, threads, clocks and printf() need. */
static const char *const allowed[] = {
    "brk",
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "futex",
    "futex_waitv",
    "set_robust_list",
    "rseq",
    "set_tid_address",
    "membarrier",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "getcpu",
    "exit",
    "exit_group",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "clock_nanosleep",
    "nanosleep",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    "getrandom",
    "write",
    "writev",
    "read",
    "close",
    "fstat",
    "newfstatat",
    "lseek",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "sysinfo",
    "uname",
    "getrusage",
    "times",
    "getrlimit",
    "get_mempolicy",
    "mbind",
    "arch_prctl",
    "poll",
    "ppoll",
};

/* The C library makes these calls where it can and works without them. */
static const char *const denied_quietly[] = {
    "open",  "openat", "openat2", "readlink", "readlinkat",    "access", "faccessat", "faccessat2", "stat",
    "lstat", "statx",  "ioctl",   "prctl",    "set_mempolicy", "fcntl",  "getcwd",    "clone3",     "prlimit64"};

/* For a version on a GPU: what reaches other processes, or what would get round this filter, ends the worker. */
static const char *const refused_to_gpu[] = {"execveat",
                                             "ptrace",
                                             "process_vm_readv",
                                             "process_vm_writev",
                                             "tkill",
                                             "pidfd_open",
                                             "pidfd_send_signal",
                                             "pidfd_getfd",
                                             "rt_sigqueueinfo",
                                             "rt_tgsigqueueinfo",
                                             "setsid",
                                             "setpgid",
                                             "unshare",
                                             "setns",
                                             "mount",
                                             "bpf",
                                             "io_uring_setup",
                                             "perf_event_open"};

/* What a driver tries as well, a helper program that loads its module say, and can live without: fails quietly. unlink
 * is not among them: CUDA 13 removes a file named "" and does not start unless it hears that there is none. */
static const char *const denied_to_gpu[] = {"fork",    "vfork",     "execve", "kill",     "connect",   "sendto",
                                            "rename",  "unlinkat",  "mkdir",  "renameat", "renameat2", "mkdirat",
                                            "chmod",   "fchmodat",  "rmdir",  "truncate", "link",      "linkat",
                                            "symlink", "symlinkat", "chown",  "fchownat"};

static const struct {
    const char *call, *meaning;
} meanings[] = {
    {"fork", "to start a process"},
    {"vfork", "to start a process"},
    {"clone", "to start a process"},
    {"clone3", "to start a process"},
    {"execve", "to run a program"},
    {"execveat", "to run a program"},
    {"open", "to write to a file"},
    {"openat", "to write to a file"},
    {"creat", "to write to a file"},
    {"kill", "to send a signal"},
    {"tgkill", "to send a signal"},
    {"tkill", "to send a signal"},
    {"socket", "to use the network"},
    {"connect", "to use the network"},
    {"ptrace", "to look into another process"},
    {"process_vm_readv", "to look into another process"},
    {"process_vm_writev", "to look into another process"},
    {"unlink", "to remove a file"},
    {"unlinkat", "to remove a file"},
    {"rename", "to rename a file"},
    {"mkdir", "to make a folder"},
    {"setpgid", "to get away from the grader"},
    {"setsid", "to get away from the grader"},
};

void confine_call_name(int number, char *text, size_t size)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

    if (name)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "number %d", number);
    free(name);
}

const char *confine_call_meaning(int number)
{
    char name[64];

    confine_call_name(number, name, sizeof name);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].call, name) == 0)
            return meanings[i].meaning;
    return "something";
}

/* Adds one rule; a call that this processor or this library does not have needs none. */
static int add(scmp_filter_ctx filter, uint32_t action, const char *name)
{
    const int number = seccomp_syscall_resolve_name(name);
    int error;

    if (number == __NR_SCMP_ERROR)
        return 0;
    error = seccomp_rule_add(filter, action, number, 0);
    return error == -EDOM || error == -EEXIST || error == -EACCES ? 0 : error;
}

static int add_rules(scmp_filter_ctx filter, bool gpu)
{
    int error = 0;

    /* A thread is a clone with CLONE_THREAD; without it, a process. glibc falls back to it from clone3, whose flags
     * cannot be seen from here. */
    if (!gpu) {
        error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    } else {
        error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
        error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
        /* The driver's sockets are local ones. */
        error |= seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_INET, 0));
        error |= seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_INET6, 0));
        for (size_t i = 0; i < sizeof refused_to_gpu / sizeof *refused_to_gpu; i++)
            error |= add(filter, SCMP_ACT_TRAP, refused_to_gpu[i]);
        for (size_t i = 0; i < sizeof denied_to_gpu / sizeof *denied_to_gpu; i++)
            error |= add(filter, SCMP_ACT_ERRNO(EPERM), denied_to_gpu[i]);
        error |= add(filter, SCMP_ACT_ERRNO(ENOENT), "unlink");
        return error;
    }
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        error |= add(filter, SCMP_ACT_ALLOW, allowed[i]);
    for (size_t i = 0; i < sizeof denied_quietly / sizeof *denied_quietly; i++) {
        const char *name = denied_quietly[i];

        if (strcmp(name, "open") == 0 || strcmp(name, "openat") == 0)
            continue;
        error |= add(filter, SCMP_ACT_ERRNO(strcmp(name, "clone3") == 0 ? ENOSYS : EACCES), name);
    }
    /* To open for reading fails quietly, for the C library tries; to open for writing ends the worker. */
    error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
#ifdef __NR_open
    error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
#endif
    return error;
}

enum status confine_filter(struct channel *channel, bool gpu)
{
    scmp_filter_ctx filter = seccomp_init(gpu ? SCMP_ACT_ALLOW : SCMP_ACT_TRAP);
    const size_t room = sizeof channel->filter;
    enum status status = STATUS_OK;
    ssize_t length;
    int file = -1;

    if (!filter || add_rules(filter, gpu) != 0) {
        status = status_set(STATUS_FAILED, "libseccomp made no filter");
        goto out;
    }
    file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0 || seccomp_export_bpf(filter, file) != 0) {
        status = status_set(STATUS_FAILED, "libseccomp wrote no filter: %s", strerror(errno));
        goto out;
    }
    length = pread(file, channel->filter, room, 0);
    if (length <= 0 || (size_t)length == room || (size_t)length % sizeof channel->filter[0]) {
        status = status_set(STATUS_FAILED, "the filter has %zd bytes", length);
        goto out;
    }
    channel->filter_length = (unsigned short)((size_t)length / sizeof channel->filter[0]);
    channel->confined = 1;
out:
    if (file >= 0)
        close(file);
    seccomp_release(filter);
    return status;
}

/* With `flags` 0 the folder stays open over exec. */
static bool allow_below(int rules, const char *folder, uint64_t rights, int flags)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = rights,
                                                    .parent_fd = open(folder, O_PATH | flags)};
    const bool done =
        rule.parent_fd >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;

    if (rule.parent_fd >= 0 && flags)
        close(rule.parent_fd);
    return done;
}

bool confine_files(bool gpu)
{
    /* The rights of Landlock's first version, of Linux 5.13, but those to read and to execute. */
    const struct landlock_ruleset_attr rights = {.handled_access_fs =
                                                     LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                                     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                                     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                                     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &rights, sizeof rights, 0);
    bool done = rules >= 0;

    if (done && gpu) {
        /* CUDA 13 names its threads by writing to their files in /proc, and does not start where it cannot. A rule
         * holds for a folder as the kernel knows it now; /proc would make it anew if nobody had it open. */
        done = allow_below(rules, "/dev", LANDLOCK_ACCESS_FS_WRITE_FILE, O_CLOEXEC) &&
               allow_below(rules, "/dev/shm", LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG, O_CLOEXEC) &&
               allow_below(rules, "/proc/self/task", LANDLOCK_ACCESS_FS_WRITE_FILE, 0);
    }
    done = done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return done;
}
