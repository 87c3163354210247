#include "common/trace/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint64_t event;
} kinds[COUNTER_KINDS] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache misses", PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch misses", PERF_COUNT_HW_BRANCH_MISSES},
};

const char *counter_name(enum counter counter)
{
    return kinds[counter].name;
}

/* What kernel.perf_event_paranoid says; -100 when the kernel has no such thing. */
static int paranoia(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    int level = -100;

    if (file && fscanf(file, "%d", &level) != 1)
        level = -100;
    if (file)
        fclose(file);
    return level;
}

static void explain(struct counters *counters, const char *name, int error)
{
    const int level = paranoia();

    if (error == ENOSYS || level == -100)
        snprintf(counters->missing, sizeof counters->missing, "this kernel has no perf_event_open");
    else if (error == EACCES || error == EPERM)
        snprintf(counters->missing, sizeof counters->missing,
                 "not permitted (kernel.perf_event_paranoid = %d); type: sudo sysctl kernel.perf_event_paranoid=2%s",
                 level, level <= 2 ? ", or leave the container's seccomp filter" : "");
    else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
        snprintf(counters->missing, sizeof counters->missing,
                 "%s: the processor shows none here, as in most virtual machines", name);
    else
        snprintf(counters->missing, sizeof counters->missing, "%s: perf_event_open: %s", name, strerror(error));
}

void counters_open(struct counters *counters)
{
    memset(counters, 0, sizeof *counters);
    counters->turns = 1;
    for (int i = 0; i < COUNTER_KINDS; i++) {
        /* User mode alone is what level 2, the kernel's default, permits. Inherited by threads started later. */
        struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                             .size = sizeof attributes,
                                             .config = kinds[i].event,
                                             .disabled = 1,
                                             .inherit = 1,
                                             .exclude_kernel = 1,
                                             .exclude_hv = 1,
                                             .read_format =
                                                 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};

        counters->values[i] = -1;
        counters->handles[i] = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counters->handles[i] < 0 && !counters->missing[0])
            explain(counters, kinds[i].name, errno);
    }
}

static void add_usage(struct counters *counters, int sign)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    counters->user_seconds += sign * ((double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec);
    counters->system_seconds += sign * ((double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec);
    counters->page_faults += sign * usage.ru_minflt;
    counters->voluntary_switches += sign * usage.ru_nvcsw;
    counters->involuntary_switches += sign * usage.ru_nivcsw;
}

void counters_start(struct counters *counters)
{
    add_usage(counters, -1);
    for (int i = 0; i < COUNTER_KINDS; i++)
        if (counters->handles[i] >= 0)
            ioctl(counters->handles[i], PERF_EVENT_IOC_ENABLE, 0);
}

void counters_stop(struct counters *counters)
{
    for (int i = 0; i < COUNTER_KINDS; i++)
        if (counters->handles[i] >= 0)
            ioctl(counters->handles[i], PERF_EVENT_IOC_DISABLE, 0);
    add_usage(counters, 1);
    for (int i = 0; i < COUNTER_KINDS; i++) {
        uint64_t read_out[3]; /* value, time enabled, time running */

        if (counters->handles[i] < 0 || read(counters->handles[i], read_out, sizeof read_out) != sizeof read_out ||
            read_out[2] == 0)
            continue;
        const double part = (double)read_out[2] / (double)read_out[1];

        counters->values[i] = (double)read_out[0] / part;
        if (part < counters->turns)
            counters->turns = part;
    }
}

void counters_close(struct counters *counters)
{
    for (int i = 0; i < COUNTER_KINDS; i++)
        if (counters->handles[i] >= 0)
            close(counters->handles[i]);
}
