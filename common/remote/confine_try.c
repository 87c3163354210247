/* confine_try.c: does a GPU's driver start where a student's version must run? A first child tells. When it does not
 * start there, a second one is told of each call that it is refused, and a third may use all files: what is to blame
 * has a name before anybody looks for it. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/core/limit.h"
#include "common/remote/confine.h"

enum { MAX_REFUSED = 8 };
static const double START_SECONDS = 60;

/* What a child leaves behind. */
struct trial {
    int refused[MAX_REFUSED], count; /* system calls, each once */
    char message[256];
};

static struct trial *trial;

static int error_of(int call)
{
    return call == SYS_socket ? EAFNOSUPPORT :
#ifdef SYS_unlink
           call == SYS_unlink ? ENOENT
                              :
#endif
                              EPERM;
}

/* Notes the call and lets it fail, as it would for a worker. */
static void refused(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *const where = context;
    int i = 0;

    (void)signal_number;
    while (i < trial->count && trial->refused[i] != info->si_syscall)
        i++;
    if (i == trial->count && i < MAX_REFUSED)
        trial->refused[trial->count++] = info->si_syscall;
#if defined(__x86_64__)
    where->uc_mcontext.gregs[REG_RAX] = -error_of(info->si_syscall);
#elif defined(__aarch64__)
    where->uc_mcontext.regs[0] = (uint64_t)-error_of(info->si_syscall);
#else
    (void)where;
    _exit(1);
#endif
}

static void in_child(enum status (*start)(void), bool told, bool all_files, pid_t parent)
{
    const struct confine_needs needs = {.gpu = true, .loader = true, .told = told};
    struct sigaction action = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_NODEFER};
    enum status status;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&action.sa_mask);
    if (getppid() != parent || sigaction(SIGSYS, &action, NULL) != 0)
        _exit(1);
    if (!all_files)
        confine_files(needs, "/proc/self/exe");
    confine_privileges();
    status = confine_calls(needs, NULL);
    if (status == STATUS_OK)
        status = start();
    if (status != STATUS_OK)
        snprintf(trial->message, sizeof trial->message, "%s", status_message());
    _exit(status != STATUS_OK);
}

/* Whether it started; trial says what happened if not. */
static bool starts(enum status (*start)(void), bool told, bool all_files)
{
    const struct timespec a_while = {.tv_nsec = 2000000};
    const pid_t parent = getpid();
    enum limit_state kept = LIMIT_KEPT;
    struct limit limit;
    int wait_status = 0;
    pid_t child, ended = 0;

    memset(trial, 0, sizeof *trial);
    fflush(NULL);
    child = fork();
    if (child == 0)
        in_child(start, told, all_files, parent);
    if (child < 0)
        return false;
    limit_begin(&limit, child, START_SECONDS);
    while ((ended = waitpid(child, &wait_status, WNOHANG)) == 0 && (kept = limit_look(&limit, 0)) == LIMIT_KEPT)
        nanosleep(&a_while, NULL);
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &wait_status, 0);
        limit_describe(&limit, kept, trial->message, sizeof trial->message);
        return false;
    }
    if (WIFSIGNALED(wait_status))
        snprintf(trial->message, sizeof trial->message, "killed by signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

enum status confine_try(enum status (*start)(void))
{
    char message[sizeof trial->message], calls[512] = "";
    enum status status = STATUS_OK;
    size_t used = 0;

    trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED)
        return status_set(STATUS_NO_MEMORY, "no memory to share with a child: %s", strerror(errno));
    if (starts(start, false, false))
        goto out;
    snprintf(message, sizeof message, "%s", trial->message[0] ? trial->message : "no reason was given");
    starts(start, true, false);
    for (int i = 0; i < trial->count; i++) {
        char name[64];

        confine_call_name(trial->refused[i], name, sizeof name);
        used += (size_t)snprintf(calls + used, sizeof calls - used, "%s%s", i ? ", " : "", name);
    }
    status = status_set(STATUS_FAILED, "%s (refused to it: %s)", message,
                        starts(start, false, true) ? "files, by Landlock"
                        : calls[0]                 ? calls
                                                   : "nothing that fails elsewhere");
out:
    munmap(trial, sizeof *trial);
    trial = NULL;
    return status;
}
