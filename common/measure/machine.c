#include "common/measure/machine.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/core/paths.h"
#include "common/core/process.h"
#include "common/core/program.h"
#include "common/core/text.h"
#include "common/measure/bench_device.h"

#ifndef RUNGS_FLAGS
#define RUNGS_FLAGS ""
#endif

int machine_cores(void)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? cores : 1;
}

/* The first line of a file, without its newline; "" when it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");

    line[0] = '\0';
    if (!file)
        return;
    if (!fgets(line, (int)size, file))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

size_t machine_last_level_cache(void)
{
    size_t largest = 0;

    for (int index = 0; index < 8; index++) {
        char path[96], line[64], unit = 0;
        unsigned long size;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        read_line(path, line, sizeof line);
        if (sscanf(line, "%lu%c", &size, &unit) < 1)
            continue;
        size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
        if (size > largest)
            largest = size;
    }
    return largest;
}

size_t machine_available_memory(void)
{
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long available = 0, limit;
    char line[128];

    while (file && available == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &available) == 1)
            available <<= 10;
    if (file)
        fclose(file);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        read_line(limits[i], line, sizeof line); /* "max" where there is none */
        if (sscanf(line, "%llu", &limit) == 1 && (available == 0 || limit < available))
            available = limit;
    }
    return (size_t)available;
}

static int count_numa_nodes(void)
{
    int nodes = 0;

    for (int node = 0; node < 1024; node++) {
        char path[64];

        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
        nodes += access(path, F_OK) == 0;
    }
    return nodes > 0 ? nodes : 1;
}

/* x86 gives a model name. ARM gives numbers: implementer and part say which core it is, and a board may have a name. */
void machine_cpu_name(char *name, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512], implementer[32] = "", part[32] = "", board[64];
    struct utsname system;

    name[0] = '\0';
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');

        if (!value)
            continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        if (strncmp(line, "model name", 10) == 0)
            snprintf(name, size, "%s", value);
        else if (strncmp(line, "CPU implementer", 15) == 0)
            snprintf(implementer, sizeof implementer, "%.31s", value);
        else if (strncmp(line, "CPU part", 8) == 0)
            snprintf(part, sizeof part, "%.31s", value);
    }
    if (file)
        fclose(file);
    if (name[0])
        return;
    read_line("/proc/device-tree/model", board, sizeof board);
    if (uname(&system) != 0)
        snprintf(system.machine, sizeof system.machine, "unknown CPU");
    snprintf(name, size, "%.40s%s%.32s%s%.8s%s%.8s", board, board[0] ? ", " : "", system.machine,
             implementer[0] ? ", implementer " : "", implementer, part[0] ? " part " : "", part);
}

/* The first line that a program prints, "" when it cannot be run, fails or hangs (nvidia-smi does with a broken
 * driver). */
static void first_line_of(const char *const *arguments, char *line, size_t size)
{
    struct program program = {0};
    char text[512] = "";
    struct iovec part = {text, sizeof text - 1};

    line[0] = '\0';
    if (program_start(&program, arguments, PROGRAM_NO_INPUT) != STATUS_OK)
        return;
    program.patience = program_usual_patience();
    transfer_read(program.output, -1, &program, &part, 1, NULL);
    program_finish(&program);
    if (program.exit_code == 0)
        snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static void read_commit(char *commit, size_t size)
{
    const char *root = paths_root(), *told = getenv("RUNGS_COMMIT");
    const char *const describe[] = {"git", "-C", root ? root : ".", "describe", "--always", "--dirty", NULL};

    if (told && told[0]) {
        snprintf(commit, size, "%s", told);
        text_make_plain(commit, size);
        return;
    }
    first_line_of(describe, commit, size);
    if (!commit[0])
        snprintf(commit, size, "unknown");
}

static void read_driver(char *driver, size_t size)
{
    const char *const query[] = {"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", NULL};

    first_line_of(query, driver, size);
}

static int facts_in_child(void *argument)
{
    struct device_facts *facts = argument;

    return bench_device_facts(facts) == STATUS_OK ? 0 : 1;
}

static void read_gpu(struct machine *machine)
{
    struct device_facts *facts;
    struct process_result result;

    machine->emulated = device_is_emulated();
    if (machine->emulated) {
        snprintf(machine->no_gpu, sizeof machine->no_gpu, "this build emulates CUDA on the CPU");
        return;
    }
    snprintf(machine->no_gpu, sizeof machine->no_gpu, "the CUDA runtime does not answer");
    facts = process_shared_allocate(sizeof *facts);
    if (!facts)
        return;
    if (process_run(facts_in_child, facts, 120, &result) == STATUS_OK && result.signal == 0 &&
        result.limit == LIMIT_KEPT) {
        if (result.exit_code == 0) {
            snprintf(machine->gpu, sizeof machine->gpu, "%s", facts->name);
            machine->no_gpu[0] = '\0';
            read_driver(machine->driver, sizeof machine->driver);
        } else {
            snprintf(machine->no_gpu, sizeof machine->no_gpu, "%s", facts->why);
        }
        snprintf(machine->cuda, sizeof machine->cuda, "%d.%d", facts->runtime_version / 1000,
                 facts->runtime_version % 1000 / 10);
        machine->gpu_capability = facts->capability;
        machine->gpu_multiprocessors = facts->multiprocessors;
        machine->gpu_l2 = facts->l2;
        machine->gpu_memory = facts->memory;
    }
    process_shared_free(facts, sizeof *facts);
}

void machine_read(struct machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine_cpu_name(machine->cpu, sizeof machine->cpu);
    machine->cores = machine_cores();
    machine->numa_nodes = count_numa_nodes();
    machine->last_level_cache = machine_last_level_cache();
#if defined(__clang__)
    snprintf(machine->compiler, sizeof machine->compiler, "clang %d.%d.%d", __clang_major__, __clang_minor__,
             __clang_patchlevel__);
#else
    snprintf(machine->compiler, sizeof machine->compiler, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__,
             __GNUC_PATCHLEVEL__);
#endif
    snprintf(machine->flags, sizeof machine->flags, "%s", RUNGS_FLAGS);
    read_commit(machine->commit, sizeof machine->commit);
    read_gpu(machine);
}
