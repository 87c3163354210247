#include "common/profile/ncu.h"

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const struct ncu_metric ncu_metrics[NCU_METRICS] = {
    {"duration", "duration", "gpu__time_duration.sum", 1e-9, NCU_SECONDS},
    {"achieved occupancy", "achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 1, NCU_PERCENT},
    {"SM efficiency", "sm_efficiency", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", 1, NCU_PERCENT},
    {"SM throughput", "sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", 1, NCU_PERCENT},
    {"DRAM throughput", "dram_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 1, NCU_PERCENT},
    {"DRAM bytes", "dram_bytes", "dram__bytes.sum", 1, NCU_BYTES},
    {"global load efficiency", "global_load_efficiency",
     "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 1, NCU_EFFICIENCY},
    {"global store efficiency", "global_store_efficiency",
     "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 1, NCU_EFFICIENCY},
    {"sectors per global load", "sectors_per_global_load",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 1, NCU_NUMBER},
    {"shared efficiency", "shared_efficiency", "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", 1,
     NCU_EFFICIENCY},
    {"bank conflicts, shared load", "bank_conflicts_shared_load",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1, NCU_NUMBER},
    {"bank conflicts, shared store", "bank_conflicts_shared_store",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 1, NCU_NUMBER},
    {"branch efficiency", "branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct", 1,
     NCU_EFFICIENCY},
    {"threads per instruction", "threads_per_instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", 1,
     NCU_NUMBER},
};

/* --------------------------------------------------------------------------------------------------- reading CSV */

/* The raw page has some 350 columns, the device's attributes among them. */
enum { MAX_FIELDS = 2048 };

/* Splits one line of quoted fields in place; returns how many. */
static int split(char *line, char *fields[MAX_FIELDS])
{
    int count = 0;

    for (char *c = line; *c && count < MAX_FIELDS;) {
        char *to = c;

        fields[count++] = to;
        if (*c == '"') {
            for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
                c += *c == '"';
                *to++ = *c;
            }
            c += *c == '"';
            c += strcspn(c, ",");
        } else {
            while (*c && *c != ',')
                *to++ = *c++;
        }
        c += *c == ',';
        *to = '\0';
    }
    return count;
}

static int find_field(char *const fields[], int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(fields[i], name) == 0)
            return i;
    return -1;
}

/* "1,234.5"; NaN for "n/a" and everything else. */
static double number(const char *field)
{
    char digits[64];
    size_t used = 0;
    char *end;

    for (; *field && used + 1 < sizeof digits; field++)
        if (*field != ',')
            digits[used++] = *field;
    digits[used] = '\0';
    const double value = strtod(digits, &end);
    return end == digits || *end ? NAN : value;
}

/* Where each column of interest is; -1 = not there. */
struct columns {
    int kernel, values[NCU_METRICS];
    bool known;
};

static bool find_columns(struct columns *columns, char *const fields[], int count)
{
    if (find_field(fields, count, "ID") != 0)
        return false;
    columns->kernel = find_field(fields, count, "Kernel Name");
    for (int i = 0; i < NCU_METRICS; i++)
        columns->values[i] = find_field(fields, count, ncu_metrics[i].name);
    columns->known = columns->kernel >= 0;
    return columns->known;
}

static enum status add_launch(const struct columns *columns, char *const fields[], int count,
                              struct ncu_kernel **kernels, size_t *kernel_count)
{
    char name[TRACE_NAME];
    size_t k = 0;

    trace_kernel_name(fields[columns->kernel], name, sizeof name);
    while (k < *kernel_count && strcmp((*kernels)[k].name, name) != 0)
        k++;
    if (k == *kernel_count) {
        struct ncu_kernel *more = realloc(*kernels, (k + 1) * sizeof *more);

        if (!more)
            return status_set(STATUS_NO_MEMORY, "no memory for ncu's metrics");
        *kernels = more;
        memset(&more[k], 0, sizeof more[k]);
        memcpy(more[k].name, name, sizeof name);
        ++*kernel_count;
    }
    struct ncu_kernel *kernel = &(*kernels)[k];

    kernel->launches++;
    for (int i = 0; i < NCU_METRICS; i++) {
        const int column = columns->values[i];
        const double value = column >= 0 && column < count ? ncu_metrics[i].factor * number(fields[column]) : NAN;

        kernel->values[i] += (value - kernel->values[i]) / (double)kernel->launches;
    }
    return STATUS_OK;
}

enum status ncu_parse(const char *text, struct ncu_kernel **kernels, size_t *count)
{
    enum status status = STATUS_OK;
    struct columns columns = {0};
    char *copy = strdup(text), *rest = copy, *fields[MAX_FIELDS];

    *kernels = NULL;
    *count = 0;
    if (!copy)
        return status_set(STATUS_NO_MEMORY, "no memory for ncu's metrics");
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "\r")] = '\0';
        if (line[0] != '"')
            continue; /* ncu's own messages, and the program's output */
        const int found = split(line, fields);

        /* Behind the header comes a line of units, which has no ID. */
        if (find_columns(&columns, fields, found) || !columns.known || fields[0][0] == '\0' || columns.kernel >= found)
            continue;
        TRY(add_launch(&columns, fields, found, kernels, count));
    }
    if (*count == 0)
        status = status_set(STATUS_UNSUPPORTED, "ncu printed no metrics");
out:
    free(copy);
    if (status != STATUS_OK) {
        free(*kernels);
        *kernels = NULL;
        *count = 0;
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- running ncu */

/* On PATH, or where NVIDIA's packages put it; "" when there is none. */
static void find_ncu(char *path, size_t size)
{
    static const char *const places[] = {"/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu"};
    const char *folders = getenv("PATH");

    for (const char *folder = folders; folder && *folder; folder += strspn(folder, ":")) {
        const size_t length = strcspn(folder, ":");

        snprintf(path, size, "%.*s/ncu", (int)length, folder);
        if (access(path, X_OK) == 0)
            return;
        folder += length;
    }
    path[0] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        glob_t found;

        if (glob(places[i], 0, NULL, &found) == 0) {
            snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]); /* the newest */
            globfree(&found);
            return;
        }
        globfree(&found);
    }
}

/* The card's clocks stay as they are, as in every other measurement here; 200 launches bound the time. */
static const char *const options[] = {
    "--target-processes", "all",  "--clock-control", "none", "--launch-count", "200", "--csv", "--page", "raw",
    "--print-units",      "base", "--metrics"};
enum { OPTIONS = sizeof options / sizeof options[0], MAX_ARGUMENTS = 128 };

static void metric_names(char *text, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < NCU_METRICS; i++)
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%s", i ? "," : "", ncu_metrics[i].name);
}

/* Fills `all` with the whole command, NULL-terminated. */
static void whole_command(const char *ncu, const char *metrics, const char *const *arguments, const char **all)
{
    size_t count = 0;

    all[count++] = ncu;
    for (int i = 0; i < OPTIONS; i++)
        all[count++] = options[i];
    all[count++] = metrics;
    while (*arguments && count < MAX_ARGUMENTS - 1)
        all[count++] = *arguments++;
    all[count] = NULL;
}

void ncu_command(const char *const *arguments, char *line, size_t size)
{
    const char *all[MAX_ARGUMENTS];
    char metrics[2048];
    size_t used = 0;

    metric_names(metrics, sizeof metrics);
    whole_command("ncu", metrics, arguments, all);
    for (const char **word = all; *word && used < size; word++) {
        const bool plain = (*word)[0] && !(*word)[strspn(*word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                                "0123456789_-+=./,:%@")];

        used += (size_t)snprintf(line + used, size - used, plain ? "%s%s" : "%s'%s'", word == all ? "" : " ", *word);
    }
}

/* ncu's own complaint in one line. */
static enum status refused(const char *output)
{
    const char *error = strstr(output, "==ERROR==");

    if (strstr(output, "ERR_NVGPUCTRPERM"))
        return status_set(STATUS_UNSUPPORTED, "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or "
                                              "load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    if (error) {
        error += strlen("==ERROR==");
        error += strspn(error, " ");
        return status_set(STATUS_UNSUPPORTED, "ncu: %.*s", (int)strcspn(error, "\r\n"), error);
    }
    return status_set(STATUS_UNSUPPORTED, "ncu measured nothing");
}

enum status ncu_run(const char *const *arguments, struct ncu_kernel **kernels, size_t *count)
{
    enum status status = STATUS_OK;
    const char *all[MAX_ARGUMENTS];
    char path[4096], metrics[2048], *output = NULL;
    posix_spawn_file_actions_t actions;
    int ends[2] = {-1, -1}, exit_status = -1, error;
    size_t used = 0, capacity = 0;
    pid_t child;

    *kernels = NULL;
    *count = 0;
    find_ncu(path, sizeof path);
    if (!path[0])
        return status_set(STATUS_UNSUPPORTED, "ncu (Nsight Compute) is not installed");
    metric_names(metrics, sizeof metrics);
    whole_command(path, metrics, arguments, all);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return status_set(STATUS_FAILED, "no pipe to read from ncu");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    error = posix_spawn(&child, path, &actions, NULL, (char *const *)all, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return status_set(STATUS_UNSUPPORTED, "%s cannot be run: %s", path, strerror(error));
    }
    for (ssize_t got = 1; got > 0; used += (size_t)got) {
        if (capacity - used < 4096) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *more = realloc(output, capacity);

            if (!more) {
                status = status_set(STATUS_NO_MEMORY, "no memory for ncu's output");
                break;
            }
            output = more;
        }
        got = read(ends[0], output + used, capacity - used - 1);
        if (got <= 0)
            break;
    }
    close(ends[0]);
    waitpid(child, &exit_status, 0);
    if (status != STATUS_OK)
        goto out;
    output[used] = '\0';
    if (exit_status != 0 || ncu_parse(output, kernels, count) != STATUS_OK)
        status = refused(output);
out:
    free(output);
    return status;
}
