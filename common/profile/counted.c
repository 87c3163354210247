#include "common/profile/counted.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --------------------------------------------------------------------------------------------------- reading CSV */

enum what { LOAD, STORE, SHARED_LOAD, SHARED_STORE, WHATS };
static const char *const what_names[WHATS] = {"global load", "global store", "shared load", "shared store"};

/* A kernel's launches together. */
struct costs {
    unsigned long long requests, bytes, units, least;
};

static double *value(struct ncu_kernel *kernel, const char *key)
{
    for (int i = 0; i < NCU_METRICS; i++)
        if (strcmp(ncu_metrics[i].key, key) == 0)
            return &kernel->values[i];
    abort();
}

/* 0, as ncu has it, where there was no such access. */
static double percent(double of, double all)
{
    return all > 0 ? 100 * of / all : 0;
}

static void fill(struct ncu_kernel *kernel, const struct costs costs[WHATS], double branches, double parted)
{
    const double launches = (double)kernel->launches;

    *value(kernel, "global_load_efficiency") = percent((double)costs[LOAD].bytes, 32.0 * (double)costs[LOAD].units);
    *value(kernel, "global_store_efficiency") = percent((double)costs[STORE].bytes, 32.0 * (double)costs[STORE].units);
    *value(kernel, "sectors_per_global_load") =
        costs[LOAD].requests ? (double)costs[LOAD].units / (double)costs[LOAD].requests : 0;
    *value(kernel, "shared_efficiency") =
        percent((double)(costs[SHARED_LOAD].bytes + costs[SHARED_STORE].bytes),
                128.0 * (double)(costs[SHARED_LOAD].units + costs[SHARED_STORE].units));
    *value(kernel, "bank_conflicts_shared_load") =
        (double)(costs[SHARED_LOAD].units - costs[SHARED_LOAD].least) / launches;
    *value(kernel, "bank_conflicts_shared_store") =
        (double)(costs[SHARED_STORE].units - costs[SHARED_STORE].least) / launches;
    *value(kernel, "branch_efficiency") = percent(branches - parted, branches);
}

/* The rows of line 0 are a kernel's sums, one row for each kind of access. */
enum status counted_parse(const char *text, struct ncu_kernel **kernels, size_t *count)
{
    enum status status = STATUS_OK;
    char *copy = strdup(text), *rest = copy;
    struct costs costs[WHATS] = {0};
    unsigned long long requests = 0;

    *kernels = NULL;
    *count = 0;
    if (!copy)
        return status_set(STATUS_NO_MEMORY, "no memory for the emulator's counters");
    for (char *line; (line = strsep(&rest, "\n"));) {
        unsigned long long launches, branches, parted;
        char name[TRACE_NAME], what[32];
        struct costs row;
        const char *end = line[0] == '"' ? strchr(line + 1, '"') : NULL;

        if (!end || sscanf(end, "\",%llu,%*u,%*u,%llu,%llu,\"\",0,%31[^,],%llu,%*u,%llu,%llu,%llu", &launches,
                           &branches, &parted, what, &row.requests, &row.bytes, &row.units, &row.least) != 8)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - line - 1), line + 1);
        if (*count == 0 || strcmp((*kernels)[*count - 1].name, name) != 0) {
            struct ncu_kernel *more = realloc(*kernels, (*count + 1) * sizeof *more);

            if (!more) {
                status = status_set(STATUS_NO_MEMORY, "no memory for the emulator's counters");
                goto out;
            }
            *kernels = more;
            more += (*count)++;
            memcpy(more->name, name, sizeof name);
            more->launches = launches;
            for (int i = 0; i < NCU_METRICS; i++)
                more->values[i] = NAN;
            memset(costs, 0, sizeof costs);
        }
        requests += row.requests;
        for (int i = 0; i < WHATS; i++)
            if (strcmp(what, what_names[i]) == 0)
                costs[i] = row;
        fill(&(*kernels)[*count - 1], costs, (double)branches, (double)parted);
    }
    if (*count == 0)
        status = status_set(STATUS_UNSUPPORTED, "no kernel was launched");
    else if (requests == 0)
        status = status_set(STATUS_UNSUPPORTED, "the program is not built with COUNTED=1");
out:
    free(copy);
    if (status != STATUS_OK) {
        free(*kernels);
        *kernels = NULL;
        *count = 0;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- running it */

/* With its stdout thrown away unless `shown`. */
static enum status run(const char *const *arguments, const char *where, bool shown)
{
    posix_spawn_file_actions_t actions;
    int exit_status = -1, error;
    pid_t child;

    setenv("RUNGS_EMULATOR_COUNTERS", where, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!shown)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawn(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    unsetenv("RUNGS_EMULATOR_COUNTERS");
    if (error)
        return status_set(STATUS_UNSUPPORTED, "%s cannot be run: %s", arguments[0], strerror(error));
    waitpid(child, &exit_status, 0);
    return exit_status == 0 ? STATUS_OK : status_set(STATUS_UNSUPPORTED, "%s failed", arguments[0]);
}

enum status counted_run(const char *const *arguments, struct ncu_kernel **kernels, size_t *count)
{
    enum status status = STATUS_OK;
    char path[] = "/tmp/rungs-counters-XXXXXX", *text = NULL;
    size_t used = 0, capacity = 0;
    const int file = mkstemp(path);
    ssize_t got = 1;

    *kernels = NULL;
    *count = 0;
    if (file < 0)
        return status_set(STATUS_UNSUPPORTED, "no file to read from the emulator");
    TRY(run(arguments, path, false));
    while (got > 0) {
        char *const more = realloc(text, capacity += 1 << 16);

        if (!more) {
            status = status_set(STATUS_NO_MEMORY, "no memory for the emulator's counters");
            goto out;
        }
        text = more;
        while (used < capacity - 1 && (got = read(file, text + used, capacity - used - 1)) > 0)
            used += (size_t)got;
    }
    text[used] = '\0';
    TRY(counted_parse(text, kernels, count));
out:
    free(text);
    close(file);
    unlink(path);
    return status;
}

enum status counted_lines(const char *const *arguments)
{
    fflush(stdout);
    return run(arguments, "1", true);
}
