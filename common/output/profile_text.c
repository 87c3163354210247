/*
 * profile_text.c: a profile report as text.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/output/profile_report.h"
#include "common/output/table.h"
#include "common/trace/openmp.h"

static void cell(FILE *stream, const char *text, int width)
{
    const int padding = width - table_columns(text);

    fprintf(stream, "%*s%s", padding > 0 ? padding : 0, "", text);
}

static void time_cell(FILE *stream, double seconds, int width)
{
    char text[TABLE_CELL];

    table_time(seconds, text);
    cell(stream, text, width);
}

static void count_cell(FILE *stream, size_t count, int width)
{
    char text[TABLE_CELL];

    snprintf(text, sizeof text, "%zu", count);
    cell(stream, text, width);
}

static void percent_text(double fraction, char text[TABLE_CELL])
{
    snprintf(text, TABLE_CELL, fraction > 0 && fraction < 0.001 ? "<0.1 %%" : "%.1f %%", 100 * fraction);
}

/* nvprof's table. `heading` stands in the first column, the names last. */
static void print_sums(FILE *stream, const char *heading, const struct profile_sum *sums, size_t count)
{
    double all = profile_report_total(sums, count, 0, TRACE_KINDS);

    if (count == 0)
        return;
    fprintf(stream, "%-15s", heading);
    cell(stream, "share", 8);
    cell(stream, "total", 10);
    cell(stream, "calls", 7);
    cell(stream, "average", 10);
    cell(stream, "least", 10);
    cell(stream, "most", 10);
    fputs("  name\n", stream);
    for (size_t i = 0; i < count; i++) {
        char share[TABLE_CELL];

        percent_text(all > 0 ? sums[i].total / all : 0, share);
        fprintf(stream, "%15s", "");
        cell(stream, share, 8);
        time_cell(stream, sums[i].total, 10);
        count_cell(stream, sums[i].count, 7);
        time_cell(stream, sums[i].total / (double)sums[i].count, 10);
        time_cell(stream, sums[i].least, 10);
        time_cell(stream, sums[i].most, 10);
        fprintf(stream, "  %s\n", sums[i].name);
    }
    fputc('\n', stream);
}

/* Without times, for they say nothing about a GPU: how often, and how many bytes. */
static void print_emulated(FILE *stream, const struct profile_report *report)
{
    fprintf(stream, "GPU activities  emulated on the CPU: no times, for they would say nothing about a GPU\n%15s", "");
    cell(stream, "calls", 7);
    cell(stream, "bytes", 12);
    fputs("  name\n", stream);
    for (size_t i = 0; i < report->activity_count; i++) {
        const struct profile_sum *sum = &report->activities[i];
        char bytes[TABLE_CELL] = "";

        if (sum->bytes)
            table_bytes((double)sum->bytes, bytes);
        fprintf(stream, "%15s", "");
        count_cell(stream, sum->count, 7);
        cell(stream, bytes, 12);
        fprintf(stream, "  %s\n", sum->name);
    }
    fputc('\n', stream);
}

static void shape_text(const unsigned shape[3], char text[TABLE_CELL])
{
    if (shape[2] > 1)
        snprintf(text, TABLE_CELL, "%ux%ux%u", shape[0], shape[1], shape[2]);
    else
        snprintf(text, TABLE_CELL, "%ux%u", shape[0], shape[1]);
}

/* The launch of each kernel: what it asks of a multiprocessor, and how many warps then fit. */
static void print_launches(FILE *stream, const struct profile_report *report)
{
    const bool known = !profile_report_is_emulated(report);
    char text[TABLE_CELL];

    if (report->launch_count == 0)
        return;
    fprintf(stream, "%-15s", "Launches");
    cell(stream, "times", 7);
    cell(stream, "grid", 13);
    cell(stream, "block", 10);
    if (known) {
        cell(stream, "registers", 11);
        cell(stream, "static", 9);
    }
    cell(stream, "dynamic", 9);
    if (known)
        cell(stream, "occupancy", 12);
    fputs("  kernel\n", stream);
    for (size_t i = 0; i < report->launch_count; i++) {
        const struct profile_sum *sum = &report->launches[i];
        const struct trace_launch *launch = &sum->launch;

        fprintf(stream, "%15s", "");
        count_cell(stream, sum->count, 7);
        shape_text(launch->grid, text);
        cell(stream, text, 13);
        shape_text(launch->block, text);
        cell(stream, text, 10);
        if (known) {
            count_cell(stream, (size_t)launch->registers, 11);
            table_bytes(launch->static_shared, text);
            cell(stream, text, 9);
        }
        table_bytes(launch->dynamic_shared, text);
        cell(stream, text, 9);
        if (known) {
            percent_text(launch->occupancy, text);
            cell(stream, launch->occupancy > 0 ? text : "-", 12);
        }
        fprintf(stream, "  %s", sum->name);
        if (launch->occupancy > 0 && launch->occupancy < 0.9995)
            fprintf(stream, " (bound by %s)", launch->limit);
        if (launch->local > 0)
            fprintf(stream, ", %d B local memory a thread", launch->local);
        fputc('\n', stream);
    }
    fprintf(stream, "%15s%s\n\n", "",
            known ? "shared memory in bytes a block, static and dynamic; occupancy: the theoretical one"
                  : "dynamic: shared memory in bytes a block");
}

static void print_line(FILE *stream, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void print_line(FILE *stream, const char *label, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table_wrapped(stream, label, text);
}

/* What the algorithm must move at least, against the time that it took and the copy rate of the same run. */
static void print_bandwidth(FILE *stream, const struct profile_report *report)
{
    const bool device = report->profile->device;
    const double bytes = report->bench->cost.bytes;
    const double seconds =
        device ? profile_report_kernel_seconds(report) : profile_report_call_statistics(report).median;
    const double copy =
        device ? report->bench->device_ceilings.copy_bytes_per_second : report->bench->ceilings.copy_bytes_per_second;
    char size[TABLE_CELL], time[TABLE_CELL], percent[TABLE_CELL], rate[TABLE_CELL], copy_rate[TABLE_CELL];

    if (seconds <= 0 || copy <= 0)
        return;
    table_bytes(bytes, size);
    table_time(seconds, time);
    percent_text(bytes / seconds / copy, percent);
    table_number(1e-9 * bytes / seconds, rate);
    table_number(1e-9 * copy, copy_rate);
    print_line(stream, "bytes", "%s at least in %s%s: %s GB/s, %s of the %s GB/s that a copy reaches here", size, time,
               !device                          ? ""
               : report->row->version->pipeline ? " of kernels a frame"
                                                : " of kernels a call",
               rate, percent, copy_rate);
}

static double call_seconds(const struct profile *profile)
{
    double seconds = 0;

    for (int i = 0; i < profile->calls; i++)
        seconds += profile->call_seconds[i];
    return seconds;
}

/* How much of the calls' time the GPU works at all: the rest is the host's. */
static void print_busy(FILE *stream, const struct profile_report *report)
{
    const double all = call_seconds(report->profile), busy = profile_gpu_busy(report->profile->trace);
    char text[TABLE_CELL], kernels[TABLE_CELL];

    if (busy <= 0 || all <= 0)
        return;
    percent_text(busy / all, text);
    percent_text(profile_report_total(report->activities, report->activity_count, TRACE_KERNEL, TRACE_KERNEL) / all,
                 kernels);
    print_line(stream, "GPU", "at work in %s of the time of the %s, with kernels in %s", text,
               report->row->version->pipeline ? "frames" : "calls", kernels);
}

/* The bench's own time of the same thing, taken without a profiler. */
static void print_check(FILE *stream, const struct profile_report *report)
{
    const double seconds = profile_report_kernel_seconds(report);
    const struct statistics *events = &report->row->kernel;
    char time[TABLE_CELL];

    if (seconds <= 0 || events->count == 0 || !report->row->version->launch)
        return;
    table_time(events->median, time);
    print_line(
        stream, "check",
        "CUDA events around launch(), as `rungs bench` takes them, its inputs never in L2: %s; kernels here: %+.1f%%",
        time, 100 * (seconds / events->median - 1));
}

static void metric_text(const struct ncu_metric *metric, double value, char text[TABLE_CELL])
{
    if (isnan(value))
        snprintf(text, TABLE_CELL, "-");
    else if (metric->unit == NCU_EFFICIENCY && value == 0)
        snprintf(text, TABLE_CELL, "none");
    else if (metric->unit == NCU_PERCENT || metric->unit == NCU_EFFICIENCY)
        snprintf(text, TABLE_CELL, "%.1f %%", value);
    else if (metric->unit == NCU_BYTES)
        table_bytes(value, text);
    else if (metric->unit == NCU_SECONDS)
        table_time(value, text);
    else if (value == 0)
        snprintf(text, TABLE_CELL, "0");
    else
        table_number(value, text);
}

/* A line per metric, a column per kernel, as many kernels side by side as fit. */
static void print_metrics(FILE *stream, const struct profile_report *report)
{
    enum { SIDE_BY_SIDE = 3, LABEL = 31, COLUMN = 22 };
    char title[LABEL] = "Hardware metrics (ncu)";

    if (profile_report_is_emulated(report))
        snprintf(title, sizeof title, "Counted, not timed%s%s", report->metrics_size ? ", at " : "",
                 report->metrics_size ? report->metrics_size : "");
    for (size_t from = 0; from < report->metric_count; from += SIDE_BY_SIDE) {
        const size_t to = from + SIDE_BY_SIDE < report->metric_count ? from + SIDE_BY_SIDE : report->metric_count;
        char text[TABLE_CELL];

        fprintf(stream, "%-*s", LABEL, from == 0 ? title : "");
        for (size_t k = from; k < to; k++) {
            snprintf(text, sizeof text, "%.*s", COLUMN - 2, report->metrics[k].name);
            cell(stream, text, COLUMN);
        }
        fputc('\n', stream);
        for (int i = 0; i < NCU_METRICS; i++) {
            if (profile_report_is_emulated(report) && isnan(report->metrics[from].values[i]))
                continue; /* what the emulator does not count */
            fprintf(stream, "  %-*s", LABEL - 2, ncu_metrics[i].label);
            for (size_t k = from; k < to; k++) {
                metric_text(&ncu_metrics[i], report->metrics[k].values[i], text);
                cell(stream, text, COLUMN);
            }
            fputc('\n', stream);
        }
        fputc('\n', stream);
    }
}

static void print_team(FILE *stream, const struct profile_report *report)
{
    const struct profile_team *team = &report->team;
    const double calls = call_seconds(report->profile);
    char share[TABLE_CELL];

    if (team->thread_count == 0) {
        if (openmp_can_record() && !report->profile->device && !version_is_peer(report->row->version))
            print_line(stream, "threads", "no parallel region: all on one thread");
        return;
    }
    fprintf(stream, "%-15s", "Threads");
    cell(stream, "regions", 9);
    cell(stream, "busy", 11);
    cell(stream, "waiting", 11);
    cell(stream, "on a core", 11);
    fputc('\n', stream);
    for (int i = 0; i < team->thread_count; i++) {
        const struct profile_thread *thread = &team->threads[i];

        fprintf(stream, "%15d", i);
        count_cell(stream, thread->regions, 9);
        time_cell(stream, thread->busy, 11);
        time_cell(stream, thread->waiting, 11);
        time_cell(stream, thread->on_core, 11);
        fputc('\n', stream);
    }
    percent_text(calls > 0 ? 1 - team->seconds / calls : 0, share);
    fprintf(stream, "%15ssums over all calls; on a core less than busy: other programs had it\n", "");
    if (team->seconds <= calls)
        fprintf(stream, "%15soutside of parallel regions, on one thread: %s of the calls' time\n\n", "", share);
    else
        fprintf(stream, "%15sseveral threads had regions of their own at the same time\n\n", "");

    fprintf(stream, "%-15s", "Regions");
    cell(stream, "times", 9);
    cell(stream, "total", 11);
    cell(stream, "busy, mean", 12);
    cell(stream, "slowest", 11);
    cell(stream, "imbalance", 11);
    fputs("  where\n", stream);
    for (size_t i = 0; i < team->region_count; i++) {
        const struct profile_region *region = &team->regions[i];
        char text[TABLE_CELL];

        fprintf(stream, "%15s", "");
        count_cell(stream, region->count, 9);
        time_cell(stream, region->seconds, 11);
        time_cell(stream, region->mean, 12);
        time_cell(stream, region->most, 11);
        snprintf(text, sizeof text, "%.2f", profile_imbalance(region));
        cell(stream, text, 11);
        fprintf(stream, "  %s\n", region->place);
    }
    fprintf(stream, "%15simbalance: how many times as long the slowest thread works as the mean; 1 is perfect\n\n", "");
}

static void print_counters(FILE *stream, const struct profile_report *report)
{
    const struct counters *counters = &report->profile->counters;
    const double *values = counters->values;
    const double calls = report->profile->calls;
    char user[TABLE_CELL], system[TABLE_CELL];
    bool any = false;

    table_time(counters->user_seconds / calls, user);
    table_time(counters->system_seconds / calls, system);
    print_line(
        stream, "system",
        "per call: %s in user mode and %s in the kernel, all threads; %.3g page faults; switched away %.3g times "
        "(of them %.3g forced)",
        user, system, (double)counters->page_faults / calls,
        (double)(counters->voluntary_switches + counters->involuntary_switches) / calls,
        (double)counters->involuntary_switches / calls);
    for (int i = 0; i < COUNTER_KINDS; i++)
        any |= values[i] >= 0;
    if (!any)
        return;
    fprintf(stream, "%-15s", "Counters");
    cell(stream, "per call", 12);
    fputc('\n', stream);
    for (int i = 0; i < COUNTER_KINDS; i++) {
        char text[TABLE_CELL];

        if (values[i] < 0)
            continue;
        snprintf(text, sizeof text, "%.4g", values[i] / calls);
        fprintf(stream, "%15s", "");
        cell(stream, text, 12);
        fprintf(stream, "  %s", counter_name((enum counter)i));
        if (i == COUNTER_INSTRUCTIONS && values[COUNTER_CYCLES] > 0)
            fprintf(stream, ": %.2f a cycle", values[i] / values[COUNTER_CYCLES]);
        if (i == COUNTER_CACHE_MISSES && values[COUNTER_CACHE_REFERENCES] > 0)
            fprintf(stream, ": %.1f %% of references", 100 * values[i] / values[COUNTER_CACHE_REFERENCES]);
        if (i == COUNTER_BRANCH_MISSES && values[COUNTER_BRANCHES] > 0)
            fprintf(stream, ": %.2f %% of branches", 100 * values[i] / values[COUNTER_BRANCHES]);
        fputc('\n', stream);
    }
    fprintf(stream, "%15sin user mode, all threads%s\n\n", "",
            counters->turns < 0.995 ? "; scaled up, for the processor counted in turns" : "");
}

static void print_headline(FILE *stream, const struct profile_report *report)
{
    const struct bench *bench = report->bench;
    const struct bench_request *request = bench->request;
    const struct image *in = &request->in[0];
    const struct statistics calls = profile_report_call_statistics(report);
    const bool pipeline = report->row->version->pipeline != NULL;
    const char *const label = pipeline ? "frames" : "calls";
    char verified[TABLE_CELL], median[TABLE_CELL], first[TABLE_CELL];

    print_line(stream, "version", "%s of %s: %s", report->row->version->source->id, request->algorithm->name,
               report->row->version->source->idea);
    print_line(stream, "input", "%s, %s%s%dx%d, %d channel%s%s", request->input, bench->settings,
               bench->settings[0] ? ", " : "", in->width, in->height, in->channels, in->channels == 1 ? "" : "s",
               profile_report_is_emulated(report) ? ""
                                                  : "; each call gets the same, so what fits in a cache may be there");
    table_verified(report->row, verified);
    print_line(stream, "verified", "%s", verified);
    table_time(calls.median, median);
    if (profile_report_is_emulated(report)) {
        print_line(stream, label, "%d", report->profile->calls);
        return;
    }
    table_time(report->profile->first_call > 0 ? report->profile->first_call : report->profile->call_seconds[0], first);
    print_line(stream, label, "%d of %s %s%.1f %% each, %s; %s took %s%s", report->profile->calls, median,
               table_spread_sign(), 100 * statistics_spread(&calls),
               pipeline ? "host frame to host result" : "host image to host image",
               pipeline ? "background and first frame" : "the first", first,
               report->profile->first_call > 0 ? " (not recorded)" : "");
}

void profile_report_print(const struct profile_report *report, FILE *stream)
{
    print_headline(stream, report);
    if (!report->profile->device)
        print_counters(stream, report);
    if (!profile_report_is_emulated(report))
        print_bandwidth(stream, report);
    if (report->profile->device && !profile_report_is_emulated(report)) {
        print_check(stream, report);
        print_busy(stream, report);
    }
    fputc('\n', stream);
    if (profile_report_is_emulated(report)) {
        print_emulated(stream, report);
    } else {
        print_sums(stream, "GPU activities", report->activities, report->activity_count);
        print_sums(stream, "API calls", report->calls, report->call_count);
        print_sums(stream, "Host ranges", report->ranges, report->range_count);
    }
    print_launches(stream, report);
    print_metrics(stream, report);
    print_team(stream, report);
    for (int i = 0; i < report->missing_count; i++)
        print_line(stream, i == 0 ? "missing" : "", "%s", report->missing[i]);
    if (report->ncu_line[0]) /* to be copied: not wrapped */
        fprintf(stream, "to type   %s\n", report->ncu_line);
}
