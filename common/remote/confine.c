#include "common/remote/confine.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
    "lstat", "statx",  "ioctl",   "prctl",    "set_mempolicy", "fcntl",  "getcwd",    "clone3"};

/* For a program that is loaded: what its loader does besides, before the first instruction of the program. */
static const char *const allowed_to_loader[] = {"open", "openat", "pread64", "readlink", "readlinkat", "access"};

/* For a version on a GPU: what reaches other processes, or what would get round this filter, ends the worker. */
static const char *const refused_to_gpu[] = {"execveat",
                                             "ptrace",
                                             "process_vm_readv",
                                             "process_vm_writev",
                                             "process_madvise",
                                             "process_mrelease",
                                             "kcmp",
                                             "migrate_pages",
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
                                             "chroot",
                                             "pivot_root",
                                             "bpf",
                                             "io_uring_setup",
                                             "userfaultfd",
                                             "keyctl",
                                             "add_key",
                                             "request_key",
                                             "perf_event_open"};

/* What a driver tries as well, a helper program that loads its module say, and can live without: fails quietly. unlink
 * is not among them: CUDA 13 removes a file named "" and does not start unless it hears that there is none. */
static const char *const denied_to_gpu[] = {"fork",
                                            "vfork",
                                            "kill",
                                            "connect",
                                            "sendto",
                                            "sendmsg",
                                            "sendmmsg",
                                            "rename",
                                            "unlinkat",
                                            "mkdir",
                                            "renameat",
                                            "mkdirat",
                                            "chmod",
                                            "fchmod",
                                            "fchmodat",
                                            "fchmodat2",
                                            "renameat2",
                                            "rmdir",
                                            "truncate",
                                            "link",
                                            "linkat",
                                            "symlink",
                                            "symlinkat",
                                            "chown",
                                            "fchown",
                                            "lchown",
                                            "fchownat",
                                            "mknod",
                                            "mknodat",
                                            "setxattr",
                                            "fsetxattr",
                                            "lsetxattr",
                                            "removexattr",
                                            "utime",
                                            "utimes",
                                            "utimensat",
                                            "futimesat",
                                            "ioprio_set",
                                            "sched_setscheduler",
                                            "sched_setparam",
                                            "setpriority",
                                            "sched_setattr",
                                            "open_by_handle_at",
                                            "name_to_handle_at",
                                            "setrlimit"};

/* Of these the first argument is a process: 0 is the caller, any other is none of a version's business. */
static const char *const own_process_only[] = {"sched_setaffinity", "prlimit64"};

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
    {"truncate", "to change a file"},
    {"ftruncate", "to change a file"},
    {"chmod", "to change a file"},
    {"fchmod", "to change a file"},
    {"fchmodat", "to change a file"},
    {"setpriority", "to get ahead of other processes"},
    {"sched_setscheduler", "to get ahead of other processes"},
    {"sched_setattr", "to get ahead of other processes"},
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

static struct scmp_arg_cmp argument(unsigned number, enum scmp_compare compare, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = number, .op = compare, .datum_a = value, .datum_b = 0};
}

/* execve() of `program` alone; `refusal` for all others. The filter of a worker on a GPU allows what it does not name,
 * so there each argument that differs is refused. */
static int add_program(scmp_filter_ctx filter, bool gpu, const struct confine_program *program)
{
    const scmp_datum_t addresses[3] = {program ? (scmp_datum_t)(uintptr_t)program->path : 0,
                                       program ? (scmp_datum_t)(uintptr_t)program->arguments : 0,
                                       program ? (scmp_datum_t)(uintptr_t)program->environment : 0};
    int error = 0;

    if (!program)
        return gpu ? add(filter, SCMP_ACT_ERRNO(EPERM), "execve") : 0;
    if (!gpu)
        return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(execve), 3, argument(0, SCMP_CMP_EQ, addresses[0]),
                                argument(1, SCMP_CMP_EQ, addresses[1]), argument(2, SCMP_CMP_EQ, addresses[2]));
    for (unsigned i = 0; i < 3; i++)
        error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(execve), 1,
                                  argument(i, SCMP_CMP_NE, addresses[i]));
    return error;
}

static int add_gpu_rules(scmp_filter_ctx filter, bool told)
{
    const uint32_t not_permitted = told ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(EPERM);
    const uint32_t no_family = told ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(EAFNOSUPPORT);
    int error = 0;

    error |= seccomp_rule_add(filter, not_permitted, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* The driver's sockets are local ones. */
    for (scmp_datum_t family = AF_UNIX + 1; family <= AF_INET6; family++)
        error |= seccomp_rule_add(filter, family == AF_INET || family == AF_INET6 ? SCMP_ACT_TRAP : no_family,
                                  SCMP_SYS(socket), 1, argument(0, SCMP_CMP_EQ, family));
    error |= seccomp_rule_add(filter, no_family, SCMP_SYS(socket), 1, argument(0, SCMP_CMP_GT, AF_INET6));
    error |=
        seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(tgkill), 1, argument(0, SCMP_CMP_NE, (scmp_datum_t)getpid()));
    for (size_t i = 0; i < sizeof own_process_only / sizeof *own_process_only; i++)
        error |= seccomp_rule_add(filter, not_permitted, seccomp_syscall_resolve_name(own_process_only[i]), 1,
                                  argument(0, SCMP_CMP_NE, 0));
    for (size_t i = 0; i < sizeof refused_to_gpu / sizeof *refused_to_gpu; i++)
        error |= add(filter, SCMP_ACT_TRAP, refused_to_gpu[i]);
    for (size_t i = 0; i < sizeof denied_to_gpu / sizeof *denied_to_gpu; i++)
        error |= add(filter, not_permitted, denied_to_gpu[i]);
    error |= add(filter, told ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(ENOENT), "unlink");
    return error;
}

static int add_rules(scmp_filter_ctx filter, struct confine_needs needs, const struct confine_program *program)
{
    int error = add_program(filter, needs.gpu, program);

    if (needs.gpu)
        return error | add_gpu_rules(filter, needs.told);
    /* A thread is a clone with CLONE_THREAD; without it, a process. glibc falls back to it from clone3, whose flags
     * cannot be seen from here. */
    error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    /* abort() and raise(), of which the report says what they are. */
    error |=
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, argument(0, SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 1, argument(0, SCMP_CMP_EQ, 0));
    error |=
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sched_setaffinity), 1, argument(0, SCMP_CMP_NE, 0));
    /* Its own limits it may read, as pthread_getattr_np() does; AddressSanitizer lowers one at its start. */
    error |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(prlimit64), 1, argument(0, SCMP_CMP_NE, 0));
    error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, argument(0, SCMP_CMP_EQ, 0),
                              argument(2, SCMP_CMP_EQ, 0));
    error |= seccomp_rule_add(filter, needs.loader ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EACCES), SCMP_SYS(prlimit64), 2,
                              argument(0, SCMP_CMP_EQ, 0), argument(2, SCMP_CMP_NE, 0));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        error |= add(filter, SCMP_ACT_ALLOW, allowed[i]);
    for (size_t i = 0; needs.loader && i < sizeof allowed_to_loader / sizeof *allowed_to_loader; i++) {
        const char *name = allowed_to_loader[i];

        if (strcmp(name, "open") != 0 && strcmp(name, "openat") != 0)
            error |= add(filter, SCMP_ACT_ALLOW, name);
    }
    for (size_t i = 0; i < sizeof denied_quietly / sizeof *denied_quietly; i++) {
        const char *name = denied_quietly[i];

        if (strcmp(name, "open") != 0 && strcmp(name, "openat") != 0)
            error |= add(filter, SCMP_ACT_ERRNO(strcmp(name, "clone3") == 0 ? ENOSYS : EACCES), name);
    }
    /* To open for reading fails quietly, for the C library tries; to open for writing ends the worker. */
    const uint32_t to_read = needs.loader ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EACCES);

    error |= seccomp_rule_add(filter, to_read, SCMP_SYS(openat), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
#ifdef __NR_open
    error |= seccomp_rule_add(filter, to_read, SCMP_SYS(open), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
#endif
    return error;
}

enum status confine_calls(struct confine_needs needs, const struct confine_program *program)
{
    scmp_filter_ctx filter = seccomp_init(needs.gpu ? SCMP_ACT_ALLOW : SCMP_ACT_TRAP);
    enum status status = STATUS_OK;
    int error;

    if (!filter || add_rules(filter, needs, program) != 0)
        status = status_set(STATUS_FAILED, "libseccomp made no filter");
    /* Sets PR_SET_NO_NEW_PRIVS as well. The next call is the first that the filter sees. */
    else if ((error = seccomp_load(filter)) != 0)
        status = status_set(STATUS_FAILED, "this kernel takes no system call filter: %s", strerror(-error));
    return status;
}

/* The end of a list of words, and the words behind it. */
static size_t room_for(char *const list[])
{
    size_t bytes = sizeof *list;

    for (; *list; list++)
        bytes += sizeof *list + strlen(*list) + 1;
    return bytes + _Alignof(max_align_t);
}

static char **copy_list(char *const list[], char **room)
{
    size_t count = 0, bytes;
    char **copy = (char **)(void *)*room;

    while (list[count])
        count++;
    *room += (count + 1) * sizeof *copy;
    for (size_t i = 0; i < count; i++) {
        bytes = strlen(list[i]) + 1;
        copy[i] = memcpy(*room, list[i], bytes);
        *room += bytes;
    }
    copy[count] = NULL;
    *room += _Alignof(max_align_t) - (uintptr_t)*room % _Alignof(max_align_t);
    return copy;
}

enum status confine_hide(struct confine_program *program, const char *path, char *const arguments[],
                         char *const environment[])
{
    enum { PAGE = 4096, TRIES = 16 };
    char *const paths[] = {(char *)path, NULL};
    const size_t bytes = room_for(paths) + room_for(arguments) + room_for(environment);

    for (int i = 0; i < TRIES; i++) {
        uint64_t lot;
        char *page, *room;

        if (getrandom(&lot, sizeof lot, 0) != sizeof lot)
            break;
        /* 45 bits: below the shared memory (channel.h). */
        page = (char *)(uintptr_t)((lot >> 8 & ((UINT64_C(1) << 45) - 1)) / PAGE * PAGE);
        if (mmap(page, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                 0) != page)
            continue;
        room = page + (lot & 0xff) * 16;
        program->path = *copy_list(paths, &room);
        program->arguments = copy_list(arguments, &room);
        program->environment = copy_list(environment, &room);
        return STATUS_OK;
    }
    return status_set(STATUS_FAILED, "no place for the arguments of a program");
}

void confine_privileges(void)
{
    /* Fails where there are none to drop. */
    for (unsigned long capability = 0; capability <= CAP_LAST_CAP; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

bool confine_has_loader(const char *program)
{
    const int file = open(program, O_RDONLY | O_CLOEXEC);
    bool found = true;
    Elf64_Ehdr header;
    Elf64_Phdr part;

    if (file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header) {
        found = false;
        for (int i = 0; i < header.e_phnum && !found; i++)
            found = pread(file, &part, sizeof part, (off_t)(header.e_phoff + (size_t)i * sizeof part)) != sizeof part ||
                    part.p_type == PT_INTERP;
    }
    if (file >= 0)
        close(file);
    return found;
}

/* ---------------------------------------------------------------------------------------------------------- files */

/* Newer rights than Debian 12's header knows: Landlock's versions 3 (Linux 6.2), 4 (6.7) and 6 (6.12). */
static const uint64_t RIGHT_TRUNCATE = UINT64_C(1) << 14;
static const uint64_t NETWORK_BIND_CONNECT = 3, SCOPE_SOCKET_SIGNAL = 3;

struct rules {
    uint64_t files, network, scopes;
};

static const uint64_t RIGHT_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;

/* What lies below the folder, or is that file; one that is not there needs no rule. With `flags` 0 it stays open over
 * exec. */
static bool allow(int rules, const char *path, uint64_t rights, int flags)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = open(path, O_PATH | flags)};
    const bool done =
        rule.parent_fd < 0 || syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;

    if (rule.parent_fd >= 0 && flags)
        close(rule.parent_fd);
    return done;
}

/* Of /etc what everybody may read. */
static bool allow_settings(int rules)
{
    DIR *folder = opendir("/etc");
    bool done = true;

    for (struct dirent *entry; folder && done && (entry = readdir(folder)) != NULL;) {
        char path[sizeof entry->d_name + 8];
        struct stat its;

        snprintf(path, sizeof path, "/etc/%s", entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &its) == 0 && (its.st_mode & S_IROTH) &&
            (S_ISREG(its.st_mode) || S_ISDIR(its.st_mode)))
            done = allow(rules, path, S_ISREG(its.st_mode) ? RIGHT_READ : LANDLOCK_ACCESS_FS_READ_FILE, O_CLOEXEC);
    }
    if (folder)
        closedir(folder);
    return done;
}

/* Each folder of LD_LIBRARY_PATH. */
static bool allow_libraries(int rules, const char *folders)
{
    bool done = true;

    while (folders && *folders && done) {
        const size_t length = strcspn(folders, ":");
        char path[1024];

        snprintf(path, sizeof path, "%.*s", (int)length, folders);
        done = !length || length >= sizeof path || allow(rules, path, RIGHT_READ, O_CLOEXEC);
        folders += length + (folders[length] == ':');
    }
    return done;
}

bool confine_files(struct confine_needs needs, const char *program)
{
    static const char *const system[] = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.preload"};
    static const char *const driver[] = {"/dev", "/proc", "/sys", "/run", "/var/run", "/opt"};
    const long known = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    /* The rights of Landlock's first version, of Linux 5.13, but that to list folders. */
    struct rules rights = {.files = RIGHT_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
    const uint64_t to_write = LANDLOCK_ACCESS_FS_WRITE_FILE | (known >= 3 ? RIGHT_TRUNCATE : 0);
    bool done;

    if (known < 1)
        return false;
    rights.files |= to_write;
    rights.network = known >= 4 ? NETWORK_BIND_CONNECT : 0;
    rights.scopes = known >= 6 ? SCOPE_SOCKET_SIGNAL : 0;

    const int rules = (int)syscall(SYS_landlock_create_ruleset, &rights,
                                   known >= 6   ? sizeof rights
                                   : known >= 4 ? offsetof(struct rules, scopes)
                                                : sizeof rights.files,
                                   0);

    done = rules >= 0 && allow(rules, program, RIGHT_READ, O_CLOEXEC);
    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        done = done && allow(rules, system[i], RIGHT_READ, O_CLOEXEC);
    done = done && allow_libraries(rules, getenv("LD_LIBRARY_PATH"));
    if (needs.gpu) {
        for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
            done = done && allow(rules, driver[i], RIGHT_READ, O_CLOEXEC);
        /* CUDA 13 names its threads by writing to their files in /proc, and does not start where it cannot. A rule
         * holds for a folder as the kernel knows it now; /proc would make it anew if nobody had it open. */
        done = done && allow_settings(rules) && allow(rules, "/dev", to_write, O_CLOEXEC) &&
               allow(rules, "/dev/shm", to_write | LANDLOCK_ACCESS_FS_MAKE_REG, O_CLOEXEC) &&
               allow(rules, "/proc/self/task", to_write, 0);
    }
    done = done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return done;
}
