#include "common/core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *process_shared_allocate(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void process_shared_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

/* ------------------------------------------------------------------------------------------------ the child */

static void child(int (*body)(void *argument), void *argument, int pipe_end, pid_t parent)
{
    const struct rlimit no_core = {0, 0};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have died before prctl() took effect. */
    if (getppid() != parent)
        _exit(127);
    /* A background process group that reads from the terminal would be stopped for ever. */
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(pipe_end, STDOUT_FILENO);
    dup2(pipe_end, STDERR_FILENO);
    setvbuf(stderr, NULL, _IONBF, 0);

    int code = body(argument);

    fflush(stdout);
    /* Not exit(): handlers registered by the parent (an unwritten stdout buffer, say) are the parent's to run. */
    _exit(code);
}

/* ----------------------------------------------------------------------------------------------- the parent */

/* Where a sanitizer's report begins in `text`; NULL without one. */
static const char *find_report(const char *text)
{
    static const char *const starts[] = {"ERROR: AddressSanitizer: ",
                                         "ERROR: ThreadSanitizer: ",
                                         "WARNING: ThreadSanitizer: ",
                                         "ERROR: LeakSanitizer: ",
                                         "ERROR: UndefinedBehaviorSanitizer: ",
                                         "AddressSanitizer: CHECK failed: ",
                                         ": runtime error: "};
    const char *first = NULL;

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *here = strstr(text, starts[i]);
        if (here && (!first || here < first))
            first = here;
    }
    return first;
}

/* Appends to result->output. When it is full, older text gives way, but never a sanitizer's report: what follows a
 * report's first 8 KiB (shadow bytes) says little. */
static void keep(struct process_result *result, size_t *length, const char *bytes, size_t count)
{
    const size_t capacity = sizeof result->output - 1;

    while (count > 0) {
        if (*length == capacity) {
            const char *report = find_report(result->output);
            size_t drop = capacity / 2;

            if (report) {
                /* Keep the line of the report from its beginning: UBSan names file and line there. */
                while (report > result->output && report[-1] != '\n')
                    report--;
                drop = (size_t)(report - result->output);
                if (drop == 0)
                    return;
            }
            memmove(result->output, result->output + drop, *length - drop + 1);
            *length -= drop;
        }

        size_t room = capacity - *length, part = count < room ? count : room;

        for (size_t i = 0; i < part; i++)
            result->output[*length + i] = bytes[i] ? bytes[i] : '?';
        *length += part;
        result->output[*length] = '\0';
        bytes += part;
        count -= part;
    }
}

/* Reads what is there without waiting; false when the other end is closed. */
static bool drain(int pipe_end, struct process_result *result, size_t *length)
{
    char bytes[4096];

    for (;;) {
        ssize_t count = read(pipe_end, bytes, sizeof bytes);

        if (count > 0)
            keep(result, length, bytes, (size_t)count);
        else if (count == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN;
    }
}

enum status process_run(int (*body)(void *argument), void *argument, double limit_seconds,
                        struct process_result *result)
{
    return process_run_watched(body, NULL, argument, (struct process_limits){.seconds = limit_seconds}, result);
}

enum status process_run_watched(int (*body)(void *argument), void (*watch)(void *argument), void *argument,
                                struct process_limits limits, struct process_result *result)
{
    int ends[2], wait_status = 0;
    size_t length = 0;
    bool open_pipe = true;
    struct limit limit;

    memset(result, 0, sizeof *result);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return status_set(STATUS_FAILED, "no pipe to a child process: %s", strerror(errno));

    /* Else both processes would write what still lies in the parent's buffers. */
    fflush(NULL);

    const pid_t parent = getpid(), pid = fork();

    if (pid < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return status_set(STATUS_FAILED, "no child process: %s", strerror(error));
    }
    if (pid == 0) {
        close(ends[0]);
        child(body, argument, ends[1], parent);
    }

    /* Both sides set the group, whichever comes first, so that kill(-pid) below can never miss. */
    setpgid(pid, pid);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (limits.seconds > 0)
        limit_begin(&limit, pid, limits.seconds);

    for (;;) {
        struct pollfd wait_for = {.fd = open_pipe ? ends[0] : -1, .events = POLLIN};
        /* The pipe's end wakes us when the child exits; 20 ms are for a child that closed it and lives on, or whose
         * own children keep it open. */
        int milliseconds = open_pipe ? 20 : 1;

        poll(&wait_for, 1, milliseconds);
        if (open_pipe)
            open_pipe = drain(ends[0], result, &length);
        if (watch)
            watch(argument);

        /* WNOWAIT: the child stays a zombie, so its number, and the group's, cannot be another's when we kill. */
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            break;
        if (limits.seconds > 0 && (result->limit = limit_look(&limit, limits.turn ? *limits.turn : 0)) != LIMIT_KEPT) {
            limit_describe(&limit, result->limit, result->late, sizeof result->late);
            break;
        }
        if (limits.seconds > 0 && limits.used)
            *limits.used = limit.used;
    }
    /* The child, if it still runs, and what it started and left behind. */
    kill(-pid, SIGKILL);
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    if (open_pipe)
        drain(ends[0], result, &length);
    close(ends[0]);

    if (WIFSIGNALED(wait_status))
        result->signal = WTERMSIG(wait_status);
    else if (WIFEXITED(wait_status))
        result->exit_code = WEXITSTATUS(wait_status);
    return STATUS_OK;
}

/* ------------------------------------------------------------------------------------------ in words, in one line */

static const struct {
    int number;
    const char *name, *meaning;
} signals[] = {
    {SIGSEGV, "SIGSEGV", "segmentation fault: an address that is not the program's"},
    {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error: an integer divided by zero"},
    {SIGILL, "SIGILL", "illegal instruction: not in this processor's set"},
    {SIGABRT, "SIGABRT", "aborted"},
    {SIGKILL, "SIGKILL", "killed from outside: out of memory?"},
    {SIGTERM, "SIGTERM", "ended from outside"},
    {SIGINT, "SIGINT", "interrupted"},
    {SIGPIPE, "SIGPIPE", "wrote to a closed pipe"},
    {SIGXCPU, "SIGXCPU", "used more processor time than allowed"},
    {SIGTRAP, "SIGTRAP", "trap"},
};

/* One stack frame of a report: "    #1 0x55d in blur_row /home/me/rungs/cpu/blur/0_serial.c:42:9". */
struct frame {
    char function[128], place[256];
};

/* Reads the frame that begins at `line`; false when it has no source line or is the sanitizer's own. */
static bool parse_frame(const char *line, struct frame *frame)
{
    char rest[512];
    const char *in = strstr(line, " in "), *end = strchr(line, '\n');

    /* AddressSanitizer: "#0 0x55d in function file:line:column"; ThreadSanitizer: "#0 function file:line:column
     * (...". */
    if (in && (!end || in < end))
        in += 4;
    else
        in = strchr(line, ' ') ? strchr(line, ' ') + 1 : line;
    snprintf(rest, sizeof rest, "%.*s", end ? (int)(end - in) : (int)sizeof rest - 1, in);
    if (strstr(rest, " ("))
        *strstr(rest, " (") = '\0';

    /* The place is the last word; a C++ function name may hold blanks. */
    char *place = strrchr(rest, ' ');

    if (!place)
        return false;
    *place++ = '\0';
    if (place[0] == '(' || !strchr(place, ':') || strstr(place, "libsanitizer") || strstr(place, "compiler-rt") ||
        strncmp(place, "../", 3) == 0 || strncmp(place, "/usr/", 5) == 0)
        return false;
    rest[strcspn(rest, "(")] = '\0';
    snprintf(frame->function, sizeof frame->function, "%.*s", (int)sizeof frame->function - 1, rest);

    /* Paths from the source tree's root on: that is how every message of Rungs names files. */
    static const char *const folders[] = {"/cpu/", "/cuda/", "/common/", "/peers/", "/tests/", "/assignments/"};
    const char *shown = place;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *here = strstr(place, folders[i]);
        if (here && (shown == place || here + 1 < shown))
            shown = here + 1;
    }
    snprintf(frame->place, sizeof frame->place, "%.*s", (int)sizeof frame->place - 1, shown);
    return true;
}

/* The innermost frame of a version; failing that, of anything that is ours. */
static bool find_frame(const char *report, struct frame *found)
{
    bool any = false;

    for (const char *line = report; line; line = strchr(line + 1, '\n')) {
        const char *text = line + strspn(line, "\n ");
        struct frame frame;

        /* The first empty line after the frames ends the first stack; later ones say who allocated. */
        if (any && text > line && line[0] == '\n' && line[1] == '\n')
            break;
        if (text[0] != '#' || !parse_frame(text, &frame))
            continue;
        if (!any || strncmp(found->place, "common/", 7) == 0)
            *found = frame;
        any = true;
        if (strncmp(frame.place, "common/", 7) != 0)
            break;
    }
    return any;
}

static void describe_report(const char *output, const char *report, char *text, size_t size)
{
    struct frame frame;

    if (report[0] == ':') { /* "file:line: runtime error: ..." */
        const char *begin = report;

        while (begin > output && begin[-1] != '\n')
            begin--;
        snprintf(text, size, "UndefinedBehaviorSanitizer: %.*s", (int)strcspn(begin, "\n"), begin);
        return;
    }

    if (report[0] == 'A') { /* the sanitizer itself gave up */
        snprintf(text, size, "%.*s", (int)strcspn(report, "\n"), report);
        return;
    }

    const char *name = strchr(report, ' ') + 1, *kind = strchr(name, ':') + 2, *access;
    const bool race = strncmp(kind, "data race", 9) == 0;
    const int kind_length = race ? 9 : (int)strcspn(kind, " \n");
    char words[96] = "";
    int width = 0;

    /* "READ of size 4 at ...": only the first three words mean something to a reader. */
    access = strstr(report, "\nREAD of size ");
    if (!access)
        access = strstr(report, "\nWRITE of size ");
    if (access && sscanf(access, "%*s of size %d", &width) == 1)
        snprintf(words, sizeof words, ", %s of %d byte%s", access[1] == 'R' ? "read" : "write", width,
                 width == 1 ? "" : "s");
    if (find_frame(report, &frame))
        snprintf(text, size, "%.*s: %.*s%s in %s at %s", (int)(kind - 2 - name), name, kind_length, kind, words,
                 frame.function, frame.place);
    else
        snprintf(text, size, "%.*s: %.*s%s", (int)(kind - 2 - name), name, kind_length, kind, words);
}

void process_describe(const struct process_result *result, char *text, size_t size)
{
    const char *report = find_report(result->output);

    text[0] = '\0';
    if (result->limit != LIMIT_KEPT) {
        snprintf(text, size, "%s", result->late);
    } else if (report) {
        describe_report(result->output, report, text, size);
    } else if (result->signal) {
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            if (signals[i].number == result->signal)
                snprintf(text, size, "killed by %s (%s)", signals[i].name, signals[i].meaning);
        if (!text[0])
            snprintf(text, size, "killed by signal %d", result->signal);
        /* The emulator's last words (common/emulator/faults.cpp): which thread of which kernel it was. */
        const char *note = strstr(result->output, "in kernel ");
        const size_t length = strlen(text);

        if (note && (note == result->output || note[-1] == '\n'))
            snprintf(text + length, size - length, " %.*s", (int)strcspn(note, "\n"), note);
    } else if (result->exit_code) {
        /* The last line it wrote is the likeliest to say why. */
        const char *end = result->output + strlen(result->output), *begin;

        while (end > result->output && end[-1] == '\n')
            end--;
        for (begin = end; begin > result->output && begin[-1] != '\n';)
            begin--;
        if (end > begin)
            snprintf(text, size, "ended with exit code %d: %.*s", result->exit_code, (int)(end - begin), begin);
        else
            snprintf(text, size, "ended with exit code %d", result->exit_code);
    }
}
