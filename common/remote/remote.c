#include "common/remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/core/clock.h"
#include "common/core/limit.h"
#include "common/remote/confine.h"

/* Address space that a worker has for its program, its libraries and the stacks of its threads. */
static const size_t PROGRAM_BYTES = (size_t)2 << 30;
enum { MOST_THREADS = 64 };             /* besides four for each that it was told to use */
enum { NEVER_BEGAN = 126 };             /* exit code of a child that could not become the worker's program */
static const double START_SECONDS = 60; /* a GPU's driver may take seconds to start */
static const double PAUSE_SECONDS = 1;

struct remote {
    struct remote_options options;
    int slot, file;
    pid_t pid;
    struct channel *channel;
    char *next, *most; /* where free memory begins; the farthest that this was */
    bool paused, on_gpu;
    bool began, lost, died; /* began: the child has become the worker's program, or is about to */
    int signal, exit_code;
    char why[512]; /* when lost */
};

_Static_assert(sizeof(struct channel) <= CHANNEL_HEADER, "the channel outgrew its room");

static bool slots[REMOTE_MAX];

static int heard[2][2] = {{-1, -1}, {-1, -1}}; /* pipes of stdout and stderr: where to read, where to write */

/* --------------------------------------------------------------------------------------------------- in the child */

static void limit(int resource, rlim_t most)
{
    const struct rlimit limits = {most, most};

    setrlimit(resource, &limits);
}

static bool under_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return true;
#else
    return false;
#endif
}

/* Gives up all that a worker must not have, and waits until the parent has seen that. */
static enum status give_up(const struct remote *remote, const struct confine_program *program)
{
    struct channel *const channel = remote->channel;
    const struct confine_needs needs = {.gpu = !device_is_emulated(),
                                        .loader = confine_has_loader(remote->options.program)};
    enum status status = STATUS_OK;

    confine_files(needs, remote->options.program);
    confine_privileges();
    TRY(confine_calls(needs, program));
    __atomic_store_n(&channel->confined, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &channel->confined, FUTEX_WAKE, 1, NULL, NULL, 0);
    while (!__atomic_load_n(&channel->released, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &channel->released, FUTEX_WAIT, 0, NULL, NULL, 0);
out:
    return status;
}

/* Becomes the worker; returns only when that fails. */
static enum status become_worker(const struct remote *remote, pid_t parent)
{
    const struct remote_options *options = &remote->options;
    const bool gpu = !device_is_emulated();
    char threads[48], slot[16], libraries[1024] = "LD_LIBRARY_PATH=", devices[256] = "CUDA_VISIBLE_DEVICES=";
    const char *path = getenv("LD_LIBRARY_PATH"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    int null = open("/dev/null", O_RDWR);
    enum status status = STATUS_OK;
    struct confine_program program;

    snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%d", options->threads);
    snprintf(slot, sizeof slot, "%d", remote->slot);
    if (path && strlen(path) + 20 < sizeof libraries)
        strcat(libraries, path);
    if (visible && strlen(visible) + 30 < sizeof devices)
        strcat(devices, visible);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null < 0)
        return status_set(STATUS_FAILED, "the judge has ended");
    dup2(null, STDIN_FILENO);
    if (options->quiet) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    } else if (heard[0][1] >= 0) {
        dup2(heard[0][1], STDOUT_FILENO);
        dup2(heard[1][1], STDERR_FILENO);
    }
    if (remote->file == CHANNEL_FILE)
        fcntl(CHANNEL_FILE, F_SETFD, 0);
    else
        dup2(remote->file, CHANNEL_FILE);
    close_range(CHANNEL_FILE + 1, UINT_MAX, 0);

    limit(RLIMIT_CORE, 0);
    /* A GPU's driver keeps some bytes in files of shared memory. */
    limit(RLIMIT_FSIZE, gpu ? (rlim_t)64 << 20 : 0);
    /* A GPU's driver and the sanitizers reserve far more address space than they use; the judge watches what is
     * used. */
    if (!gpu && !under_sanitizer())
        limit(RLIMIT_AS, CHANNEL_BYTES + PROGRAM_BYTES + options->memory_bytes);

    char *const arguments[] = {(char *)options->program, slot, NULL};
    /* libgomp's threads spin some 20 us and then sleep: spinning for longer
     * would take the judge's core from it where two cores are shared. */
    char *const environment[] = {threads,
                                 libraries,
                                 (char *)"GOMP_SPINCOUNT=10000",
                                 (char *)"OMP_DYNAMIC=false",
                                 (char *)"LC_ALL=C.UTF-8",
                                 visible ? devices : NULL,
                                 NULL};

    TRY(confine_hide(&program, options->program, arguments, environment));
    if (!options->unconfined)
        TRY(give_up(remote, &program));
    execve(program.path, program.arguments, program.environment);
    status = status_set(STATUS_FAILED, "%s: %s", options->program, strerror(errno));
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------------- waiting */

/* Kills the worker. This call and all later ones fail with the same reason. */
static enum status lose(struct remote *remote, const char *why)
{
    if (!remote->lost) {
        kill(remote->pid, SIGKILL);
        while (waitpid(remote->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        remote->lost = true;
        snprintf(remote->why, sizeof remote->why, "%s", why);
    }
    return status_set(STATUS_FAILED, "%s", remote->why);
}

/* Compares the worker's own memory and its threads with their limits. */
static enum status look_at_memory(struct remote *remote)
{
    const size_t most = remote->options.memory_bytes + (device_is_emulated() ? 0 : PROGRAM_BYTES);
    const long most_threads = MOST_THREADS + 4L * remote->options.threads;
    unsigned long own = 0, shared = 0; /* KiB: anonymous pages; the memory that we share */
    long threads = 0;
    char name[64], line[128], text[128];
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/status", (int)remote->pid);
    file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "RssAnon: %lu", &own);
        sscanf(line, "RssShmem: %lu", &shared);
        sscanf(line, "Threads: %ld", &threads);
    }
    if (file)
        fclose(file);
    const unsigned long ours = (unsigned long)(remote->most - (char *)remote->channel) / 1024;

    shared = shared > ours ? shared - ours : 0;
    if (!under_sanitizer() && own + shared > most / 1024) {
        snprintf(text, sizeof text, "went beyond its memory limit of %zu MiB", most >> 20);
        return lose(remote, text);
    }
    if (threads > most_threads) {
        snprintf(text, sizeof text, "started %ld threads, of which %ld are allowed", threads, most_threads);
        return lose(remote, text);
    }
    return STATUS_OK;
}

/* Succeeds while the worker lives and keeps to its limits; else fails with the reason. */
static enum status look_after(struct remote *remote)
{
    struct channel *channel = remote->channel;
    int wait_status = 0;

    if (waitpid(remote->pid, &wait_status, WNOHANG) == remote->pid) {
        remote->lost = true;
        if (channel->refused) {
            char name[64];
            const int number = channel->refused - 1;

            confine_call_name(number, name, sizeof name);
            snprintf(remote->why, sizeof remote->why, "tried %s: the system call %s is refused to versions",
                     confine_call_meaning(number), name);
            return status_set(STATUS_FAILED, "%s", remote->why);
        }
        if (WIFSIGNALED(wait_status) &&
            WTERMSIG(wait_status) == SIGSYS) { /* it had blocked SIGSYS, so its handler could not record the call */
            snprintf(remote->why, sizeof remote->why,
                     "tried to start a process or the like: a system call that is refused to versions");
            return status_set(STATUS_FAILED, "%s", remote->why);
        }
        if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == NEVER_BEGAN && !remote->began) {
            snprintf(remote->why, sizeof remote->why, "%.*s", (int)sizeof remote->why - 1, channel->message);
            return status_set(STATUS_FAILED, "%s", remote->why);
        }
        remote->died = true;
        remote->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
        remote->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
        if (remote->signal)
            snprintf(remote->why, sizeof remote->why, "killed by signal %d (%s)", remote->signal,
                     strsignal(remote->signal));
        else
            snprintf(remote->why, sizeof remote->why, "ended its process with exit code %d", remote->exit_code);
        return status_set(STATUS_FAILED, "%s", remote->why);
    }

    return look_at_memory(remote);
}

/* Waits until *word of the channel is `value`; `seconds` is a limit (limit.h), 0: none. */
static enum status wait_for(struct remote *remote, uint32_t *word, uint32_t value, double seconds)
{
    const struct timespec a_while = {.tv_nsec = 20000000};
    enum limit_state kept = LIMIT_KEPT;
    enum status status = STATUS_OK;
    struct limit limit;
    char text[96], why[128];

    for (bool first = true;; first = false) {
        const uint32_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST);

        if (now == value)
            return STATUS_OK;
        syscall(SYS_futex, word, FUTEX_WAIT, now, &a_while, NULL, 0);
        if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
            return STATUS_OK;
        TRY(look_after(remote));
        /* Not before it waits in earnest: most calls take less time than a look at the machine's processes. */
        if (seconds > 0 && first)
            limit_begin(&limit, remote->pid, seconds);
        else if (seconds > 0 && (kept = limit_look(&limit, 0)) != LIMIT_KEPT) {
            limit_describe(&limit, kept, text, sizeof text);
            snprintf(why, sizeof why, "%s%s", text, kept == LIMIT_SPENT ? " for one call" : "");
            return lose(remote, why);
        }
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------- start and stop */

static void copy_text(char *to, size_t size, const char *from, size_t most)
{
    snprintf(to, size, "%.*s", (int)strnlen(from, most), from);
}

/* Lets the child go on to the worker's program once the kernel says that it is confined. One that does not tell of
 * NoNewPrivs (gVisor's, or one before Linux 4.10) is believed for its filter: what loads it asks for the other
 * first. */
static enum status release(struct remote *remote)
{
    struct channel *channel = remote->channel;
    char name[64], line[128];
    int filtered = 0, without_new = 1;
    enum status status = STATUS_OK;
    FILE *file;

    TRY(wait_for(remote, &channel->confined, 1, START_SECONDS));
    snprintf(name, sizeof name, "/proc/%d/status", (int)remote->pid);
    file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Seccomp: %d", &filtered);
        sscanf(line, "NoNewPrivs: %d", &without_new);
    }
    if (file)
        fclose(file);
    if (filtered != SECCOMP_MODE_FILTER || without_new != 1) {
        snprintf(line, sizeof line, "the worker is not confined: /proc/PID/status says Seccomp: %d, NoNewPrivs: %d",
                 filtered, without_new);
        return lose(remote, line);
    }
    __atomic_store_n(&channel->released, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &channel->released, FUTEX_WAKE, 1, NULL, NULL, 0);
out:
    return status;
}

enum status remote_listen(void)
{
    for (int stream = 0; stream < 2; stream++)
        if (heard[stream][0] < 0 && pipe2(heard[stream], O_CLOEXEC | O_NONBLOCK) != 0)
            return status_set(STATUS_FAILED, "no pipe for what versions print: %s", strerror(errno));
    return STATUS_OK;
}

void remote_heard(bool on_stderr, char *text, size_t size)
{
    const ssize_t length = heard[0][0] < 0 ? 0 : read(heard[on_stderr][0], text, size - 1);

    text[length > 0 ? length : 0] = '\0';
}

enum status remote_start(const struct remote_options *options, struct remote **result)
{
    struct remote *remote = calloc(1, sizeof *remote);
    const pid_t parent = getpid();
    enum status status = STATUS_OK;
    void *address;

    *result = NULL;
    if (!remote)
        return status_set(STATUS_NO_MEMORY, "no memory for a worker");
    remote->options = *options;
    remote->file = -1;
    while (remote->slot < REMOTE_MAX && slots[remote->slot])
        remote->slot++;
    if (remote->slot == REMOTE_MAX) {
        free(remote);
        return status_set(STATUS_FAILED, "%d workers already run", REMOTE_MAX);
    }
    address = (char *)CHANNEL_ADDRESS + (size_t)remote->slot * CHANNEL_BYTES;
    if (access(options->program, X_OK) != 0) {
        status = status_set(STATUS_FAILED, "%s: %s", options->program, strerror(errno));
        goto out;
    }
    remote->file = memfd_create("rungs-lab", MFD_CLOEXEC);
    if (remote->file < 0 || ftruncate(remote->file, (off_t)CHANNEL_BYTES) != 0) {
        status = status_set(STATUS_FAILED, "no memory to share with a worker: %s", strerror(errno));
        goto out;
    }
    remote->channel = mmap(address, CHANNEL_BYTES, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, remote->file, 0);
    if (remote->channel != address) {
        remote->channel = NULL;
        status = status_set(STATUS_FAILED, "address %p is taken", address);
        goto out;
    }
    slots[remote->slot] = true;
    remote->next = remote->most = (char *)remote->channel + CHANNEL_HEADER;
    remote->channel->threads = options->threads;
    __atomic_store_n(&remote->channel->answered, UINT_MAX, __ATOMIC_SEQ_CST);

    fflush(NULL);
    remote->pid = fork();
    if (remote->pid < 0) {
        status = status_set(STATUS_FAILED, "no process for a worker: %s", strerror(errno));
        goto out;
    }
    if (remote->pid == 0) {
        become_worker(remote, parent);
        snprintf(remote->channel->message, sizeof remote->channel->message, "%s", status_message());
        _exit(NEVER_BEGAN);
    }
    if (!options->unconfined)
        TRY(release(remote));
    remote->began = true;
    TRY(wait_for(remote, &remote->channel->answered, 0, START_SECONDS));
    remote->on_gpu = remote->channel->is_cuda && !device_is_emulated();
    if (remote->channel->status != STATUS_OK) {
        char message[512];

        copy_text(message, sizeof message, remote->channel->message, sizeof remote->channel->message);
        status = status_set(STATUS_FAILED, "%s", message);
    }
out:
    if (status != STATUS_OK) {
        remote_stop(remote);
        remote = NULL;
    }
    *result = remote;
    return status;
}

void remote_stop(struct remote *remote)
{
    if (!remote)
        return;
    if (remote->pid > 0 && !remote->lost) {
        kill(remote->pid, SIGKILL);
        while (waitpid(remote->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (remote->channel) {
        munmap(remote->channel, CHANNEL_BYTES);
        slots[remote->slot] = false;
    }
    if (remote->file >= 0)
        close(remote->file);
    free(remote);
}

struct channel *remote_channel(struct remote *remote)
{
    return remote->channel;
}

/* --------------------------------------------------------------------------------------------------------- memory */

/* Blocks lie one behind the other, each behind its size; what is at the end can be given back. The bookkeeping is in
 * our own memory, for the shared memory is the version's to spoil. */
enum { MAX_BLOCKS = 1024 };
static struct block {
    void *memory;
    size_t bytes;
    bool used;
} blocks[REMOTE_MAX][MAX_BLOCKS];
static int block_count[REMOTE_MAX];

void *remote_allocate(struct remote *remote, size_t bytes)
{
    struct block *list = blocks[remote->slot];
    int *const count = &block_count[remote->slot];
    const size_t rounded = (bytes + 127) / 128 * 128;
    char *const end = (char *)remote->channel + CHANNEL_BYTES;

    if (remote->next == (char *)remote->channel + CHANNEL_HEADER)
        *count = 0;
    if (*count == MAX_BLOCKS || rounded > (size_t)(end - remote->next))
        return NULL;
    list[*count] = (struct block){remote->next, rounded, true};
    remote->next += rounded;
    remote->most = remote->next > remote->most ? remote->next : remote->most;
    return list[(*count)++].memory;
}

void remote_release(struct remote *remote, void *memory)
{
    struct block *list = blocks[remote->slot];
    int *const count = &block_count[remote->slot];

    for (int i = 0; i < *count; i++)
        if (list[i].memory == memory)
            list[i].used = false;
    while (*count > 0 && !list[*count - 1].used)
        remote->next = list[--*count].memory;
}

/* --------------------------------------------------------------------------------------------------------- calling */

void remote_pause(struct remote *remote)
{
    const double start = clock_seconds();
    siginfo_t info = {0};

    if (remote->lost || remote->on_gpu || kill(remote->pid, SIGSTOP) != 0)
        return;
    remote->paused = true;
    /* It stops within microseconds, unless the kernel is busy for one of its threads. That it ended is left to be seen
     * by the next call. */
    while (waitid(P_PID, (id_t)remote->pid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
           clock_seconds() - start < PAUSE_SECONDS)
        sched_yield();
    if (info.si_pid && info.si_code == CLD_STOPPED)
        waitid(P_PID, (id_t)remote->pid, &info, WSTOPPED | WNOHANG);
}

void remote_resume(struct remote *remote)
{
    if (remote->paused)
        kill(remote->pid, SIGCONT);
    remote->paused = false;
}

enum status remote_call(struct remote *remote, enum channel_request request, double *seconds)
{
    struct channel *channel = remote->channel;
    enum status status = STATUS_OK;
    char message[1024];
    uint32_t turn;

    if (remote->lost)
        return status_set(STATUS_FAILED, "%s", remote->why);
    remote_resume(remote);
    channel->request = request;
    turn = __atomic_load_n(&channel->asked, __ATOMIC_SEQ_CST) + 1;

    const double start = clock_seconds();

    __atomic_store_n(&channel->asked, turn, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &channel->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
    TRY(wait_for(remote, &channel->answered, turn, remote->options.call_seconds));
    if (seconds)
        *seconds = clock_seconds() - start;
    TRY(look_at_memory(remote));
    if (channel->status != STATUS_OK) {
        copy_text(message, sizeof message, channel->message, sizeof channel->message);
        status = status_set(STATUS_FAILED, "%s", message);
    }
out:
    return status;
}

bool remote_lost(const struct remote *remote)
{
    return remote->lost;
}

bool remote_died(const struct remote *remote, int *signal_number, int *exit_code)
{
    *signal_number = remote->signal;
    *exit_code = remote->exit_code;
    return remote->died;
}

bool remote_is_busy(const struct remote *remote)
{
    char name[300], state = 0;
    bool busy = false;
    DIR *threads;

    snprintf(name, sizeof name, "/proc/%d/task", (int)remote->pid);
    threads = opendir(name);
    for (struct dirent *entry; threads && !busy && (entry = readdir(threads)) != NULL;) {
        snprintf(name, sizeof name, "/proc/%d/task/%.16s/status", (int)remote->pid, entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(name, "re") : NULL;

        for (char line[128]; file && fgets(line, sizeof line, file) && !busy;)
            busy = sscanf(line, "State: %c", &state) == 1 && state == 'R';
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return busy;
}

double remote_processor_seconds(const struct remote *remote)
{
    struct timespec time = {0};
    clockid_t clock;

    if (clock_getcpuclockid(remote->pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int remote_threads(const struct remote *remote, struct remote_thread *threads, int most)
{
    char name[300];
    struct dirent *entry;
    int count = 0;
    DIR *folder;

    snprintf(name, sizeof name, "/proc/%d/task", (int)remote->pid);
    folder = opendir(name);
    while (folder && count < most && (entry = readdir(folder))) {
        double nanoseconds[2];
        FILE *file;

        if (entry->d_name[0] == '.') /* ".." would be the main thread once more */
            continue;
        snprintf(name, sizeof name, "/proc/%d/task/%s/schedstat", (int)remote->pid, entry->d_name);
        file = fopen(name, "re");
        if (file && fscanf(file, "%lf %lf", &nanoseconds[0], &nanoseconds[1]) == 2)
            threads[count++] = (struct remote_thread){1e-9 * nanoseconds[0], 1e-9 * nanoseconds[1]};
        if (file)
            fclose(file);
    }
    if (folder)
        closedir(folder);
    return count;
}
