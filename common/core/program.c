#include "common/core/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/core/clock.h"

/* Frames are megabytes and a pipe holds 64 KiB by default: 1 MiB, the most that Linux gives to anyone, saves most of
 * the switches to and fro. */
enum { PIPE_BYTES = 1 << 20 };
/* preadv() and pwritev() take at most IOV_MAX (1024) parts. */
enum { MAX_PARTS = 1024 };

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static enum status not_installed(const char *name)
{
    return status_set(STATUS_UNSUPPORTED, "%s is not installed; on Debian and Ubuntu: sudo apt-get install ffmpeg",
                      name);
}

enum status program_check(const char *name)
{
    const char *from = getenv("PATH");
    char path[4096];

    for (; from && *from; from += strcspn(from, ":"), from += *from == ':') {
        snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(from, ":"), from, name);
        if (access(path, X_OK) == 0)
            return STATUS_OK;
    }
    return not_installed(name);
}

double program_usual_patience(void)
{
    enum { USUAL = 30 };
    const char *text = getenv("RUNGS_PATIENCE");
    const double seconds = text ? strtod(text, NULL) : 0;

    return seconds > 0 && seconds < 1e6 ? seconds : USUAL;
}

/* The new process, between fork() and exec(): only what is safe there. `failure` is told why there was no exec(). */
static void become(const char *const *argv, const int ends[3], int failure, pid_t parent)
{
    sigset_t none;
    int error;

    setpgid(0, 0);
    /* posix_spawn() cannot ask for this: a stopped ffmpeg would outlive a killed rungs. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    /* Whatever the starting thread blocks or ignores is not the program's business. */
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (int i = 0; i < 3; i++)
        dup2(ends[i], i);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], (char *const *)argv);
    error = errno;
    while (write(failure, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

enum status program_start(struct program *program, const char *const *argv, int input)
{
    enum status status = STATUS_OK;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, failure[2] = {-1, -1}, error = 0;
    sigset_t all, before;
    pid_t parent;

    memset(program, 0, sizeof *program);
    program->name = argv[0];
    program->input = program->output = program->errors = -1;
    /* Numbers from 3 on: dup2() onto the standard streams must not overwrite one that is still to be taken. */
    if (input == PROGRAM_TAKES_INPUT ? pipe2(in, O_CLOEXEC) != 0
        : input == PROGRAM_NO_INPUT  ? (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0
                                     : (in[0] = fcntl(input, F_DUPFD_CLOEXEC, 3)) < 0) {
        status = status_set(STATUS_FAILED, "no input for %s: %s", argv[0], strerror(errno));
        goto out;
    }
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
        status = status_set(STATUS_FAILED, "no pipe to %s: %s", argv[0], strerror(errno));
        goto out;
    }
    /* No handler of ours may run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    parent = getpid();
    program->pid = fork();
    if (program->pid == 0)
        become(argv, (const int[]){in[0], out[1], err[1]}, failure[1], parent);
    error = program->pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close_end(&failure[1]);
    if (program->pid > 0) {
        setpgid(program->pid, program->pid); /* both sides do, whichever comes first; refused after the exec() */
        while (read(failure[0], &error, sizeof error) < 0 && errno == EINTR)
            continue;
    }
    if (error) {
        if (program->pid > 0)
            while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        program->pid = 0;
        status = error == ENOENT || error == EACCES || error == ENOTDIR
                     ? not_installed(argv[0])
                     : status_set(STATUS_FAILED, "%s cannot be started: %s", argv[0], strerror(error));
        goto out;
    }
    program->alive_at = clock_seconds();
    program->input = in[1];
    program->output = out[0];
    program->errors = err[0];
    in[1] = out[0] = err[0] = -1;
    for (int i = 0; i < 3; i++) {
        const int ours = i == 0 ? program->input : i == 1 ? program->output : program->errors;

        if (ours < 0)
            continue;
        fcntl(ours, F_SETFL, O_NONBLOCK);
        if (i < 2)
            fcntl(ours, F_SETPIPE_SZ, PIPE_BYTES); /* refused when the user's pipes hold too much already: slower */
    }
out:
    for (int i = 0; i < 2; i++) {
        close_end(&in[i]);
        close_end(&out[i]);
        close_end(&err[i]);
        close_end(&failure[i]);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------- is it still alive? */

/* How often a silent program is looked at, in milliseconds. */
enum { LOOK_EVERY = 100 };

/* Whether it has ended within so many seconds; it stays to be reaped. */
static bool ends_within(const struct program *program, double seconds)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (double waited = 0; waited <= seconds; waited += 1e-3) {
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == program->pid)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Asks the program and what it started to end, waits, kills. It stays to be reaped. */
static void terminate(const struct program *program, double seconds)
{
    kill(-program->pid, SIGTERM);
    if (!ends_within(program, seconds))
        kill(-program->pid, SIGKILL);
}

/* Ends a program whose last sign of life is too long ago; to be called when nothing moves. */
static void lose_patience(struct program *program)
{
    const double now = clock_seconds();
    struct timespec used = {0};
    clockid_t its_clock;
    double processor;

    if (program->patience <= 0 || program->pid == 0 || program->hung)
        return;
    if (clock_getcpuclockid(program->pid, &its_clock) == 0)
        clock_gettime(its_clock, &used);
    processor = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    /* A process that waits for something wakes now and then; a hundredth of a core is no work. */
    if (processor - program->processor_seconds > 0.01 * (now - program->alive_at) + 1e-3) {
        program->processor_seconds = processor;
        program->alive_at = now;
    }
    if (now - program->alive_at < program->patience)
        return;
    terminate(program, 1);
    program->hung = true;
    program->said_length =
        (size_t)snprintf(program->said, sizeof program->said, "%s gave no sign of life for %g s and was ended\n",
                         program->name, program->patience);
}

/* Takes in what waits on its stderr; closes our end when there can come no more. */
static void listen_to(struct program *program)
{
    char text[1024];
    ssize_t count;

    while ((count = read(program->errors, text, sizeof text)) > 0) {
        size_t room = sizeof program->said - 1 - program->said_length;

        room = (size_t)count < room ? (size_t)count : room;
        memcpy(program->said + program->said_length, text, room);
        program->said_length += room;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(&program->errors);
}

/* Waits until the descriptor is ready; TRANSFER_DONE then. */
static enum transfer wait_for(int descriptor, short events, int wake, struct program *program)
{
    for (;;) {
        struct pollfd ends[] = {{.fd = descriptor, .events = events},
                                {.fd = wake, .events = POLLIN},
                                {.fd = program ? program->errors : -1, .events = POLLIN}};

        const int ready = poll(ends, 3, program && program->patience > 0 ? LOOK_EVERY : -1);

        if (ready < 0) {
            if (errno == EINTR)
                continue;
            return TRANSFER_FAILED;
        }
        if (ready == 0)
            lose_patience(program);
        if (program && program->hung)
            return TRANSFER_END;
        if (ends[2].revents)
            listen_to(program);
        if (ends[1].revents)
            return TRANSFER_STOPPED;
        if (ends[0].revents) {
            if (program)
                program->alive_at = clock_seconds();
            return TRANSFER_DONE;
        }
    }
}

/* Moves on over `bytes` bytes of the parts. */
static void advance(struct iovec **parts, size_t *count, size_t bytes)
{
    while (*count > 0 && bytes >= (*parts)->iov_len) {
        bytes -= (*parts)->iov_len;
        ++*parts;
        --*count;
    }
    if (*count > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + bytes;
        (*parts)->iov_len -= bytes;
    }
}

enum transfer transfer_read(int descriptor, int wake, struct program *program, struct iovec *parts, size_t count,
                            size_t *moved)
{
    size_t total = 0;
    enum transfer transfer = TRANSFER_DONE;

    advance(&parts, &count, 0);
    while (count > 0 && transfer == TRANSFER_DONE) {
        transfer = wait_for(descriptor, POLLIN, wake, program);
        if (transfer != TRANSFER_DONE)
            break;

        ssize_t bytes = readv(descriptor, parts, (int)(count < MAX_PARTS ? count : MAX_PARTS));

        if (bytes > 0) {
            total += (size_t)bytes;
            advance(&parts, &count, (size_t)bytes);
        } else if (bytes == 0) {
            transfer = TRANSFER_END;
        } else if (errno != EAGAIN && errno != EINTR) {
            transfer = TRANSFER_FAILED;
        }
    }
    if (moved)
        *moved = total;
    return transfer;
}

enum transfer transfer_write(int descriptor, int wake, struct program *program, struct iovec *parts, size_t count)
{
    enum transfer transfer = TRANSFER_DONE;
    const struct timespec at_once = {0};
    sigset_t pipe_signal, before, pending;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    advance(&parts, &count, 0);
    while (count > 0 && transfer == TRANSFER_DONE) {
        transfer = wait_for(descriptor, POLLOUT, wake, program);
        if (transfer != TRANSFER_DONE)
            break;

        ssize_t bytes = writev(descriptor, parts, (int)(count < MAX_PARTS ? count : MAX_PARTS));

        if (bytes >= 0) {
            advance(&parts, &count, (size_t)bytes);
        } else if (errno == EPIPE) {
            /* The signal that came with it is taken back, unless one was waiting before. */
            if (!sigismember(&pending, SIGPIPE))
                while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
                    continue;
            transfer = TRANSFER_END;
        } else if (errno != EAGAIN && errno != EINTR) {
            transfer = TRANSFER_FAILED;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return transfer;
}

static void reap(struct program *program)
{
    int state = 0;

    while (waitpid(program->pid, &state, 0) < 0 && errno == EINTR)
        continue;
    program->exit_code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    program->pid = 0;
    close_end(&program->input);
    close_end(&program->output);
    close_end(&program->errors);
}

void program_finish(struct program *program)
{
    if (program->pid == 0)
        return;
    close_end(&program->input);
    /* A program that still writes would wait for us for ever; closed, it ends. */
    close_end(&program->output);
    while (!ends_within(program, 0)) {
        struct pollfd end = {.fd = program->errors, .events = POLLIN};

        if (poll(&end, 1, program->errors >= 0 ? LOOK_EVERY : 1) > 0)
            listen_to(program);
        else
            lose_patience(program);
    }
    if (program->errors >= 0 && !program->hung)
        listen_to(program);
    reap(program);
}

void program_end(struct program *program, double seconds)
{
    if (program->pid == 0)
        return;
    close_end(&program->input);
    close_end(&program->output);
    if (!ends_within(program, seconds))
        terminate(program, seconds);
    if (program->errors >= 0)
        listen_to(program);
    reap(program);
}

void program_kill(struct program *program)
{
    if (program->pid == 0)
        return;
    kill(-program->pid, SIGKILL);
    reap(program);
}

const char *program_first_line(const struct program *program, char *text, size_t size)
{
    text[0] = '\0';
    for (const char *line = program->said; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const int length = (int)strcspn(line, "\n");
        const char *start = line + strspn(line, " ");
        const char *end = memchr(line, ']', (size_t)length);

        if (strncmp(start, "Last message repeated", 21) == 0)
            continue;
        if (*start == '[' && end && memmem(start, (size_t)(end - start), " @ 0x", 5))
            start = end + 1 + (end[1] == ' ');
        if (start < line + length) {
            snprintf(text, size, "%.*s", (int)(line + length - start), start);
            break;
        }
    }
    return text;
}
